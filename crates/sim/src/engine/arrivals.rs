//! What has come to the end of a chain, or was lost on it.

use path::reason::Drop;
use path::{Place, Train, Watcher};
use units::{MonoTime, Mtu, PacketCount};

use crate::packet;

/// The element that dropped packets, why, and how many.
pub(crate) type Dropped = (usize, Drop, PacketCount);

/// See the module.
#[derive(Debug)]
pub(super) struct Arrivals {
    pub(super) trains: Vec<Train>,
    pub(super) gone: Vec<Train>,
    pub(super) twice: Vec<Train>,
    places: usize,
    /// Packets dropped, for each flow, place and reason.
    dropped: Vec<u64>,
    /// Packets refused, for each flow.
    refused: Vec<u64>,
}

impl Arrivals {
    pub(super) fn new(flows: usize, places: usize) -> Self {
        Self {
            trains: Vec::new(),
            gone: Vec::new(),
            twice: Vec::new(),
            places,
            dropped: vec![0; flows * places * Drop::ALL.len()],
            refused: vec![0; flows],
        }
    }

    /// Whether nobody need look at it.
    pub(super) fn is_empty(&self) -> bool {
        self.trains.is_empty() && self.gone.is_empty()
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
    fn delivered(&mut self, _at: MonoTime, train: Train) {
        self.trains.push(train);
    }

    fn dropped(&mut self, _at: MonoTime, place: Place, reason: Drop, train: Train) {
        let index = self.index(packet::flow(&train), place.index(), reason);
        self.dropped[index] += u64::from(train.count.get());
        self.gone.push(train);
    }

    fn duplicated(&mut self, _at: MonoTime, _place: Place, train: Train) {
        self.twice.push(train);
    }

    fn refused(&mut self, _at: MonoTime, _place: Place, _mtu: Mtu, train: Train) {
        self.refused[packet::flow(&train)] += u64::from(train.count.get());
    }
}
