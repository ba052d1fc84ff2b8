//! The budget: the life of a transfer, cut into intervals with one owner each.

use serde::Serialize;

/// What limited the sender in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Owner {
    /// The connection was not established.
    Handshake,
    /// The sender waited for its retransmission timer.
    Timeout,
    /// Lost segments were retransmitted, and the congestion window was reduced for it.
    Recovery,
    /// The receiver offered no window at all.
    ZeroWindow,
    /// The window that the receiver offers was full.
    ReceiverWindow,
    /// The application had nothing to send.
    Application,
    /// The send buffer was full.
    SendBuffer,
    /// The application wrote no more, or its send buffer was full: these are not distinguished.
    ApplicationOrSendBuffer,
    /// The congestion window was growing exponentially.
    SlowStart,
    /// The congestion window, pacing or the bottleneck itself.
    CongestionWindow,
    /// Nothing: no acknowledgment was captured, and what the sender waited for is not known.
    Unknown,
}

impl Owner {
    /// All of them, in the order of precedence.
    pub const ALL: [Self; 11] = [
        Self::Handshake,
        Self::Timeout,
        Self::Recovery,
        Self::ZeroWindow,
        Self::ReceiverWindow,
        Self::Application,
        Self::SendBuffer,
        Self::ApplicationOrSendBuffer,
        Self::SlowStart,
        Self::CongestionWindow,
        Self::Unknown,
    ];

    /// Its name on the screen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Timeout => "retransmission timeout",
            Self::Recovery => "loss recovery",
            Self::ZeroWindow => "zero window",
            Self::ReceiverWindow => "receiver window",
            Self::Application => "application idle",
            Self::SendBuffer => "send buffer",
            Self::ApplicationOrSendBuffer => "application or send buffer",
            Self::SlowStart => "slow start",
            Self::CongestionWindow => "congestion window or bottleneck",
            Self::Unknown => "not known",
        }
    }
}

/// For how long each owner limited the sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Budget {
    spent_ns: [i64; Owner::ALL.len()],
}

impl Budget {
    #[inline]
    pub(crate) fn add(&mut self, owner: Owner, span_ns: i64) {
        if let Some(spent) = self.spent_ns.get_mut(owner as usize) {
            *spent = spent.saturating_add(span_ns);
        }
    }

    /// What was given to one owner turns out to belong to another.
    pub(crate) fn reassign(&mut self, from: Owner, to: Owner, span_ns: i64) {
        let span_ns = span_ns.min(self.spent_ns(from));
        self.add(from, -span_ns);
        self.add(to, span_ns);
    }

    /// What was given to one owner belongs to another.
    pub(crate) fn reassign_all(&mut self, from: Owner, to: Owner) {
        self.reassign(from, to, self.spent_ns(from));
    }

    pub(crate) fn spent_ns(&self, owner: Owner) -> i64 {
        self.spent_ns.get(owner as usize).copied().unwrap_or_default()
    }

    pub(crate) fn total_ns(&self) -> i64 {
        self.spent_ns.iter().fold(0, |sum, spent| sum.saturating_add(*spent))
    }
}

saved!(Budget { spent_ns });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_damaged_gives_owners_centuries() {
        let mut budget = Budget::default();
        budget.add(Owner::Application, i64::MAX);
        budget.add(Owner::Timeout, i64::MAX);
        assert_eq!(budget.total_ns(), i64::MAX);
    }
}
