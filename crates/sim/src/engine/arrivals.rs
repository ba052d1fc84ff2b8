//! What comes to the end of a chain, or was lost on it.

use std::collections::VecDeque;
use std::time::Duration;

use path::reason::Drop;
use path::{ElementIndex, Train, Watcher};
use units::{MonoTime, Mtu, PacketCount};

use super::NEVER;
use crate::packet;

/// The element that dropped packets, why, and how many.
pub(crate) type Dropped = (usize, Drop, PacketCount);

/// See the module.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// In the order in which they arrive, with the instant of that.
    trains: VecDeque<(MonoTime, Train)>,
    /// How long the way from the end of the chain is.
    after: Duration,
    pub(super) gone: Vec<Train>,
    pub(super) twice: Vec<Train>,
    places: usize,
    /// Packets dropped, for each flow, place and reason.
    dropped: Vec<u64>,
    /// Packets refused, for each flow.
    refused: Vec<u64>,
}

impl Arrivals {
    pub(super) fn new(flows: usize, places: usize, after: Duration) -> Self {
        Self {
            trains: VecDeque::with_capacity(FIRST_ROOM),
            after,
            gone: Vec::new(),
            twice: Vec::new(),
            places,
            dropped: vec![0; flows * places * Drop::ALL.len()],
            refused: vec![0; flows],
        }
    }

    /// When the next arrives.
    #[inline]
    pub(super) fn due(&self) -> MonoTime {
        self.trains.front().map_or(NEVER, |(at, _)| *at)
    }

    /// The next that has arrived.
    #[inline]
    pub(super) fn arrived(&mut self, now: MonoTime) -> Option<Train> {
        self.trains.pop_front_if(|(at, _)| *at <= now).map(|(_, train)| train)
    }

    pub(super) fn drops(&self, flow: usize) -> Vec<Dropped> {
        let mut drops = Vec::new();
        for place in 0..self.places {
            for reason in Drop::ALL {
                let count = self.dropped[self.index(flow, place, reason)];
                if count > 0 {
                    drops.push((place, reason, PacketCount::new(count)));
                }
            }
        }
        drops
    }

    pub(super) fn refused(&self, flow: usize) -> u64 {
        self.refused[flow]
    }

    fn index(&self, flow: usize, place: usize, reason: Drop) -> usize {
        (flow * self.places + place) * Drop::ALL.len() + reason as usize
    }
}

impl Watcher for Arrivals {
    fn delivered(&mut self, at: MonoTime, train: Train) {
        self.trains.push_back((at + self.after, train));
    }

    fn dropped(&mut self, _at: MonoTime, place: ElementIndex, reason: Drop, train: Train) {
        let index = self.index(packet::flow(&train), place.index(), reason);
        self.dropped[index] += u64::from(train.count.get());
        self.gone.push(train);
    }

    fn duplicated(&mut self, _at: MonoTime, _place: ElementIndex, train: Train) {
        self.twice.push(train);
    }

    fn refused(&mut self, _at: MonoTime, _place: ElementIndex, _mtu: Mtu, train: Train) {
        self.refused[packet::flow(&train)] += u64::from(train.count.get());
    }
}

/// Trains for which there is room from the start.
const FIRST_ROOM: usize = 1_024;
