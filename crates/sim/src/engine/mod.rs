//! Pairs of hosts, a path there and a path back, and the clock.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the clock, and who is called when |
//! | `pair` | the two hosts of a flow |
//! | `back` | the way of the acknowledgements |
//! | `arrivals` | what has come to the end of a way, or was lost on it |
//! | `slots` | acknowledgements on their way |
//! | `probes` | single packets beside the flows |

mod arrivals;
mod back;
mod pair;
mod probes;
mod slots;

use path::{Chain, Grain, PacketKind, PathElement, Seed, SpecError, Train};
use units::MonoTime;

use crate::packet::{self, SYN};
use crate::receiver::{Acknowledgement, Arrival};
use crate::tap::{Stamps, Tap, TapAck, TapPacket, TapPoint, stamp_ms};
use arrivals::Arrivals;
use back::Back;
pub(crate) use pair::Pair;
use probes::Probes;

/// Everything between hosts, with the hosts.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) now: MonoTime,
    /// A sender and a receiver each, by the number of their flow.
    pub(crate) pairs: Vec<Pair>,
    /// Flows that began or came to their end since somebody looked.
    pub(crate) news: Vec<usize>,
    forward: Chain,
    at_receiver: Arrivals,
    reverse: Back,
    /// Their flow has the number after those of the pairs.
    pub(crate) probes: Probes,
    /// Flows whose hosts did something in this step.
    busy: Vec<usize>,
    /// When a host of each pair does something by itself, and the first of that.
    dues: Vec<MonoTime>,
    hosts: MonoTime,
    /// Where somebody captures packets.
    pub(crate) tap: Option<Box<Tap>>,
}

/// When something happens next, and on which way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    pub(crate) at: MonoTime,
    forward: MonoTime,
    reverse: MonoTime,
}

const NEVER: MonoTime = MonoTime::from_nanos(u64::MAX);

impl Engine {
    /// Hosts that have not spoken yet.
    pub(crate) fn new(
        there: &[PathElement],
        back: &[PathElement],
        seed: Seed,
        pairs: Vec<Pair>,
    ) -> Result<Self, SpecError> {
        let start = MonoTime::default();
        let dues: Vec<MonoTime> = pairs.iter().map(Pair::due).collect();
        let (chain, after) = Chain::cut(there, seed.part(0), start)?;
        Ok(Self {
            now: start,
            news: Vec::with_capacity(2 * pairs.len()),
            forward: chain,
            at_receiver: Arrivals::new(pairs.len() + 1, there.len(), after),
            reverse: Back::new(back, seed.part(1), start, pairs.len() + 1)?,
            probes: Probes::default(),
            busy: Vec::with_capacity(pairs.len()),
            hosts: dues.iter().copied().min().unwrap_or(NEVER),
            dues,
            pairs,
            tap: None,
        })
    }

    /// See [`Chain::coarsen`].
    pub(crate) fn coarsen(&mut self, grain: Grain) {
        self.forward.coarsen(grain);
    }

    /// Sends a probe now, beside the flows.
    pub(crate) fn probe(&mut self) {
        let (now, number) = (self.now, self.probes.send(self.now));
        self.forward.offer(now, packet::probe(self.pairs.len(), number), &mut self.at_receiver);
        self.receive(now);
    }

    /// What was dropped of a flow on the way there, and back.
    pub(crate) fn drops(&self, flow: usize) -> [Vec<arrivals::Dropped>; 2] {
        [self.at_receiver.drops(flow), self.reverse.drops(flow)]
    }

    /// Packets of a flow that were larger than a link carries.
    pub(crate) fn refused(&self, flow: usize) -> u64 {
        self.at_receiver.refused(flow) + self.reverse.refused(flow)
    }

    /// When something happens next.
    pub(crate) fn next_at(&self) -> MonoTime {
        self.look_ahead().at
    }

    /// When something happens next, by itself or at a host.
    fn look_ahead(&self) -> Due {
        let forward = self.forward.due().unwrap_or(NEVER).min(self.at_receiver.due());
        let reverse = self.reverse.due();
        Due { at: forward.min(reverse).min(self.hosts), forward, reverse }
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
        if due.forward <= now {
            self.forward.advance(now, &mut self.at_receiver);
            self.receive(now);
        }
        if due.reverse <= now {
            self.reverse.advance(now);
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
        self.empty_inbox(flow, now);
        let pair = &mut self.pairs[flow];
        if let Some(ack) = pair.receiver.advance(now) {
            self.say(flow, ack, now);
        }
        let pair = &mut self.pairs[flow];
        if pair.knocks(now) {
            self.tapped(TapPoint::Sender, flow, TapPacket::Syn);
            self.forward.offer(now, packet::syn(flow), &mut self.at_receiver);
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
                self.tapped_data(TapPoint::Sender, &train);
                self.forward.offer(now, train, &mut self.at_receiver);
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
            if flow == self.pairs.len() {
                self.answer(&train, now);
                continue;
            }
            if train.frame == SYN {
                self.tapped(TapPoint::Receiver, flow, TapPacket::Syn);
                let window = self.pairs[flow].receiver.begins(now, !train.edits.window_scale_stripped);
                self.say_syn(flow, window, now);
            } else if !train.edits.corrupted {
                self.tapped_data(TapPoint::Receiver, &train);
                let pair = &mut self.pairs[flow];
                match &mut pair.inbox {
                    Some(inbox) => {
                        let order = pair.receiver.order_of(train.frame.0 + train.first);
                        inbox.came(train, order, now);
                    }
                    None => self.take(flow, &train, now),
                }
            }
            self.note_busy(flow);
        }
    }

    /// A probe has come: the answer has its number.
    fn answer(&mut self, probe: &Train, now: MonoTime) {
        let said = Acknowledgement { to: probe.frame.0, ..Acknowledgement::default() };
        self.probes.arrived(said.to, now);
        self.reverse.send(now, self.pairs.len(), PacketKind::Other, said);
        self.hear(now);
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

    /// What the receiving host has taken from its NIC by now comes to TCP.
    fn empty_inbox(&mut self, flow: usize, now: MonoTime) {
        while let Some(train) = self.pairs[flow].inbox.as_mut().and_then(|inbox| inbox.take(now)) {
            self.take(flow, &train, now);
            let pair = &mut self.pairs[flow];
            let Some(inbox) = &mut pair.inbox else { return };
            if let Some(next) = inbox.next() {
                let order = pair.receiver.order_of(next.frame.0 + next.first);
                inbox.begin(order, now);
            }
        }
    }

    fn say_syn(&mut self, flow: usize, window: u64, now: MonoTime) {
        if !self.pairs[flow].is_established() {
            let said = Acknowledgement { window, said_ms: stamp_ms(now), ..Acknowledgement::default() };
            self.tapped(TapPoint::Receiver, flow, TapPacket::SynAck { window, said_ms: said.said_ms });
            self.reverse.send(now, flow, PacketKind::TcpSyn, said);
            self.hear(now);
        }
    }

    fn say(&mut self, flow: usize, mut ack: Acknowledgement, now: MonoTime) {
        ack.said_ms = stamp_ms(now);
        self.tapped(TapPoint::Receiver, flow, TapPacket::Ack(TapAck::from(&ack)));
        self.reverse.send(now, flow, PacketKind::TcpControl, ack);
        self.hear(now);
    }

    fn hear(&mut self, now: MonoTime) {
        while let Some((flow, ack)) = self.reverse.arrived(now) {
            if flow == self.pairs.len() {
                self.probes.answered(ack.to, now);
                continue;
            }
            if self.tap.is_some() {
                self.tapped_ack(flow, &ack);
            }
            if self.pairs[flow].hears(&ack, now) {
                self.news.push(flow);
            }
            self.note_busy(flow);
        }
    }

    /// A packet passes a host.
    #[inline]
    fn tapped(&mut self, point: TapPoint, flow: usize, packet: TapPacket) {
        if let Some(tap) = &mut self.tap {
            tap.passes(point, self.now, flow, packet);
        }
    }

    #[inline]
    fn tapped_data(&mut self, point: TapPoint, train: &Train) {
        if self.tap.is_some() {
            let is_marked = train.ecn == path::Ecn::Marked;
            let (flow, first) = (packet::flow(train), train.frame.0 + train.first);
            let echo = self.pairs[flow].heard_ms;
            let now = self.now;
            let Some(tap) = &mut self.tap else { return };
            if point == TapPoint::Sender {
                tap.stamped(flow, first, Stamps { value: stamp_ms(now), echo });
            }
            let stamps = tap.stamps(flow, first);
            tap.passes(point, now, flow, TapPacket::Data { first, count: train.count.get(), is_marked, stamps });
        }
    }

    /// The first that the sender hears ends the handshake.
    fn tapped_ack(&mut self, flow: usize, ack: &Acknowledgement) {
        if self.pairs[flow].is_established() {
            self.tapped(TapPoint::Sender, flow, TapPacket::Ack(TapAck::from(ack)));
        } else {
            self.tapped(TapPoint::Sender, flow, TapPacket::SynAck { window: ack.window, said_ms: ack.said_ms });
            self.tapped(TapPoint::Sender, flow, TapPacket::Established);
        }
    }
}
