//! `ethtool -S DEVICE`, and what all counters have in common.

use std::collections::BTreeMap;

use super::{Found, Shown, command_above};

/// Whose counters they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum CounterKind {
    /// A NIC's, by the driver's names.
    #[default]
    Nic,
    /// A network device's, by the kernel's names.
    Link,
    /// The network stack's, since the host started.
    Kernel,
    /// The same, since they were read last: one reading is a change.
    KernelChange,
}

/// Counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceCounters {
    /// Whose they are.
    pub kind: CounterKind,
    /// The device, where the command above says which.
    pub device: Option<String>,
    /// Each counter's value. Gauges are among them: ethtool does not tell them apart.
    pub values: BTreeMap<String, u64>,
}

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
