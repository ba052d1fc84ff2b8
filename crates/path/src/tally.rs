//! What an element did, counted.

use std::time::Duration;

use units::{ByteCount, MonoTime, PacketCount};

use crate::reason::{Delay, Drop, Mark};
use crate::train::Train;

/// Counters of one element since its chain began. Phantoms are not counted.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    offered: Amount,
    passed: Amount,
    duplicated: Amount,
    dropped: [Amount; Drop::ALL.len()],
    marked: [Amount; Mark::ALL.len()],
    delayed: [Held; Delay::ALL.len()],
}

/// Packets and their bytes on the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amount {
    /// How many packets.
    pub packets: PacketCount,
    /// How many bytes they had.
    pub bytes: ByteCount,
}

/// How long packets were held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waiting {
    /// How many packets.
    pub packets: PacketCount,
    /// The sum of their times.
    pub total: Duration,
    /// The longest of them.
    pub longest: Duration,
}

/// The same while it is counted: whole nanoseconds, of which 64 bits hold a second for each of 18 thousand million packets.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    packets: u64,
    nanos: u64,
    longest: u64,
}

impl Waiting {
    /// The mean time of a packet; `None` where there was none.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        let packets = u128::from(self.packets.get());
        let mean = self.total.as_nanos().checked_div(packets)?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }
}

impl Tally {
    /// What came.
    #[must_use]
    pub fn offered_amount(&self) -> Amount {
        self.offered
    }

    /// What was let through, without what was duplicated.
    #[must_use]
    pub fn passed_amount(&self) -> Amount {
        self.passed
    }

    /// What was let through once more.
    #[must_use]
    pub fn duplicated_amount(&self) -> Amount {
        self.duplicated
    }

    /// What was dropped for a reason.
    #[must_use]
    pub fn dropped_for(&self, reason: Drop) -> Amount {
        self.dropped[reason as usize]
    }

    /// What was dropped for each reason there was.
    pub fn drops(&self) -> impl Iterator<Item = (Drop, Amount)> {
        Drop::ALL.into_iter().zip(self.dropped).filter(|(_, amount)| amount.packets.get() > 0)
    }

    /// What was marked for a reason.
    #[must_use]
    pub fn marked_for(&self, reason: Mark) -> Amount {
        self.marked[reason as usize]
    }

    /// How long packets were held for a reason.
    #[must_use]
    pub fn delayed_for(&self, reason: Delay) -> Waiting {
        let held = self.delayed[reason as usize];
        Waiting {
            packets: PacketCount::new(held.packets),
            total: Duration::from_nanos(held.nanos),
            longest: Duration::from_nanos(held.longest),
        }
    }

    #[inline]
    pub(crate) fn offered(&mut self, train: &Train) {
        self.offered.add(train);
    }

    #[inline]
    pub(crate) fn passed(&mut self, train: &Train) {
        self.passed.add(train);
    }

    pub(crate) fn duplicated(&mut self, train: &Train) {
        self.duplicated.add(train);
    }

    pub(crate) fn dropped(&mut self, train: &Train, reason: Drop) {
        self.dropped[reason as usize].add(train);
    }

    pub(crate) fn marked(&mut self, train: &Train, reason: Mark) {
        self.marked[reason as usize].add(train);
    }

    #[inline]
    pub(crate) fn delayed(&mut self, train: &Train, reason: Delay, from: MonoTime, until: MonoTime) {
        let nanos = until.as_nanos().saturating_sub(from.as_nanos());
        let held = &mut self.delayed[reason as usize];
        held.packets += u64::from(train.count.get());
        held.nanos = held.nanos.saturating_add(nanos.saturating_mul(u64::from(train.count.get())));
        held.longest = held.longest.max(nanos);
    }
}

impl Amount {
    fn add(&mut self, train: &Train) {
        self.packets = self.packets + PacketCount::new(u64::from(train.count.get()));
        self.bytes += train.bytes();
    }
}
