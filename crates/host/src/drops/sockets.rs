//! Datagrams that sockets dropped, by flow: which of a host's programs loses them, and from whom.
//!
//! A socket counts what it dropped (`sk_drops`): its receive buffer was full, or a checksum was wrong. The host's `Udp.RcvbufErrors` has the
//! same drops without a name, and those of sockets that have ended meanwhile as well.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use linux::netlink::NetlinkError;
use linux::sock_diag::{Selection, SockDiag, SocketRecord, StateSet};
use linux::sockets::{Family, Transport};
use model::host::drops::FlowDrops;

/// What a socket had dropped when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SocketDrops {
    local: SocketAddr,
    /// None where it takes datagrams of everybody.
    remote: Option<SocketAddr>,
    drops: u32,
}

/// All sockets of UDP by the number that names a socket for ever.
pub(super) type DropsBySocket = BTreeMap<u64, SocketDrops>;

/// The sockets of UDP in the network namespace of the calling thread.
pub(super) fn sockets() -> Result<DropsBySocket, NetlinkError> {
    let mut diag = SockDiag::open()?;
    let mut all = DropsBySocket::new();
    for family in [Family::V4, Family::V6] {
        let selection = Selection { family, transport: Transport::Udp, states: StateSet::ALL };
        let records = diag.discover(selection)?;
        all.extend(records.iter().filter_map(|record| Some((record.cookie, read(record)?))));
    }
    Ok(all)
}

fn read(record: &SocketRecord) -> Option<SocketDrops> {
    let canonical = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let remote = canonical(record.remote);
    let is_connected = remote.port() != 0;
    Some(SocketDrops {
        local: canonical(record.local),
        remote: is_connected.then_some(remote),
        drops: record.memory?.drops?,
    })
}

/// What was dropped from one reading to the next. A socket that is new has dropped since all that it has; one that has ended takes its
/// count along.
pub(super) fn between(before: &DropsBySocket, now: &DropsBySocket) -> Vec<FlowDrops> {
    let grown = now.iter().filter_map(|(cookie, socket)| {
        let earlier = before.get(cookie).map_or(0, |socket| socket.drops);
        // 32 bits, which wrap.
        let datagrams = u64::from(socket.drops.wrapping_sub(earlier));
        (datagrams > 0).then_some(FlowDrops { local: socket.local, remote: socket.remote, datagrams })
    });
    let mut grown: Vec<FlowDrops> = grown.collect();
    grown.sort_by(|one, other| {
        other.datagrams.cmp(&one.datagrams).then((one.local, one.remote).cmp(&(other.local, other.remote)))
    });
    grown.truncate(MOST_FLOWS);
    grown
}

/// Flows of an interval that are kept, those that dropped most.
const MOST_FLOWS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(port: u16, drops: u32) -> SocketDrops {
        SocketDrops { local: SocketAddr::from(([192, 0, 2, 1], port)), remote: None, drops }
    }

    #[test]
    fn what_grew_is_named_the_most_first_and_new_sockets_count_from_zero() {
        let before = DropsBySocket::from([(1, socket(1, u32::MAX)), (2, socket(2, 7)), (3, socket(3, 9))]);
        let now = DropsBySocket::from([(1, socket(1, 2)), (2, socket(2, 7)), (4, socket(4, 30))]);
        let found: Vec<(u16, u64)> =
            between(&before, &now).iter().map(|flow| (flow.local.port(), flow.datagrams)).collect();
        assert_eq!(found, [(4, 30), (1, 3)]);
    }

    #[test]
    fn no_more_flows_are_kept_than_those_that_dropped_most() {
        let many =
            (0..2 * MOST_FLOWS as u64).map(|cookie| (cookie, socket(1, u32::try_from(cookie).unwrap()))).collect();
        let found = between(&DropsBySocket::new(), &many);
        assert_eq!((found.len(), found[0].datagrams), (MOST_FLOWS, 2 * MOST_FLOWS as u64 - 1));
    }
}
