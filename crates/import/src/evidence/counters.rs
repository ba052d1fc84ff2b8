//! `ethtool -S DEVICE`.

use std::collections::BTreeMap;

use super::shown::{CounterKind, DeviceCounters, Found, Shown, command_above};

/// Reads `NIC statistics:` and the lines `     name: value` below.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    (lines.first()?.trim() == "NIC statistics:").then_some(())?;
    let mut values = BTreeMap::new();
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_COUNTERS) {
        let Some((name, value)) = line.trim().rsplit_once(": ") else { break };
        let Ok(value) = value.trim().parse::<u64>() else { break };
        if name.is_empty() || name.len() > MAX_NAME {
            break;
        }
        values.insert(name.trim_end_matches(':').to_owned(), value);
        used += 1;
    }
    let words = command_above(before, "ethtool");
    let device =
        words.and_then(|words| words.iter().find(|word| !word.starts_with('-')).map(|word| (*word).to_owned()));
    (!values.is_empty()).then(|| Found {
        shows: vec![Shown::Counters(DeviceCounters { kind: CounterKind::Nic, device, values })],
        lines: used,
    })
}

/// A NIC of 128 queues with 20 counters each has 2560.
const MAX_COUNTERS: usize = 65_536;

/// `ETH_GSTRING_LEN` is 32; labels of queues may be longer.
const MAX_NAME: usize = 128;
