//! From what both ends counted to one measurement on one clock. Pure: no socket, no clock of its own.
//!
//! * [`claims`]: what a peer says that cannot be true
//! * [`clock`]: the peer's clock related to ours
//! * [`flows`]: each stream, its two ends put together
//! * [`totals`]: sums for each direction, and when the rate became steady
//! * [`timeline`]: payload over time, and the intervals cut from it

pub mod claims;
pub mod clock;
pub mod flows;
pub mod timeline;
pub mod totals;

use model::measurement::ClockRelation;
use units::MonoTime;

use clock::to_local;

/// The peer's clock as seen from the start of our test.
#[derive(Debug, Clone, Copy)]
pub struct PeerTime {
    /// How its clock relates to ours.
    pub relation: ClockRelation,
    /// When its test started, on its clock.
    pub peer_start: MonoTime,
    /// When our test started, on our clock.
    pub local_start: MonoTime,
}

impl PeerTime {
    /// From our start to the peer's, in nanoseconds; negative where the peer started first.
    #[must_use]
    pub fn peer_start_ns(&self) -> i64 {
        to_local(&self.relation, self.peer_start, self.peer_start).signed_nanos_since(self.local_start)
    }

    /// A time from the peer's start, counted from ours, in microseconds.
    #[must_use]
    pub fn from_peer_us(&self, micros: i64) -> i64 {
        let peer = MonoTime::from_nanos(self.peer_start.as_nanos().saturating_add_signed(micros.saturating_mul(1_000)));
        to_local(&self.relation, peer, self.peer_start).signed_nanos_since(self.local_start).div_euclid(1_000)
    }
}
