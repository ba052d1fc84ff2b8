//! Who moved most in an interval: per peer, per network of the peer, per program of this host.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use model::transfer::{Talker, TalkerName};
use units::{ByteCount, DataRate, PacketCount};

/// What one connection moved in an interval.
#[derive(Debug, Clone)]
pub struct Share {
    /// Address of the other end, IPv4 as such.
    pub peer: IpAddr,
    /// The program of this host, where it is known.
    pub program: Option<String>,
    /// Payload sent.
    pub sent: u64,
    /// Payload received.
    pub received: u64,
    /// Segments retransmitted.
    pub retransmits: u64,
}

#[derive(Debug, Default)]
struct Sum {
    connections: u64,
    sent: u64,
    received: u64,
    retransmits: u64,
}

/// The talkers of an interval of `length`: of each kind at most `most`, those who moved most first.
#[must_use]
pub fn talkers(shares: &[Share], length: Duration, most: usize) -> Vec<Talker> {
    let mut of_peer: BTreeMap<TalkerName, Sum> = BTreeMap::new();
    let mut of_prefix: BTreeMap<TalkerName, Sum> = BTreeMap::new();
    let mut of_program: BTreeMap<TalkerName, Sum> = BTreeMap::new();
    for share in shares {
        of_peer.entry(TalkerName::Peer(share.peer)).or_default().add(share);
        of_prefix.entry(TalkerName::Prefix(prefix(share.peer))).or_default().add(share);
        if let Some(program) = &share.program {
            of_program.entry(TalkerName::Program(program.clone())).or_default().add(share);
        }
    }
    [of_peer, of_prefix, of_program].into_iter().flat_map(|sums| largest(sums, length, most)).collect()
}

fn largest(sums: BTreeMap<TalkerName, Sum>, length: Duration, most: usize) -> Vec<Talker> {
    let mut sums: Vec<(TalkerName, Sum)> = sums.into_iter().collect();
    sums.sort_by(|(one, of_one), (other, of_other)| of_other.all().cmp(&of_one.all()).then_with(|| one.cmp(other)));
    sums.truncate(most);
    let rate = |bytes| DataRate::of(ByteCount::new(bytes), length).unwrap_or(DataRate::ZERO);
    let talker = |(who, sum): (TalkerName, Sum)| Talker {
        who,
        connections: sum.connections,
        outbound: rate(sum.sent),
        inbound: rate(sum.received),
        retransmits: PacketCount::new(sum.retransmits),
    };
    sums.into_iter().map(talker).collect()
}

impl Sum {
    fn add(&mut self, share: &Share) {
        self.connections += 1;
        self.sent = self.sent.saturating_add(share.sent);
        self.received = self.received.saturating_add(share.received);
        self.retransmits = self.retransmits.saturating_add(share.retransmits);
    }

    fn all(&self) -> u64 {
        self.sent.saturating_add(self.received)
    }
}

/// The network of an address as sites get them: 24 bits of IPv4, 48 of IPv6 (RFC 6177).
pub(super) fn prefix(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        IpAddr::V6(v6) => {
            let [a, b, c, ..] = v6.segments();
            format!("{}/48", std::net::Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_added_up_by_peer_prefix_and_program() {
        let share = |peer: &str, program: Option<&str>, sent| Share {
            peer: peer.parse().unwrap(),
            program: program.map(str::to_owned),
            sent,
            received: 1,
            retransmits: 2,
        };
        let shares = [
            share("192.0.2.1", Some("gridftp (dtn)"), 1_000),
            share("192.0.2.1", None, 500),
            share("192.0.2.9", Some("gridftp (dtn)"), 4_000),
            share("2001:db8:1:2::1", None, 10),
        ];
        let talkers = talkers(&shares, Duration::from_secs(1), 2);
        let seen: Vec<(TalkerName, u64, u64)> =
            talkers.into_iter().map(|talker| (talker.who, talker.connections, talker.outbound.bps())).collect();
        assert_eq!(
            seen,
            [
                (TalkerName::Peer("192.0.2.9".parse().unwrap()), 1, 32_000),
                (TalkerName::Peer("192.0.2.1".parse().unwrap()), 2, 12_000),
                (TalkerName::Prefix("192.0.2.0/24".to_owned()), 3, 44_000),
                (TalkerName::Prefix("2001:db8:1::/48".to_owned()), 1, 80),
                (TalkerName::Program("gridftp (dtn)".to_owned()), 2, 40_000),
            ]
        );
    }
}
