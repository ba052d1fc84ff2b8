//! Packets and bytes of each network device: `/proc/net/dev`.

use std::collections::BTreeMap;

use super::Anomaly;

/// Counters of one device by name: the direction and the kernel's column, such as `rx_bytes` and `tx_carrier`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceCounters {
    /// Interface name; an alias with its colon.
    pub device: String,
    /// Its counters. `rx_drop` mixes several causes: full backlog, unknown protocols, and more.
    pub values: BTreeMap<String, u64>,
}

/// Reads `/proc/net/dev`. Lines that do not fit are left out and listed.
#[must_use]
pub fn parse_devices(text: &str) -> (Vec<DeviceCounters>, Vec<Anomaly>) {
    let (mut devices, mut anomalies) = (Vec::new(), Vec::new());
    let names = text.lines().nth(1).map(column_names).unwrap_or_default();
    if names.is_empty() {
        return (devices, vec![Anomaly { line: 2, reason: "no line of column names" }]);
    }
    for (index, line) in text.lines().enumerate().skip(2) {
        match parse_device(line, &names) {
            Ok(device) => devices.push(device),
            Err(reason) => anomalies.push(Anomaly { line: index + 1, reason }),
        }
    }
    (devices, anomalies)
}

/// Names from ` face |bytes packets ...|bytes packets ...`: the second part is what is received, the third what is sent.
fn column_names(line: &str) -> Vec<String> {
    let directions = line.split('|').skip(1).zip(["rx", "tx"]);
    directions
        .flat_map(|(names, direction)| names.split_whitespace().map(move |name| format!("{direction}_{name}")))
        .collect()
}

fn parse_device(line: &str, names: &[String]) -> Result<DeviceCounters, &'static str> {
    // A name may hold a colon (an alias), so the last one ends it.
    let (device, values) = line.rsplit_once(':').ok_or("a line without a device")?;
    let values: Result<Vec<u64>, _> = values.split_whitespace().map(str::parse).collect();
    let values = values.map_err(|_| "a value that is no number")?;
    if values.len() != names.len() {
        return Err("names and values of different number");
    }
    Ok(DeviceCounters { device: device.trim().to_owned(), values: names.iter().cloned().zip(values).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/proc/net/dev` of Linux 6.18.44.
    const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 91516111    3409    0    0    0     0          0         0 91516111    3409    0    0    0     0       0          0
  eth0: 253040988   10758    0    7    0     0          0         0   754747    8003    0    0    0     0       3          0
";

    #[test]
    fn columns_are_named_by_direction() {
        let (devices, anomalies) = parse_devices(DEV);
        assert_eq!(devices.len(), 2);
        assert_eq!(devices[1].device, "eth0");
        assert_eq!((devices[1].values["rx_drop"], devices[1].values["tx_carrier"]), (7, 3));
        assert_eq!((devices[1].values["rx_bytes"], devices[1].values["tx_bytes"]), (253_040_988, 754_747));
        assert!(anomalies.is_empty());
    }

    #[test]
    fn line_that_does_not_fit_is_listed_and_the_rest_is_read() {
        let text = DEV.replace("10758", "many");
        let (devices, anomalies) = parse_devices(&text);
        assert_eq!(devices.len(), 1);
        assert_eq!(anomalies[0], Anomaly { line: 4, reason: "a value that is no number" });
        assert_eq!(parse_devices("").1.len(), 1);
    }
}
