//! How an element says what becomes of packets, and who hears it.

use std::collections::VecDeque;

use units::{ByteCount, MonoTime, Mtu};

use crate::chain::ElementIndex;
use crate::reason::{Delay, Drop, Mark};
use crate::tally::Tally;
use crate::train::{Ecn, Train};

/// The driver of a chain: it is told what became of each packet.
///
/// Each packet that was offered ends exactly once, delivered or dropped, and so does each that was duplicated on the
/// way. Phantoms are not told of.
pub trait Watcher {
    /// The train has come to the end of the chain, or comes there at a later instant where the chain is [cut](crate::Chain::cut).
    fn delivered(&mut self, at: MonoTime, train: Train);

    /// These packets are gone.
    fn dropped(&mut self, at: MonoTime, place: ElementIndex, reason: Drop, train: Train);

    /// The ECN field of these packets was changed to what the train says.
    fn marked(&mut self, at: MonoTime, place: ElementIndex, reason: Mark, train: Train) {
        let _ = (at, place, reason, train);
    }

    /// These packets leave a queue, or go past one that is empty: what a switch with telemetry in the band (INT) reports of them.
    fn left_queue(&mut self, place: ElementIndex, stay: QueueStay, train: &Train) {
        let _ = (place, stay, train);
    }

    /// These packets are there once more.
    fn duplicated(&mut self, at: MonoTime, place: ElementIndex, train: Train);

    /// The sender of these packets is to be told that the link carries no more than `mtu` (RFC 1191, RFC 8201). They
    /// are dropped besides.
    fn refused(&mut self, at: MonoTime, place: ElementIndex, mtu: Mtu, train: Train) {
        let _ = (at, place, mtu, train);
    }
}

/// How packets waited in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueStay {
    /// When they came.
    pub came: MonoTime,
    /// When they left.
    pub left: MonoTime,
    /// What stood in the queue then, these packets left out.
    pub standing: ByteCount,
}

/// What an element is given with each call.
pub struct Outlet<'a> {
    pub(crate) now: MonoTime,
    pub(crate) place: ElementIndex,
    pub(crate) next: &'a mut VecDeque<(usize, MonoTime, Train)>,
    /// Whether what is let through is at the end of the chain.
    pub(crate) is_last: bool,
    /// Whether the next element, or who stands at the end, takes trains before they come.
    pub(crate) is_ahead: bool,
    pub(crate) watcher: &'a mut dyn Watcher,
    pub(crate) tally: &'a mut Tally,
}

impl Outlet<'_> {
    /// The instant of this call.
    #[must_use]
    #[inline]
    pub fn now(&self) -> MonoTime {
        self.now
    }

    /// Lets a train through, now.
    #[inline]
    pub fn pass(&mut self, train: Train) {
        self.tally.passed(&train);
        self.hand_on(train, self.now);
    }

    /// Lets a train through that is out at a later instant, where [who is next](Self::is_ahead) takes it before.
    #[inline]
    pub(crate) fn pass_at(&mut self, train: Train, at: MonoTime) {
        self.tally.passed(&train);
        self.hand_on(train, at);
    }

    /// Drops packets.
    pub fn drop(&mut self, train: Train, reason: Drop) {
        self.tally.dropped(&train, reason);
        self.watcher.dropped(self.now, self.place, reason, train);
    }

    /// Rewrites the ECN field of packets and returns them. They are not let through by that.
    #[must_use]
    pub fn mark(&mut self, train: Train, ecn: Ecn, reason: Mark) -> Train {
        let mut train = Train { ecn, ..train };
        train.edits.ecn_rewritten = true;
        self.tally.marked(&train, reason);
        self.watcher.marked(self.now, self.place, reason, train);
        train
    }

    /// Lets packets through once more than they are.
    pub fn duplicate(&mut self, train: Train) {
        self.tally.duplicated(&train);
        self.watcher.duplicated(self.now, self.place, train);
        self.hand_on(train, self.now);
    }

    /// Drops packets that are larger than the link carries, and has their sender told.
    pub fn refuse(&mut self, train: Train, mtu: Mtu) {
        self.watcher.refused(self.now, self.place, mtu, train);
        self.drop(train, Drop::TooBig);
    }

    #[inline]
    fn hand_on(&mut self, train: Train, at: MonoTime) {
        if self.is_last {
            self.watcher.delivered(at, train);
        } else {
            self.next.push_back((self.place.index() + 1, at, train));
        }
    }

    /// Notes how a train waited in a queue.
    #[inline]
    pub(crate) fn left_queue(&mut self, train: &Train, reason: Delay, stay: QueueStay) {
        self.tally.delayed(train, reason, stay.came, stay.left);
        self.watcher.left_queue(self.place, stay, train);
    }

    /// Notes that a train was held between two instants, for a reason.
    #[inline]
    pub fn delayed(&mut self, train: &Train, reason: Delay, from: MonoTime, until: MonoTime) {
        self.tally.delayed(train, reason, from, until);
    }
}
