//! Lists of counters that any device prints, a name and a number on each line: `rx-fcs-error: 412 233`, `OutDiscards = 88`.

use std::collections::BTreeMap;

use super::shown::{CounterKind, DeviceCounters, Found, Shown};
use crate::counter_kinds::{all, plain};

/// Reads three or more such lines of which one counts what is known to be trouble.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?;
    let titled = device_of(first);
    (titled.is_some() || counter(first).is_some()).then_some(())?;
    let titles = usize::from(titled.is_some());
    let mut values: BTreeMap<String, u64> = BTreeMap::new();
    let mut used = titles;
    for line in lines[titles..].iter().take(MAX_COUNTERS) {
        let Some((name, value)) = counter(line) else { break };
        if values.insert(name.to_owned(), value).is_some() {
            return None;
        }
        used += 1;
    }
    let is_known = values.keys().any(|name| all().iter().any(|kind| kind.of.is_some() && kind.has(&plain(name))));
    (values.len() >= FEWEST && is_known).then_some(())?;
    let above = || before.iter().rev().take(NEAR).find_map(|line| device_of(line));
    let earlier = || earlier_device(before, values.keys().next()?);
    let device = titled.or_else(above).or_else(earlier).map(str::to_owned);
    let counters = DeviceCounters { kind: CounterKind::Nic, device, values };
    Some(Found { shows: vec![Shown::Counters(counters)], lines: used })
}

/// Whether a line counts what is known to be trouble.
pub(crate) fn may_begin(line: &str) -> bool {
    counter(line).is_some_and(|(name, _)| all().iter().any(|kind| kind.of.is_some() && kind.has(&plain(name))))
}

/// The device of a reading above that has the same counter, below its command: `ethtool -S eth0`, and later `sleep 60; !!`.
fn earlier_device<'a>(before: &[&'a str], name: &str) -> Option<&'a str> {
    let far = &before[before.len().saturating_sub(FAR)..];
    let is_same = |line: &&str| line.trim().split_once(':').is_some_and(|(known, _)| known == name);
    let at = far.iter().rposition(is_same)?;
    let command = far[..at].iter().rev().find(|line| line.contains("ethtool "))?;
    let words = command.split_whitespace().skip_while(|word| *word != "ethtool").skip(1);
    words.take_while(|word| *word != "|").find(|word| !word.starts_with('-'))
}

const FAR: usize = 60;

/// `name: ether3`, `Interface: Gi0/1`.
fn device_of(line: &str) -> Option<&str> {
    let (key, name) = line.trim().split_once(": ")?;
    let is_title = TITLES.contains(&key.to_lowercase().as_str());
    let name = name.trim();
    (is_title && !name.contains(' ') && (1..=40).contains(&name.len())).then_some(name)
}

const TITLES: [&str; 4] = ["name", "interface", "port", "device"];

/// `rx-bytes: 77 120 334 901 218`, `tx_errors = 12`, `Input errors: 1,204`.
fn counter(line: &str) -> Option<(&str, u64)> {
    let text = line.trim();
    (text.len() <= LONGEST && text.ends_with(|last: char| last.is_ascii_digit())).then_some(())?;
    let (name, value) = text.split_once(": ").or_else(|| text.split_once(" = "))?;
    let name = name.trim();
    let is_name =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_' | b'.' | b'/'))
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.split(' ').count() <= MOST_WORDS;
    is_name.then_some(())?;
    Some((name, grouped(value.trim())?))
}

/// Digits, in groups of three or in one.
fn grouped(text: &str) -> Option<u64> {
    let mut groups = text.split([' ', ',', '\'']);
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let is_grouped = rest.is_empty() || first.len() <= 3 && rest.iter().all(|group| group.len() == 3);
    is_grouped.then_some(())?;
    format!("{first}{}", rest.concat()).parse().ok()
}

const FEWEST: usize = 3;
const MAX_COUNTERS: usize = 4096;
const NEAR: usize = 3;
const LONGEST: usize = 120;
const MOST_WORDS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(text: &str) -> Option<DeviceCounters> {
        let lines: Vec<&str> = text.lines().collect();
        match read(&lines, &[], &mut Vec::new())?.shows.pop()? {
            Shown::Counters(found) => Some(found),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn any_list_that_has_a_counter_of_trouble_is_one() {
        let found =
            counters("   name: ether3\n   rx-bytes: 77 120 334\n   rx-fcs-error: 412,233\n   tx-drop: 0\nprose")
                .expect("counters");
        assert_eq!(
            (found.device.as_deref(), found.values["rx-fcs-error"], found.values["rx-bytes"]),
            (Some("ether3"), 412_233, 77_120_334)
        );
        assert_eq!(counters("width: 3\nheight: 4\ndepth: 5"), None, "nothing that is counted");
        assert_eq!(counters("rx-fcs-error: 1\ntx-drop: 2"), None, "too few");
        assert_eq!(counters("time: 10:20\nrx-fcs-error: 1\ntx-drop: 2\nrx-drop: 3"), None);
    }
}
