//! Segments that TCP sent again, by peer: each as it is sent where this process may see that, else by the counters of
//! the sockets there are.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use linux::Unavailable;
use linux::netlink::NetlinkError;
use linux::sock_diag::{Selection, SockDiag, StateSet, TcpState};
use linux::sockets::{Family, Transport};
use linux::tracepoint::{Field, Tracepoint};
use model::host::drops::{RetransmitWay, Retransmits};

/// Counts each segment as it is sent again, of the whole host.
pub(super) struct RetransmitEvents {
    pub(super) events: Tracepoint,
    family: Field,
    v4: Field,
    v6: Field,
    peers: BTreeMap<IpAddr, u64>,
}

impl RetransmitEvents {
    pub(super) fn open() -> Result<Self, Unavailable> {
        let events = Tracepoint::open("tcp/tcp_retransmit_skb")?;
        let field = |name: &str| {
            events.format().field(name).ok_or_else(|| Unavailable {
                what: format!("{name} of tcp/tcp_retransmit_skb"),
                reason: linux::Reason::Unsupported,
            })
        };
        let (family, v4, v6) = (field("family")?, field("daddr")?, field("daddr_v6")?);
        Ok(Self { events, family, v4, v6, peers: BTreeMap::new() })
    }

    pub(super) fn drain(&mut self) {
        let Self { events, family, v4, v6, peers } = self;
        events.drain(|event| {
            let event = event.bytes;
            let address: Option<IpAddr> = match family.number(event) {
                Some(AF_INET) => v4.bytes(event).and_then(four).map(|octets| Ipv4Addr::from(octets).into()),
                Some(AF_INET6) => v6.bytes(event).and_then(sixteen).map(|octets| Ipv6Addr::from(octets).into()),
                _ => None,
            };
            if let Some(address) = address {
                *peers.entry(address.to_canonical()).or_default() += 1;
            }
        });
    }

    pub(super) fn take(&mut self) -> Retransmits {
        self.drain();
        let peers = std::mem::take(&mut self.peers);
        Retransmits { way: RetransmitWay::Events, peers, missed: self.events.take_lost() }
    }
}

fn four(bytes: &[u8]) -> Option<[u8; 4]> {
    bytes.try_into().ok()
}

fn sixteen(bytes: &[u8]) -> Option<[u8; 16]> {
    bytes.try_into().ok()
}

/// The counters of sockets at the last reading, by the number that names a socket for ever.
#[derive(Debug, Default)]
pub(super) struct RetransmitCounters(BTreeMap<u64, u32>);

/// What each socket has sent again since it is there.
pub(super) type SocketTotals = BTreeMap<u64, (IpAddr, u32)>;

/// The counters of all sockets in the network namespace of the calling thread.
pub(super) fn sockets() -> Result<SocketTotals, NetlinkError> {
    let mut diag = SockDiag::open()?;
    let mut totals = SocketTotals::new();
    for family in [Family::V4, Family::V6] {
        for record in diag.discover(Selection { family, transport: Transport::Tcp, states: sending() })? {
            let again = record.tcp_info.as_ref().and_then(linux::tcp_info::TcpInfo::tcpi_total_retrans);
            if let Some(again) = again {
                totals.insert(record.cookie, (record.remote.ip().to_canonical(), again));
            }
        }
    }
    Ok(totals)
}

impl RetransmitCounters {
    /// What was sent again since the last reading. A socket that was not there then has sent it all since.
    pub(super) fn advance(&mut self, now: &SocketTotals) -> Retransmits {
        let mut peers = BTreeMap::new();
        for (cookie, &(peer, total)) in now {
            // 32 bits, which wrap.
            let before = self.0.get(cookie).copied().unwrap_or(0);
            let more = total.wrapping_sub(before);
            if more > 0 {
                *peers.entry(peer).or_default() += u64::from(more);
            }
        }
        self.0 = now.iter().map(|(&cookie, &(_, total))| (cookie, total)).collect();
        Retransmits { way: RetransmitWay::Sockets, peers, missed: 0 }
    }
}

/// States in which a socket sends.
fn sending() -> StateSet {
    let states = [TcpState::FinWait1, TcpState::CloseWait, TcpState::LastAck, TcpState::Closing, TcpState::SynSent];
    states.into_iter().fold(StateSet::of(TcpState::Established), |set, state| set | StateSet::of(state))
}

const AF_INET: u64 = 2; // include/linux/socket.h
const AF_INET6: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_socket_counts_from_zero_and_an_ended_one_takes_its_count_along() {
        let peer: IpAddr = "192.0.2.1".parse().unwrap();
        let at = |sockets: &[(u64, u32)]| sockets.iter().map(|&(cookie, total)| (cookie, (peer, total))).collect();
        let mut counters = RetransmitCounters::default();
        counters.advance(&at(&[(1, 100)]));
        assert_eq!(counters.advance(&at(&[(1, 104), (2, 3)])).peers, [(peer, 7)].into());
        assert_eq!(counters.advance(&at(&[(2, 3)])).peers, BTreeMap::new());
        assert_eq!(counters.advance(&at(&[(2, 1)])).peers[&peer], u64::from(u32::MAX) - 1, "over the end");
    }
}
