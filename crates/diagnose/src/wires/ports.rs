//! Which interfaces a segment joins, and what these counted during the round.

use std::collections::BTreeMap;
use std::net::IpAddr;

use model::host::interface::Interface;
use model::host::namespace::Namespace;
use model::round::{Member, Round, Segment};
use units::DataRate;

/// Packets, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) packets: u64,
    pub(super) bytes: u64,
}

/// What an interface counted during the round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) sent: Counts,
    pub(super) received: Counts,
    pub(super) speed: Option<DataRate>,
    pub(super) mtu: Option<u32>,
    /// Bytes that its queue discipline let out, every segment with headers of its own, also where the device counts large
    /// packets as one.
    pub(super) let_out: Option<u64>,
}

/// Each segment with the ports at its ends, where both are known.
pub(super) fn joined(round: &Round) -> Vec<(&Segment, [Port; 2])> {
    let members: BTreeMap<&str, Seen<'_>> =
        round.members.iter().filter_map(|member| Some((member.name.as_str(), Seen::of(member)?))).collect();
    let of_segment = |segment| {
        let [one, other] = interfaces(segment, &members, &round.segments)?;
        let port = |end: usize, name: &str| members.get(segment.between[end].as_str())?.port(name);
        Some((segment, [port(0, &one)?, port(1, &other)?]))
    };
    round.segments.iter().filter_map(of_segment).collect()
}

/// The interfaces that a segment joins: those that the round names, or else those of one network.
fn interfaces(segment: &Segment, members: &BTreeMap<&str, Seen<'_>>, all: &[Segment]) -> Option<[String; 2]> {
    if let Some(named) = &segment.interfaces {
        return Some(named.clone());
    }
    let is_parallel = |other: &&Segment| segment.between.iter().all(|end| other.between.contains(end));
    if all.iter().filter(is_parallel).count() > 1 {
        return None;
    }
    let [one, other] = segment.between.each_ref().map(|end| members.get(end.as_str()));
    let (one, other) = (one?.networks(), other?.networks());
    // Where a third host has an address in the network as well, the counters tell of more than this segment.
    let is_of_two = |network: &Network| {
        members.values().filter(|seen| seen.networks().iter().any(|(known, _)| known == network)).count() == 2
    };
    let mut common = one.iter().filter_map(|(network, name)| {
        let (_, beyond) = other.iter().find(|(known, _)| known == network)?;
        is_of_two(network).then(|| [(*name).to_owned(), (*beyond).to_owned()])
    });
    common.next()
}

/// An address with the bits of its host cut off, and the length of its prefix.
type Network = (u128, u8, bool);

/// A member before and after the tests.
struct Seen<'a> {
    before: &'a Namespace,
    after: &'a Namespace,
}

impl<'a> Seen<'a> {
    fn of(member: &'a Member) -> Option<Self> {
        Some(Self { before: member.before.as_ref()?.own()?, after: member.after.as_ref()?.own()? })
    }

    /// The networks that its interfaces are in.
    fn networks(&self) -> Vec<(Network, &'a str)> {
        let addresses = self.after.addresses.value().map(Vec::as_slice).unwrap_or_default();
        let shared = addresses.iter().filter(|address| address.scope == "global");
        let shared = shared.map(|address| (network(address.address, address.prefix), address.interface.as_str()));
        shared.filter(|((_, prefix, is_v6), _)| *prefix < if *is_v6 { 128 } else { 32 }).collect()
    }

    /// What an interface counted; nothing where one of its counters was set back.
    fn port(&self, name: &str) -> Option<Port> {
        let change = |counter: &str| {
            let of = |namespace: &Namespace| {
                let interface = namespace.interfaces.iter().find(|interface| interface.name == name)?;
                interface.counters.value()?.get(counter).copied()
            };
            of(self.after)?.checked_sub(of(self.before)?)
        };
        let let_out = |namespace: &Namespace| {
            let qdiscs = namespace.interface(name)?.qdiscs.value()?;
            let root = qdiscs.iter().find(|qdisc| qdisc.is_root() && qdisc.kind != "noqueue")?;
            root.counters.get("bytes").copied()
        };
        Some(Port {
            sent: Counts { packets: change("tx_packets")?, bytes: change("tx_bytes")? },
            received: Counts { packets: change("rx_packets")?, bytes: change("rx_bytes")? },
            speed: self.after.interface(name).and_then(Interface::reported_speed),
            let_out: let_out(self.after)
                .zip(let_out(self.before))
                .and_then(|(after, before)| after.checked_sub(before)),
            mtu: self.after.interface(name).and_then(|interface| interface.link.value()?.mtu),
        })
    }
}

fn network(address: IpAddr, prefix: u8) -> Network {
    let (bits, width, is_v6) = match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32, false),
        IpAddr::V6(address) => (address.to_bits(), 128, true),
    };
    let host = u32::from(width - prefix.min(width));
    (bits.checked_shr(host).unwrap_or(0), prefix, is_v6)
}
