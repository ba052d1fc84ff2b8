//! Pairs of hosts, a path there and a path back, and the clock.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the clock, and who is called when |
//! | `pair` | the two hosts of a flow |
//! | `back` | the way of the acknowledgements |
//! | `arrivals` | what has come to the end of a way, or was lost on it |
//! | `slots` | acknowledgements on their way |

mod arrivals;
mod back;
mod pair;
mod slots;

use path::{Chain, Kind, Seed, SpecError, Stage, Train};
use units::MonoTime;

use crate::packet::{self, SYN};
use crate::receiver::{Acknowledgement, Arrival};
use arrivals::Arrivals;
use back::Back;
pub(crate) use pair::Pair;

/// Everything between hosts, with the hosts.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) now: MonoTime,
    /// A sender and a receiver each, by the number of their flow.
    pub(crate) pairs: Vec<Pair>,
    /// Flows that began or came to their end since somebody looked.
    pub(crate) news: Vec<usize>,
    there: Chain,
    at_receiver: Arrivals,
    back: Back,
    /// Flows whose hosts did something in this step.
    busy: Vec<usize>,
    /// When a host of each pair does something by itself, and the first of that.
    dues: Vec<MonoTime>,
    hosts: MonoTime,
}

/// When something happens next, and on which way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    pub(crate) at: MonoTime,
    there: MonoTime,
    back: MonoTime,
}

const NEVER: MonoTime = MonoTime::from_nanos(u64::MAX);

impl Engine {
    /// Hosts that have not spoken yet.
    pub(crate) fn new(there: &[Stage], back: &[Stage], seed: Seed, pairs: Vec<Pair>) -> Result<Self, SpecError> {
        let start = MonoTime::default();
        let dues: Vec<MonoTime> = pairs.iter().map(Pair::due).collect();
        let (chain, after) = Chain::cut(there, seed.part(0), start)?;
        Ok(Self {
            now: start,
            news: Vec::with_capacity(2 * pairs.len()),
            there: chain,
            at_receiver: Arrivals::new(pairs.len(), there.len(), after),
            back: Back::new(back, seed.part(1), start, pairs.len())?,
            busy: Vec::with_capacity(pairs.len()),
            hosts: dues.iter().copied().min().unwrap_or(NEVER),
            dues,
            pairs,
        })
    }

    /// What was dropped of a flow on the way there, and back.
    pub(crate) fn drops(&self, flow: usize) -> [Vec<arrivals::Dropped>; 2] {
        [self.at_receiver.drops(flow), self.back.drops(flow)]
    }

    /// Packets of a flow that were larger than a link carries.
    pub(crate) fn refused(&self, flow: usize) -> u64 {
        self.at_receiver.refused(flow) + self.back.refused(flow)
    }

    /// When something happens next, by itself or at a host.
    fn look_ahead(&self) -> Due {
        let there = self.there.due().unwrap_or(NEVER).min(self.at_receiver.due());
        let back = self.back.due();
        Due { at: there.min(back).min(self.hosts), there, back }
    }

    /// Brings the clock to what happens next, if that is before an instant.
    pub(crate) fn next_before(&mut self, instant: MonoTime) -> Option<Due> {
        let due = self.look_ahead();
        if due.at >= instant {
            return None;
        }
        self.now = due.at;
        Some(due)
    }

    /// Does what is due.
    pub(crate) fn step(&mut self, due: Due) {
        let now = due.at;
        if due.there <= now {
            self.there.advance(now, &mut self.at_receiver);
            self.receive(now);
        }
        if due.back <= now {
            self.back.advance(now);
            self.hear(now);
        }
        if self.hosts <= now {
            for flow in 0..self.pairs.len() {
                if self.dues[flow] <= now {
                    self.advance_hosts(flow, now);
                }
            }
        }
        self.launch(now);
    }

    /// The application of a flow writes no more.
    pub(crate) fn close(&mut self, flow: usize) {
        self.pairs[flow].sender.close();
        self.note_hosts(flow);
    }

    fn advance_hosts(&mut self, flow: usize, now: MonoTime) {
        let pair = &mut self.pairs[flow];
        if let Some(ack) = pair.receiver.advance(now) {
            self.say(flow, ack, now);
        }
        let pair = &mut self.pairs[flow];
        if pair.knocks(now) {
            self.there.offer(now, packet::syn(flow), &mut self.at_receiver);
            self.receive(now);
        } else if pair.is_established() && pair.sender.due() <= now {
            pair.sender.advance(now);
        }
        self.note_busy(flow);
    }

    /// Keeps when the hosts of a pair are due, which is asked for more often than it changes.
    fn note_hosts(&mut self, flow: usize) {
        let due = self.pairs[flow].due();
        let before = std::mem::replace(&mut self.dues[flow], due);
        if due <= self.hosts {
            self.hosts = due;
        } else if before == self.hosts {
            self.hosts = self.dues.iter().copied().min().unwrap_or(NEVER);
        }
    }

    fn note_busy(&mut self, flow: usize) {
        if self.busy.last() != Some(&flow) {
            self.busy.push(flow);
        }
    }

    /// Brings what left the sending hosts to the path: last in a step, when nothing that has come is still looked at.
    fn launch(&mut self, now: MonoTime) {
        let mut index = 0;
        while let Some(flow) = self.busy.get(index).copied() {
            index += 1;
            while let Some(train) = self.pairs[flow].sender.outgoing(now) {
                self.there.offer(now, train, &mut self.at_receiver);
                self.receive(now);
            }
            self.note_hosts(flow);
        }
        self.busy.clear();
    }

    fn receive(&mut self, now: MonoTime) {
        // What becomes of segments is told by their receiver.
        self.at_receiver.gone.clear();
        self.at_receiver.twice.clear();
        while let Some(train) = self.at_receiver.arrived(now) {
            let flow = packet::flow(&train);
            if train.frame == SYN {
                let window = self.pairs[flow].receiver.begins(now, !train.edits.window_scale_stripped);
                self.say_syn(flow, window, now);
            } else if !train.edits.corrupted {
                self.take(flow, &train, now);
            }
            self.note_busy(flow);
        }
    }

    fn take(&mut self, flow: usize, train: &Train, now: MonoTime) {
        let pair = &mut self.pairs[flow];
        let arrival = Arrival {
            first: train.frame.0 + train.first,
            count: train.count.get(),
            marked: train.ecn == path::Ecn::Marked,
        };
        if let Some(ack) = pair.receiver.arrived(arrival, pair.sender.smoothed_rtt(), now) {
            self.say(flow, ack, now);
        }
    }

    fn say_syn(&mut self, flow: usize, window: u64, now: MonoTime) {
        if !self.pairs[flow].is_established() {
            let said = Acknowledgement { window, ..Acknowledgement::default() };
            self.back.send(now, flow, Kind::TcpSyn, said);
            self.hear(now);
        }
    }

    fn say(&mut self, flow: usize, ack: Acknowledgement, now: MonoTime) {
        self.back.send(now, flow, Kind::TcpControl, ack);
        self.hear(now);
    }

    fn hear(&mut self, now: MonoTime) {
        while let Some((flow, ack)) = self.back.arrived(now) {
            if self.pairs[flow].hears(&ack, now) {
                self.news.push(flow);
            }
            self.note_busy(flow);
        }
    }
}
