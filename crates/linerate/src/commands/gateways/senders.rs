//! Which gateway a report is of, by where it comes from: gateways call themselves by names that an operator may not use.

use std::net::{IpAddr, ToSocketAddrs};

use gateways::status::report::{Expected, ReportedName};

/// The addresses of the gateways that are expected.
pub struct Senders(Vec<Sender>);

struct Sender {
    name: String,
    /// The port of its server, where the operator names it.
    port: Option<u16>,
    addresses: Vec<IpAddr>,
}

impl Senders {
    /// Looks the names up. One without an address is known by what it calls itself alone.
    pub fn of(expected: &[Expected]) -> Self {
        Self(expected.iter().map(|expected| Sender::of(&expected.name)).collect())
    }

    /// The expected gateway that calls itself something else and is the only one at an address; [`None`] where a name tells.
    pub fn name(&self, by_report: &str, from: IpAddr) -> Option<&str> {
        if self.0.iter().any(|sender| ReportedName(by_report).is_of(&sender.name)) {
            return None;
        }
        let port = by_report.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let is_it = |sender: &&Sender| {
            sender.addresses.contains(&from.to_canonical()) && (sender.port.is_none() || sender.port == port)
        };
        let mut there = self.0.iter().filter(is_it);
        there.next().filter(|_| there.next().is_none()).map(|sender| sender.name.as_str())
    }
}

impl Sender {
    fn of(name: &str) -> Self {
        let with_port = name.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = with_port.map_or((name, None), |(host, port)| (host, Some(port)));
        let found = (host, 0).to_socket_addrs();
        let addresses = found.map(|found| found.map(|address| address.ip().to_canonical()).collect());
        Self { name: name.to_owned(), port, addresses: addresses.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(expected: &[&str], by_report: &str, from: &str) -> Option<String> {
        let expected: Vec<Expected> =
            expected.iter().map(|name| Expected { name: (*name).to_owned(), nic_gbit_s: None }).collect();
        Senders::of(&expected).name(by_report, from.parse().unwrap()).map(str::to_owned)
    }

    #[test]
    fn a_report_is_of_the_only_gateway_at_its_address_unless_its_name_tells() {
        let two = ["127.0.0.1", "127.0.0.2"];
        assert_eq!(named(&two, "vm:1094", "127.0.0.2").as_deref(), Some("127.0.0.2"));
        assert_eq!(
            named(&two, "vm:1094", "::ffff:127.0.0.2").as_deref(),
            Some("127.0.0.2"),
            "of a socket of both families"
        );
        assert_eq!(named(&two, "vm:1094", "127.0.0.3"), None, "a stranger keeps its name");
        assert_eq!(named(&two, "127.0.0.1:1094", "127.0.0.2"), None, "its name tells");
        let ports = ["127.0.0.1:1094", "127.0.0.1:1095"];
        assert_eq!(named(&ports, "vm:1095", "127.0.0.1").as_deref(), Some("127.0.0.1:1095"));
        assert_eq!(named(&["127.0.0.1", "localhost"], "vm:1094", "127.0.0.1"), None, "two at one address");
    }
}
