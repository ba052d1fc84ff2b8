//! The congestion control of a host's connections.
//!
//! A namespace other than the machine's first may have as its default only what `tcp_allowed_congestion_control` of the
//! machine lists (net/ipv4/tcp_cong.c, `tcp_set_default_congestion_control`), which is often one or two. Any other that
//! the kernel has is pinned on every route of the host instead, which its connections then use.
//!
//! Model: the host's `net.ipv4.tcp_congestion_control` still shows what it would have without.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::devices::Tools;
use super::error::RaiseError;
use super::given::CONTROL;
use super::sysctl::{self, SysctlTrouble};
use crate::blueprint::Route;

impl Tools<'_> {
    /// Makes `name` the congestion control of connections of this host.
    pub(super) fn control(&mut self, name: &str) -> Result<(), RaiseError> {
        match sysctl::set(CONTROL, name) {
            Ok(()) if self.given.pinned.is_none() => Ok(()),
            Ok(()) => self.pin(None),
            Err(SysctlTrouble::OfTheMachine) if is_available(name) => self.pin(Some(name.to_owned())),
            Err(trouble) => Err(self.setting(CONTROL, trouble)),
        }
    }

    fn pin(&mut self, name: Option<String>) -> Result<(), RaiseError> {
        self.given.pinned = name;
        for route in self.given.routes.clone() {
            self.make(&route)?;
        }
        for (device, address, prefix) in self.given.networks.clone() {
            self.pin_network(&device, address, prefix)?;
        }
        Ok(())
    }

    /// Pins it on what the host reaches without a router.
    pub(super) fn pin_network(&mut self, device: &str, address: IpAddr, prefix: u8) -> Result<(), RaiseError> {
        let to = (network(address, prefix), prefix);
        self.make(&Route {
            to,
            via: None,
            device: device.to_owned(),
            source: Some(address),
            metrics: std::collections::BTreeMap::new(),
        })
    }
}

/// The first address of a network.
fn network(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask))
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix.min(128))).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask))
        }
    }
}

fn is_available(name: &str) -> bool {
    let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    available.split_whitespace().any(|available| available == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_is_the_address_without_its_host_part() {
        let of = |address: &str, prefix| network(address.parse().unwrap(), prefix).to_string();
        assert_eq!(of("10.9.1.77", 24), "10.9.1.0");
        assert_eq!(of("10.9.1.77", 32), "10.9.1.77");
        assert_eq!(of("10.9.1.77", 0), "0.0.0.0");
        assert_eq!(of("fd09:1::5", 64), "fd09:1::");
    }
}
