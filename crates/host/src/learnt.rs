//! What the host's own connections show of its transfers: how far its peers are, how many streams go to one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use audit::profile::Learnt;
use linux::sock_diag::{Selection, SockDiag, SocketRecord, StateSet, TcpState};
use linux::sockets::{Family, Transport};

/// What the connections of this network namespace show that move data at this moment. Those of other namespaces are on
/// other paths, and one that is idle says nothing of how many streams a transfer has. What cannot be read teaches nothing.
#[must_use]
pub fn now() -> Learnt {
    of(&connections())
}

/// A connection that moves data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Transfer {
    peer: IpAddr,
    rtt: Duration,
    bytes: u64,
}

/// The transfers among the connections of the namespace of the calling thread.
fn connections() -> Vec<Transfer> {
    let list = |family| {
        let states = StateSet::of(TcpState::Established);
        SockDiag::open()?.discover(Selection { family, transport: Transport::Tcp, states })
    };
    let found = [Family::V4, Family::V6].into_iter().filter_map(|family| list(family).ok());
    found.flatten().filter_map(|record| transfer(&record)).collect()
}

fn transfer(record: &SocketRecord) -> Option<Transfer> {
    let info = record.tcp_info.as_ref()?;
    let peer = record.remote.ip().to_canonical();
    let bytes = info.tcpi_bytes_acked()?.saturating_add(info.tcpi_bytes_received()?);
    // Without queues: the buffers that a path needs are those of its least round trip. It is all ones before the first
    // (net/ipv4/tcp.c, tcp_init_sock).
    let micros = info.tcpi_min_rtt().filter(|&rtt| rtt != 0 && rtt != u32::MAX).or_else(|| info.tcpi_rtt())?;
    let since_data = [info.tcpi_last_data_sent(), info.tcpi_last_data_recv()].into_iter().flatten().min()?;
    let is_active = since_data <= LONGEST_PAUSE_MS;
    let is_far = !peer.is_loopback() && peer != record.local.ip().to_canonical();
    let is_transfer = is_active && is_far && bytes >= LEAST_BYTES;
    is_transfer.then(|| Transfer { peer, rtt: Duration::from_micros(micros.into()), bytes })
}

fn of(transfers: &[Transfer]) -> Learnt {
    let mut peers: BTreeMap<IpAddr, Vec<&Transfer>> = BTreeMap::new();
    for transfer in transfers {
        peers.entry(transfer.peer).or_default().push(transfer);
    }
    let moved = |transfers: &[&Transfer]| transfers.iter().map(|transfer| u128::from(transfer.bytes)).sum::<u128>();
    let all: u128 = peers.values().map(|transfers| moved(transfers)).sum();
    // A monitor on the other side of the world is no reason for buffers.
    peers.retain(|_, transfers| moved(transfers) * LEAST_SHARE >= all);
    let nearest = |transfers: &Vec<&Transfer>| transfers.iter().map(|transfer| transfer.rtt).min();
    let count = |count: usize| u32::try_from(count).ok().filter(|&count| count > 0);
    Learnt {
        rtt: peers.values().filter_map(nearest).max(),
        streams: peers.values().map(Vec::len).max().and_then(count),
        flows: count(peers.values().map(Vec::len).sum()),
    }
}

/// What moves less is no transfer, but a login, a question, a monitor.
const LEAST_BYTES: u64 = 10 << 20;

/// Milliseconds without data after which a connection is idle. A transfer over the longest paths, stalled for a timeout
/// or two, pauses less (RFC 6298: a timeout is at least a second at first).
const LONGEST_PAUSE_MS: u32 = 3_000;

/// A peer counts with one part of so many of all bytes.
const LEAST_SHARE: u128 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(peer: &str, millis: u64, mebibytes: u64) -> Transfer {
        Transfer { peer: peer.parse().unwrap(), rtt: Duration::from_millis(millis), bytes: mebibytes << 20 }
    }

    #[test]
    fn the_farthest_peer_with_a_share_of_the_traffic_counts() {
        let transfers = [
            transfer("192.0.2.1", 191, 4_000),
            transfer("192.0.2.1", 190, 4_000),
            transfer("192.0.2.1", 250, 4_000),
            transfer("192.0.2.2", 20, 9_000),
            transfer("2001:db8::1", 300, 20),
        ];
        let learnt = of(&transfers);
        assert_eq!(learnt.rtt, Some(Duration::from_millis(190)), "not the one that waits in a queue, nor the monitor");
        assert_eq!((learnt.streams, learnt.flows), (Some(3), Some(4)));
    }

    #[test]
    fn a_host_without_transfers_teaches_nothing() {
        assert_eq!(of(&[]), Learnt::default());
    }
}
