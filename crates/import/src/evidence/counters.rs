//! `ethtool -S DEVICE`.

use std::collections::BTreeMap;

use super::shown::{CounterKind, DeviceCounters, Found, Shown, command_above};

/// Reads `NIC statistics:` and the lines `     name: value` below; without the title, as `grep` leaves them below the command.
/// Where a name comes again, the command was repeated: another reading begins.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles = usize::from(lines.first()?.trim() == "NIC statistics:");
    let words = command_above(before, "ethtool");
    let is_asked = words.as_ref().is_some_and(|words| words.contains(&"-S") || words.contains(&"--statistics"));
    (titles == 1 || is_asked).then_some(())?;
    let mut readings: Vec<BTreeMap<String, u64>> = vec![BTreeMap::new()];
    let own: Vec<(&str, u64)> = lines[titles..].iter().take(MAX_COUNTERS).map_while(|line| counter(line)).collect();
    (!own.is_empty() && (titles == 1 || own.len() >= FEWEST)).then_some(())?;
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
    let each =
        readings.into_iter().map(|values| Shown::Counters(DeviceCounters { kind, device: device.clone(), values }));
    Some(Found { shows: each.collect(), lines: titles + own.len() })
}

/// `     rx_packets: 42`.
fn counter(line: &str) -> Option<(&str, u64)> {
    let (name, value) = line.trim().rsplit_once(": ")?;
    let name = name.trim_end_matches(':');
    (!name.is_empty() && name.len() <= MAX_NAME).then_some(())?;
    Some((name, value.trim().parse().ok()?))
}

/// One line without the title may be something else.
const FEWEST: usize = 2;

/// A NIC of 128 queues with 20 counters each has 2560.
const MAX_COUNTERS: usize = 65_536;

/// `ETH_GSTRING_LEN` is 32; labels of queues may be longer.
const MAX_NAME: usize = 128;
