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
    // Two readings may stand below one command, with lines between them.
    while own.len() < MAX_COUNTERS {
        let between = lines.get(used..).unwrap_or_default().iter().take(MOST_BETWEEN);
        let between = between.take_while(|line| is_rule(line) || is_label(line)).count();
        let more = lines.get(used + between..).unwrap_or_default().iter().take(MAX_COUNTERS);
        // That a counter comes again shows that it is another reading of the same.
        let is_known = |(name, _): &(&str, u64)| own.iter().any(|(known, _)| known == name);
        let more: Vec<(&str, u64)> = more.map_while(|line| counter(line).filter(is_known)).collect();
        if between == 0 || more.is_empty() {
            break;
        }
        used += between + more.len();
        own.extend(more);
    }
    let mut queue = String::new();
    for (name, value) in &own {
        // `Rx Queue#: 3` stands above the counters of a queue.
        if name.ends_with(" Queue#") {
            queue = format!("{value}:_");
            continue;
        }
        // Drivers that write words have blanks between them.
        let name = format!("{queue}{}", name.replace(' ', "_"));
        if readings.last().is_some_and(|last| last.contains_key(&name)) {
            readings.push(BTreeMap::new());
        }
        if let Some(last) = readings.last_mut() {
            last.insert(name, *value);
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
fn is_rule(line: &str) -> bool {
    line.trim().bytes().all(|byte| matches!(byte, b'-' | b'=' | b'*' | b'_'))
}

/// What a person writes above a reading: `after:`, `--- nachher ---`, `(60 s later)`.
fn is_label(line: &str) -> bool {
    let text = line.trim();
    let is_marked = text.ends_with(':') || text.starts_with(['-', '=', '(', '*', '#']);
    is_marked && text.len() <= LONGEST_LABEL && after_prompt(text).is_none() && counter(line).is_none()
}

const LONGEST_LABEL: usize = 60;
/// Lines between two readings.
const MOST_BETWEEN: usize = 4;

/// Reads a table that a person made of two readings: the titles `before  after`, and below them `name: 42  43`.
pub(crate) fn table(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles: Vec<&str> = lines.first()?.split_whitespace().collect();
    let is_titles = matches!(titles.as_slice(), [first, second] if is_time(first) && is_time(second));
    is_titles.then_some(())?;
    let rows: Vec<(&str, [u64; 2])> = lines[1..].iter().take(MAX_COUNTERS).map_while(|line| both(line)).collect();
    (rows.len() >= FEWEST).then_some(())?;
    let near = before.iter().rev().take(FAR).find(|line| line.contains("ethtool"));
    let words = near.and_then(|line| command_above(&[*line], "ethtool"));
    let device =
        words.and_then(|words| words.iter().find(|word| !word.starts_with('-')).map(|word| (*word).to_owned()));
    let reading = |at: usize| {
        let values = rows.iter().map(|(name, both)| ((*name).to_owned(), both[at])).collect();
        Shown::Counters(DeviceCounters { kind: CounterKind::Nic, device: device.clone(), values })
    };
    Some(Found { shows: vec![reading(0), reading(1)], lines: 1 + rows.len() })
}

/// `rx_out_of_buffer:   1204418   1222715`.
fn both(line: &str) -> Option<(&str, [u64; 2])> {
    let (name, values) = line.trim().split_once(':')?;
    let mut values = values.split_whitespace().map(|value| value.parse::<u64>().ok());
    let both = [values.next()??, values.next()??];
    (values.next().is_none() && !name.contains(' ') && name.len() <= MAX_NAME).then_some((name, both))
}

/// What people call two moments.
fn is_time(title: &str) -> bool {
    let title = title.trim_matches([':', '|', '*']).to_lowercase();
    TIMES.contains(&title.as_str())
}

const TIMES: [&str; 16] = [
    "before",
    "after",
    "vorher",
    "nachher",
    "davor",
    "danach",
    "avant",
    "apr\u{e8}s",
    "antes",
    "despu\u{e9}s",
    "despues",
    "depois",
    "prima",
    "dopo",
    "t0",
    "t1",
];

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

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(reader: super::super::Reader, before: &str, text: &str) -> Vec<DeviceCounters> {
        let lines: Vec<&str> = text.lines().collect();
        let found = reader(&lines, &[before], &mut Vec::new()).map(|found| found.shows).unwrap_or_default();
        let of = |shown: Shown| if let Shown::Counters(one) = shown { one } else { panic!("{shown:?}") };
        found.into_iter().map(of).collect()
    }

    #[test]
    fn two_readings_of_people_are_before_and_after() {
        let command = "$ ethtool -S ens5 | grep allowance";
        let labelled = readings(
            read,
            command,
            "  in_exceeded: 0\n  out_exceeded: 7\nafter:\n  in_exceeded: 0\n  out_exceeded: 9\nprose: 1",
        );
        let table = readings(
            table,
            command,
            "      before   after\nin_exceeded:    0     0\nout_exceeded:   7     9\nprose: 1",
        );
        assert_eq!(labelled, table);
        let values: Vec<Option<u64>> = table.iter().map(|one| one.values.get("out_exceeded").copied()).collect();
        assert_eq!((values, table[0].device.as_deref()), (vec![Some(7), Some(9)], Some("ens5")));
        let other = readings(read, command, "  in_exceeded: 0\n  out_exceeded: 7\nafter:\n  others: 0\n  more: 9");
        assert_eq!(other.len(), 1, "counters of something else");
    }
}
