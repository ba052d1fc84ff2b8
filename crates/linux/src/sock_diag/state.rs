//! States of a connection, and sets of them.

use std::ops::BitOr;

/// State of a TCP connection (include/net/tcp_states.h of Linux 6.18).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum TcpState {
    /// Connected.
    Established = 1,
    /// SYN sent.
    SynSent = 2,
    /// SYN received. Listed by the kernel as `NewSynRecv`.
    SynRecv = 3,
    /// Closed by this end, FIN not acknowledged.
    FinWait1 = 4,
    /// Closed by this end.
    FinWait2 = 5,
    /// Closed by both ends, waiting for stray segments to die out.
    TimeWait = 6,
    /// Not connected.
    Close = 7,
    /// Closed by the other end.
    CloseWait = 8,
    /// Closed by the other end and then by this one.
    LastAck = 9,
    /// Waits for connections.
    Listen = 10,
    /// Closed by both ends at once.
    Closing = 11,
    /// SYN received, not yet a socket.
    NewSynRecv = 12,
    /// Bound to an address, not connected; listed where asked for, since Linux 6.8.
    BoundInactive = 13,
}

impl TcpState {
    /// The state of a number of the kernel, such as `tcpi_state`; `None` for one not known here.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        ALL_STATES.into_iter().find(|&state| state as u8 == code)
    }
}

/// A set of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StateSet(u32);

impl StateSet {
    /// Every state that sockets are in without being asked for by name: not `BoundInactive`.
    pub const ALL: Self = Self(0x1fff & !1);

    /// The set of one state.
    #[must_use]
    pub const fn of(state: TcpState) -> Self {
        Self(1 << state as u8)
    }

    /// Whether `state` is in the set.
    #[must_use]
    pub const fn contains(self, state: TcpState) -> bool {
        self.0 & Self::of(state).0 != 0
    }

    /// As the kernel takes it: one bit for each state.
    pub(super) const fn bits(self) -> u32 {
        self.0
    }
}

impl BitOr for StateSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

const ALL_STATES: [TcpState; 13] = [
    TcpState::Established,
    TcpState::SynSent,
    TcpState::SynRecv,
    TcpState::FinWait1,
    TcpState::FinWait2,
    TcpState::TimeWait,
    TcpState::Close,
    TcpState::CloseWait,
    TcpState::LastAck,
    TcpState::Listen,
    TcpState::Closing,
    TcpState::NewSynRecv,
    TcpState::BoundInactive,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_numbers_of_the_kernel() {
        for (index, state) in (1u8..).zip(ALL_STATES) {
            assert_eq!(TcpState::from_code(index), Some(state));
        }
        assert_eq!((TcpState::from_code(0), TcpState::from_code(14)), (None, None));
    }

    #[test]
    fn sets_join() {
        let set = StateSet::of(TcpState::Established) | StateSet::of(TcpState::Listen);
        assert_eq!(set.bits(), 0x402);
        assert!(set.contains(TcpState::Listen) && !set.contains(TcpState::Close));
        assert!(StateSet::ALL.contains(TcpState::NewSynRecv) && !StateSet::ALL.contains(TcpState::BoundInactive));
    }
}
