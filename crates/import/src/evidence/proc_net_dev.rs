//! `/proc/net/dev`: counters of all devices, a line each.

use super::shown::{CounterKind, DeviceCounters, Found, Shown};

/// Reads two lines of titles and a line for each device (`dev_seq_printf_stats`, net/core/net-procfs.c).
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    (first.starts_with("Inter-|") && first.contains("Receive") && first.contains("Transmit")).then_some(())?;
    lines.get(1)?.trim().starts_with("face |").then_some(())?;
    let rows: Vec<DeviceCounters> = lines[2..].iter().take(MAX_DEVICES).map_while(|line| row(line)).collect();
    let used = 2 + rows.len();
    // A device that nothing passed says nothing.
    let is_used = |counters: &DeviceCounters| counters.values.values().any(|value| *value > 0);
    let shows: Vec<Shown> = rows.into_iter().filter(is_used).map(Shown::Counters).collect();
    (used > 2).then_some(Found { shows, lines: used })
}

/// A host of containers has hundreds.
const MAX_DEVICES: usize = 4096;

/// `  eth0: 19328344938734 97141607597    0   12    0    27          0 472311234 15368773298976 …`.
fn row(line: &str) -> Option<DeviceCounters> {
    let (device, numbers) = line.trim().split_once(':')?;
    (!device.is_empty() && device.len() <= LONGEST_NAME && !device.contains(' ')).then_some(())?;
    let numbers: Vec<u64> = numbers.split_whitespace().map(|number| number.parse().ok()).collect::<Option<_>>()?;
    (numbers.len() == COLUMNS.len()).then_some(())?;
    let values = COLUMNS.iter().zip(numbers).map(|(name, value)| ((*name).to_owned(), value)).collect();
    Some(DeviceCounters { kind: CounterKind::Link, device: Some(device.to_owned()), values })
}

const LONGEST_NAME: usize = 15;

/// The columns, by the names that `ip -s link` gives them.
const COLUMNS: [&str; 16] = [
    "rx_bytes",
    "rx_packets",
    "rx_errors",
    "rx_dropped",
    "rx_fifo_errors",
    "rx_frame_errors",
    "rx_compressed",
    "multicast",
    "tx_bytes",
    "tx_packets",
    "tx_errors",
    "tx_dropped",
    "tx_fifo_errors",
    "collisions",
    "tx_carrier_errors",
    "tx_compressed",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_that_was_used_has_its_counters() {
        let text = "Inter-|   Receive                                                |  Transmit\n \
                    face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n\
                    \x20   lo:1027302 7047    0    0    0     0          0         0 1027302 7047    0    0    0     0       0          0\n\
                    \x20 eth0: 9000000 6000    3   12    1     2          0        40 8000000 5000    0    5    0     7       0          0\n\
                    \x20 eth1:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\nprose";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).expect("three devices");
        let [Shown::Counters(_), Shown::Counters(eth0)] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        let of = |name: &str| eth0.values.get(name).copied();
        assert_eq!((found.lines, eth0.device.as_deref()), (5, Some("eth0")));
        assert_eq!(
            [of("rx_packets"), of("rx_dropped"), of("rx_frame_errors"), of("tx_dropped"), of("collisions")],
            [6000, 12, 2, 5, 7].map(Some)
        );
        assert!(read(&lines[1..], &[], &mut Vec::new()).is_none(), "no titles");
    }
}
