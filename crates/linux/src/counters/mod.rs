//! Everything a host counts in its current network namespace, read in one go.

mod device;
mod protocol;
mod softnet;

use units::MonoTime;

use crate::ethtool::Ethtool;
use crate::qdisc::{self, Qdisc};
use crate::{Unavailable, clock, kernel_text};
pub use device::{DeviceCounters, parse_devices};
pub use protocol::{Anomaly, ProtocolCounters};
pub use softnet::{SoftnetCpu, parse_softnet};

/// The counters of a host. Each part is there, or says why it is not.
#[derive(Debug, Clone)]
pub struct HostCounters {
    /// When reading began.
    pub taken_at: MonoTime,
    /// `/proc/net/snmp`: IPv4, ICMP, TCP, UDP.
    pub snmp: Result<ProtocolCounters, Unavailable>,
    /// `/proc/net/snmp6`: IPv6, ICMPv6, UDP over IPv6. Absent where IPv6 is switched off.
    pub snmp6: Result<ProtocolCounters, Unavailable>,
    /// `/proc/net/netstat`: what Linux counts beyond the standards (`TcpExt`, `IpExt`, `MPTcpExt`).
    pub netstat: Result<ProtocolCounters, Unavailable>,
    /// Each CPU's receive path; of the whole host.
    pub softnet: Result<Vec<SoftnetCpu>, Unavailable>,
    /// Each network device.
    pub devices: Result<Vec<DeviceCounters>, Unavailable>,
    /// What the driver of each device counts.
    pub drivers: Vec<DriverCounters>,
    /// Each queueing discipline.
    pub qdiscs: Result<Vec<Qdisc>, Unavailable>,
}

/// What the driver of one device counts.
#[derive(Debug, Clone)]
pub struct DriverCounters {
    /// Interface name, as in `/proc/net/dev`.
    pub device: String,
    /// The driver's own counters, in its order and with its names.
    pub statistics: Result<Vec<(String, u64)>, Unavailable>,
}

impl HostCounters {
    /// Reads all parts for the network namespace of the calling thread. Needs no privilege.
    #[must_use]
    pub fn read() -> Self {
        let taken_at = clock::now();
        let devices = read_text("dev").and_then(|text| complete("dev", parse_devices(&text)));
        Self {
            taken_at,
            snmp: read_text("snmp").map(|text| ProtocolCounters::parse_pairs(&text)),
            snmp6: read_text("snmp6").map(|text| ProtocolCounters::parse_list(&text)),
            netstat: read_text("netstat").map(|text| ProtocolCounters::parse_pairs(&text)),
            softnet: read_text("softnet_stat").and_then(|text| complete("softnet_stat", parse_softnet(&text))),
            drivers: devices.as_deref().map(read_drivers).unwrap_or_default(),
            devices,
            qdiscs: qdisc::dump().map_err(|error| error.unavailable("qdiscs")),
        }
    }
}

/// A table of which nothing could be read is not there.
fn complete<T>(file: &str, (rows, anomalies): (Vec<T>, Vec<Anomaly>)) -> Result<Vec<T>, Unavailable> {
    match anomalies.first() {
        Some(anomaly) if rows.is_empty() => Err(Unavailable::failed(path_of(file), anomaly.to_string())),
        _ => Ok(rows),
    }
}

fn read_drivers(devices: &[DeviceCounters]) -> Vec<DriverCounters> {
    let ethtool = Ethtool::open().map_err(|error| Unavailable::because("ethtool", &error));
    let read = |device: &DeviceCounters| {
        let name = &device.device;
        let ethtool = ethtool.as_ref().map_err(Clone::clone);
        DriverCounters { device: name.clone(), statistics: ethtool.and_then(|ethtool| ethtool.statistics(name)) }
    };
    devices.iter().map(read).collect()
}

fn read_text(file: &str) -> Result<String, Unavailable> {
    let path = path_of(file);
    kernel_text::read(&path).map_err(|error| Unavailable::because(path, &error))
}

/// `/proc/net` is that of the main thread; a thread that has entered another namespace has its own.
fn path_of(file: &str) -> String {
    format!("/proc/thread-self/net/{file}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_counts() {
        let counters = HostCounters::read();
        assert!(counters.snmp.unwrap().get("Tcp", "OutSegs").is_some());
        assert!(counters.netstat.unwrap().get("TcpExt", "TCPTimeouts").is_some());
        assert!(!counters.softnet.unwrap().is_empty());
        let devices = counters.devices.unwrap();
        assert!(devices.iter().any(|device| device.device == "lo"));
        assert_eq!(counters.drivers.len(), devices.len());
        counters.qdiscs.unwrap();
    }

    #[test]
    fn table_without_a_row_is_a_failure() {
        assert!(complete("dev", parse_devices("")).is_err());
    }
}
