//! Who has which address.
//!
//! Host N (from 1, in the order of the file) has 10.0.N.1 and fd00:0:0:N::1. Link K (from 0) has the two addresses
//! from 10.128.0.0 + 2K and from fd00:0:1:K::. An overlay has its own subnet.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use document::Key;
use model::spec::Family;

use crate::diagnostics::Diagnostics;
use crate::error::Problem;
use crate::host::Host;
use crate::overlay::Overlay;

/// The addresses of a network.
#[derive(Debug, Clone, Default)]
pub(crate) struct Addresses {
    /// Those by which hosts are known.
    pub(crate) hosts: Vec<Vec<IpAddr>>,
    /// Those of the two ends of each link, with the length of the prefix.
    pub(crate) links: Vec<[Vec<(IpAddr, u8)>; 2]>,
}

impl Addresses {
    pub(super) fn new(hosts: &[Host], links: usize, families: &BTreeSet<Family>) -> Self {
        let of_host = |(number, host): (usize, &Host)| {
            let number = u16::try_from(number + 1).unwrap_or(u16::MAX);
            let v4 = host.address.unwrap_or(Ipv4Addr::new(10, 0, number.to_be_bytes()[1], 1));
            let v6 = host.address6.unwrap_or(Ipv6Addr::new(0xfd00, 0, 0, number, 0, 0, 0, 1));
            [IpAddr::from(v4), v6.into()].into_iter().filter(|address| speaks(families, *address)).collect()
        };
        let of_end = |link: usize, end: u16| {
            let link = u16::try_from(link).unwrap_or(u16::MAX);
            let v4 = Ipv4Addr::from_bits(FIRST_OF_LINKS.to_bits() + 2 * u32::from(link) + u32::from(end));
            let v6 = Ipv6Addr::new(0xfd00, 0, 1, link, 0, 0, 0, end);
            [(IpAddr::from(v4), 31), (v6.into(), 127)]
                .into_iter()
                .filter(|(address, _)| speaks(families, *address))
                .collect()
        };
        Self {
            hosts: hosts.iter().enumerate().map(of_host).collect(),
            links: (0..links).map(|link| [of_end(link, 0), of_end(link, 1)]).collect(),
        }
    }

    /// The address of an end of a link in the family of `like`.
    pub(super) fn end_like(&self, link: usize, end: usize, like: IpAddr) -> Option<IpAddr> {
        let same = |(address, _): &(IpAddr, u8)| (address.is_ipv4() == like.is_ipv4()).then_some(*address);
        self.links.get(link)?[end].iter().find_map(same)
    }

    /// Complains about addresses that no host can have, and about two of one.
    pub(super) fn check(&self, hosts: &[Host], overlays: &[Overlay], diagnostics: &mut Diagnostics<'_>) {
        let mut owners: BTreeMap<IpAddr, String> = BTreeMap::new();
        for (number, ends) in self.links.iter().enumerate() {
            for (address, _) in ends.iter().flatten() {
                owners.insert(*address, format!("link `{}`", diagnostics.links[number].0));
            }
        }
        // Addresses that hosts got of us come first, so that the complaint is about the one that the file gives.
        let order = |host: &&(usize, &Host)| (host.1.address.is_some() || host.1.address6.is_some(), host.0);
        let mut listed: Vec<(usize, &Host)> = hosts.iter().enumerate().collect();
        listed.sort_by_key(|host| order(&host));
        for (number, host) in listed {
            for address in &self.hosts[number] {
                let key = Key::top("hosts").at(&host.name).at(if address.is_ipv4() { "address" } else { "address6" });
                if address.is_unspecified() || address.is_loopback() || address.is_multicast() {
                    let problem = Problem::Address { what: address.to_string(), why: "it is no host's own" };
                    diagnostics.complain(&key, problem);
                }
                match owners.get(address) {
                    Some(other) => {
                        diagnostics.complain(&key, Problem::SameAddress { address: *address, other: other.clone() });
                    }
                    None => {
                        owners.insert(*address, format!("host `{}`", host.name));
                    }
                }
            }
        }
        for (number, overlay) in overlays.iter().enumerate() {
            let key = Key::top("overlays").nth(number).at("subnet");
            let prefix = |address: Ipv4Addr| address.octets().split_at(3).0.to_vec();
            let inside = |address: &IpAddr| matches!(address, IpAddr::V4(v4) if prefix(*v4) == prefix(overlay.subnet));
            if let Some((address, other)) = owners.iter().find(|(address, _)| inside(address)) {
                diagnostics.complain(&key, Problem::SameAddress { address: *address, other: other.clone() });
            }
            if overlays[..number].iter().any(|other| other.subnet == overlay.subnet) {
                let what = format!("{}/24", overlay.subnet);
                diagnostics.complain(&key, Problem::Address { what, why: "another overlay has it" });
            }
        }
    }
}

/// Whether an address is of one of these families.
pub(crate) fn speaks(families: &BTreeSet<Family>, address: IpAddr) -> bool {
    families.contains(if address.is_ipv4() { &Family::Ipv4 } else { &Family::Ipv6 })
}

/// The links' half of the private network 10.0.0.0/8 (RFC 1918).
const FIRST_OF_LINKS: Ipv4Addr = Ipv4Addr::new(10, 128, 0, 0);
