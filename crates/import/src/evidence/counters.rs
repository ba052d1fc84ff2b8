//! `ethtool -S DEVICE`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::host_fact::HostFact;
use super::shown::{CounterKind, DeviceCounters, Found, Shown, command_above};
use crate::command::after_prompt;
use crate::quantity::seconds;

/// Reads `NIC statistics:` and the lines `     name: value` below; without the title, as `grep` leaves them below the command.
/// Where a name comes again, the command was repeated: another reading begins.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles = usize::from(lines.first()?.trim() == "NIC statistics:");
    // Another command's output may stand between the two: `ip -s link show eth0 && ethtool -S eth0`.
    let last = |before: &[&str]| before.len().saturating_sub(FAR);
    let chained = || before[last(before)..].iter().rev().find(|line| after_prompt(line.trim_start()).is_some());
    let words = command_above(before, "ethtool")
        .or_else(|| chained().filter(|_| titles == 1).and_then(|line| command_above(&[*line], "ethtool")));
    let is_asked = words.as_ref().is_some_and(|words| words.contains(&"-S") || words.contains(&"--statistics"));
    (titles == 1 || is_asked).then_some(())?;
    let mut readings: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new()];
    let mut own: Vec<(&str, u64)> = lines[titles..].iter().take(MAX_COUNTERS).map_while(|line| counter(line)).collect();
    (!own.is_empty() && (titles == 1 || own.len() >= FEWEST)).then_some(())?;
    let mut used = titles + own.len();
    // One command may print two readings with a line between.
    while is_rule(lines.get(used)) && own.len() < MAX_COUNTERS {
        let more: Vec<(&str, u64)> =
            lines[used + 1..].iter().take(MAX_COUNTERS).map_while(|line| counter(line)).collect();
        if !more.first().is_some_and(|(name, _)| own.iter().any(|(known, _)| known == name)) {
            break;
        }
        used += 1 + more.len();
        own.extend(more);
    }
    for (name, value) in &own {
        if readings.last().is_some_and(|last| last.contains_key(*name)) {
            readings.push(BTreeMap::new());
        }
        if let Some(last) = readings.last_mut() {
            last.insert((*name).to_owned(), *value);
        }
    }
    let device =
        words.and_then(|words| words.iter().find(|word| !word.starts_with('-')).map(|word| (*word).to_owned()));
    let kind = CounterKind::Nic;
    let apart = command_above(before, "sleep").filter(|_| readings.len() == 2).and_then(|words| pause(words.first()?));
    let apart = apart.map(|time| Shown::Host(HostFact::CounterInterval { device: device.clone(), time }));
    let each =
        readings.into_iter().map(|values| Shown::Counters(DeviceCounters { kind, device: device.clone(), values }));
    Some(Found { shows: each.chain(apart).collect(), lines: used })
}

/// A line that people print between two readings: blank, of dashes or of equals signs.
fn is_rule(line: Option<&&str>) -> bool {
    line.is_some_and(|line| line.trim().bytes().all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_')))
}

/// How long `sleep` waits: `60`, `60;`, `2m`.
fn pause(word: &str) -> Option<Duration> {
    let word = word.trim_end_matches(';');
    let (number, unit) = word.strip_suffix('m').map_or((word.trim_end_matches('s'), 1), |minutes| (minutes, 60));
    seconds(number)?.checked_mul(unit).filter(|time| !time.is_zero())
}

/// `     rx_packets: 42`.
fn counter(line: &str) -> Option<(&str, u64)> {
    let (name, value) = line.trim().rsplit_once(": ")?;
    let name = name.trim_end_matches(':');
    (!name.is_empty() && name.len() <= MAX_NAME).then_some(())?;
    Some((name, value.trim().parse().ok()?))
}

/// Lines of the output of a command before.
const FAR: usize = 30;

/// One line without the title may be something else.
const FEWEST: usize = 2;

/// A NIC of 128 queues with 20 counters each has 2560.
const MAX_COUNTERS: usize = 65_536;

/// `ETH_GSTRING_LEN` is 32; labels of queues may be longer.
const MAX_NAME: usize = 128;
