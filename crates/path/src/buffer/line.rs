//! Trains in a row: first come, first served, and counted.

use std::collections::VecDeque;

use crate::train::{FrameId, Train};

/// Trains that wait, the first in front.
#[derive(Debug)]
pub(crate) struct Line {
    trains: VecDeque<Train>,
    bytes: u64,
    packets: u64,
    /// How many of the trains are not phantoms.
    real: usize,
}

/// How much is taken from a line at once. One packet always is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch {
    /// Most bytes on the link.
    pub(crate) bytes: u64,
    /// Most packets.
    pub(crate) packets: u32,
}

impl Batch {
    /// A single packet.
    pub(crate) const ONE: Self = Self { bytes: 0, packets: 1 };

    /// How many packets of a train it holds.
    #[inline]
    pub(crate) fn packets_of(self, train: &Train) -> u32 {
        train.packets_within(self.bytes).min(self.packets).max(1)
    }
}

impl Line {
    pub(crate) fn new() -> Self {
        Self { trains: VecDeque::with_capacity(FIRST_ROOM), bytes: 0, packets: 0, real: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.trains.is_empty()
    }

    /// Whether anything but phantoms waits.
    pub(crate) fn holds_real(&self) -> bool {
        self.real > 0
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Train> {
        self.trains.front()
    }

    /// Puts a train at the end, as a part of the last where it goes on with that.
    #[inline]
    pub(crate) fn push(&mut self, train: Train) {
        self.bytes += train.bytes().get();
        self.packets += u64::from(train.count.get());
        if train.first > 0
            && let Some(last) = self.trains.back_mut()
            && let Some(joined) = last.joined(&train)
        {
            *last = joined;
            return;
        }
        self.real += usize::from(train.frame != FrameId::PHANTOM);
        self.trains.push_back(train);
    }

    /// Takes packets of one train from the front.
    #[inline(always)]
    pub(crate) fn pop(&mut self, batch: Batch) -> Option<Train> {
        let front = self.trains.front_mut()?;
        let count = batch.packets_of(front);
        let taken = if count < front.count.get() {
            let (taken, rest) = front.split_front(count);
            *front = rest?;
            taken?
        } else {
            self.real -= usize::from(front.frame != FrameId::PHANTOM);
            self.trains.pop_front()?
        };
        self.bytes -= taken.bytes().get();
        self.packets -= u64::from(taken.count.get());
        Some(taken)
    }
}

/// Trains for which a queue has room from its start, so that it seldom grows later.
const FIRST_ROOM: usize = 1_024;
