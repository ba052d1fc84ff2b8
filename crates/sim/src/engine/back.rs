//! The way of the acknowledgements.

use std::collections::VecDeque;
use std::time::Duration;

use path::{Chain, PacketKind, PathElement, Seed, SpecError, Train};
use units::MonoTime;

use super::NEVER;
use super::arrivals::{Arrivals, Dropped};
use super::slots::Slots;
use crate::packet;
use crate::receiver::Acknowledgement;

/// See the module.
#[derive(Debug)]
pub(super) enum Back {
    /// Any of the elements may do something to them.
    Elements(Box<Elements>),
    /// All take one time, and nothing becomes of them. Most ways back are such, and this saves a fifth of a prediction.
    Straight { time: Duration, on_way: VecDeque<OnWay> },
}

/// An acknowledgement that will arrive.
#[derive(Debug)]
pub(super) struct OnWay {
    at: MonoTime,
    flow: usize,
    ack: Acknowledgement,
}

#[derive(Debug)]
pub(super) struct Elements {
    chain: Chain,
    arrivals: Arrivals,
    said: Slots,
}

impl Back {
    pub(super) fn new(stages: &[PathElement], seed: Seed, start: MonoTime, flows: usize) -> Result<Self, SpecError> {
        let (chain, time) = Chain::cut(stages, seed, start)?;
        Ok(if chain.is_empty() {
            Self::Straight { time, on_way: VecDeque::with_capacity(FIRST_ROOM) }
        } else {
            let arrivals = Arrivals::new(flows, stages.len(), time);
            Self::Elements(Box::new(Elements { chain, arrivals, said: Slots::default() }))
        })
    }

    /// When something happens next by itself.
    #[inline]
    pub(super) fn due(&self) -> MonoTime {
        match self {
            Self::Elements(elements) => elements.chain.due().unwrap_or(NEVER).min(elements.arrivals.due()),
            Self::Straight { on_way, .. } => on_way.front().map_or(NEVER, |first| first.at),
        }
    }

    /// Does what is due by now.
    #[inline]
    pub(super) fn advance(&mut self, now: MonoTime) {
        if let Self::Elements(elements) = self {
            elements.chain.advance(now, &mut elements.arrivals);
            elements.settle();
        }
    }

    /// Sends what the receiver of a flow says.
    pub(super) fn send(&mut self, now: MonoTime, flow: usize, kind: PacketKind, ack: Acknowledgement) {
        match self {
            Self::Elements(elements) => {
                let train = Train { kind, ..packet::acknowledgement(flow, elements.said.keep(ack)) };
                elements.chain.offer(now, train, &mut elements.arrivals);
                elements.settle();
            }
            Self::Straight { time, on_way } => on_way.push_back(OnWay { at: now + *time, flow, ack }),
        }
    }

    /// The next that has arrived whole, with its flow.
    #[inline]
    pub(super) fn arrived(&mut self, now: MonoTime) -> Option<(usize, Acknowledgement)> {
        match self {
            Self::Elements(elements) => elements.arrived(now),
            Self::Straight { on_way, .. } => {
                on_way.pop_front_if(|first| first.at <= now).map(|first| (first.flow, first.ack))
            }
        }
    }

    /// What was dropped of a flow.
    pub(super) fn drops(&self, flow: usize) -> Vec<Dropped> {
        match self {
            Self::Elements(elements) => elements.arrivals.drops(flow),
            Self::Straight { .. } => Vec::new(),
        }
    }

    /// Packets of a flow that were larger than a link carries.
    pub(super) fn refused(&self, flow: usize) -> u64 {
        match self {
            Self::Elements(elements) => elements.arrivals.refused(flow),
            Self::Straight { .. } => 0,
        }
    }
}

impl Elements {
    /// Follows how many there are of each.
    fn settle(&mut self) {
        while let Some(train) = self.arrivals.twice.pop() {
            self.said.doubled(train.frame.0);
        }
        while let Some(train) = self.arrivals.gone.pop() {
            self.said.take(train.frame.0);
        }
    }

    fn arrived(&mut self, now: MonoTime) -> Option<(usize, Acknowledgement)> {
        while let Some(train) = self.arrivals.arrived(now) {
            let ack = self.said.take(train.frame.0);
            if !train.edits.corrupted {
                return Some((packet::flow(&train), ack));
            }
        }
        None
    }
}

/// Acknowledgements for which there is room from the start.
const FIRST_ROOM: usize = 1_024;
