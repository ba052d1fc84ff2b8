//! Two hosts, a path there and a path back, and the clock.

use path::reason::Drop;
use path::{Chain, Place, Seed, SpecError, Stage, Tally, Train, Watcher};
use units::{ByteCount, MonoTime, Mtu};

use crate::packet::{self, SYN};
use crate::receiver::{Acknowledgement, Arrival, Receiver};
use crate::sender::{RTO_INITIAL, Sender};

/// Everything between two hosts, with the hosts.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) now: MonoTime,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    there: Chain,
    back: Chain,
    at_receiver: Arrivals,
    at_sender: Arrivals,
    said: Slots,
    /// When a host does something by itself.
    hosts: MonoTime,
    /// When the handshake began, and when it is tried again; none once the connection stands.
    handshake: Option<(MonoTime, MonoTime)>,
    pub(crate) established: Option<MonoTime>,
    pub(crate) refused: u64,
}

/// What has come to the end of a chain.
#[derive(Debug, Default)]
struct Arrivals {
    trains: Vec<(MonoTime, Train)>,
    gone: Vec<Train>,
    twice: Vec<Train>,
    refused: u64,
}

/// Acknowledgements on their way.
#[derive(Debug, Default)]
struct Slots {
    /// Each with how many of it are under way.
    said: Vec<(Acknowledgement, u32)>,
    free: Vec<u32>,
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
    /// Two hosts that have not spoken yet.
    pub(crate) fn new(
        there: &[Stage],
        back: &[Stage],
        seed: Seed,
        sender: Sender,
        receiver: Receiver,
    ) -> Result<Self, SpecError> {
        let start = MonoTime::default();
        Ok(Self {
            now: start,
            sender,
            receiver,
            there: Chain::new(there, seed.part(0), start)?,
            back: Chain::new(back, seed.part(1), start)?,
            at_receiver: Arrivals::default(),
            at_sender: Arrivals::default(),
            said: Slots::default(),
            hosts: start,
            handshake: Some((start, start)),
            established: None,
            refused: 0,
        })
    }

    pub(crate) fn tallies(&self) -> (impl Iterator<Item = &Tally>, impl Iterator<Item = &Tally>) {
        (self.there.tallies(), self.back.tallies())
    }

    /// When something happens next, by itself or at a host.
    fn look_ahead(&self) -> Due {
        let there = self.there.due().unwrap_or(NEVER);
        let back = self.back.due().unwrap_or(NEVER);
        Due { at: there.min(back).min(self.hosts), there, back }
    }

    /// Brings the clock to what happens next, if that is by `until`.
    pub(crate) fn next(&mut self, until: MonoTime) -> Option<Due> {
        let due = self.look_ahead();
        if due.at == NEVER || due.at > until {
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
            self.back.advance(now, &mut self.at_sender);
            self.hear(now);
        }
        if self.hosts <= now {
            self.advance_hosts(now);
        }
        self.launch(now);
    }

    fn advance_hosts(&mut self, now: MonoTime) {
        if let Some(ack) = self.receiver.advance(now) {
            self.say(ack, now);
        }
        match self.handshake {
            Some((_, again)) if again <= now => self.knock(now),
            None if self.sender.due() <= now => self.sender.advance(now),
            _ => {}
        }
        self.note_hosts();
    }

    /// Keeps when the hosts are due, which is asked for more often than it changes.
    fn note_hosts(&mut self) {
        let sender = match self.handshake {
            Some((_, again)) => again,
            None => self.sender.due(),
        };
        self.hosts = sender.min(self.receiver.due().unwrap_or(NEVER));
    }

    /// Sends the first segment of the connection, again and again.
    fn knock(&mut self, now: MonoTime) {
        self.handshake = Some((now, now + RTO_INITIAL));
        self.there.offer(now, packet::syn(), &mut self.at_receiver);
        self.receive(now);
    }

    /// Brings what left the sending host to the path.
    fn launch(&mut self, now: MonoTime) {
        let mut sent = false;
        while let Some(train) = self.sender.outgoing(now) {
            self.there.offer(now, train, &mut self.at_receiver);
            if !self.at_receiver.is_empty() {
                self.receive(now);
            }
            sent = true;
        }
        if sent {
            self.note_hosts();
        }
    }

    fn receive(&mut self, now: MonoTime) {
        self.refused += std::mem::take(&mut self.at_receiver.refused);
        self.at_receiver.gone.clear();
        self.at_receiver.twice.clear();
        let mut index = 0;
        while let Some((_, train)) = self.at_receiver.trains.get(index).copied() {
            index += 1;
            if train.frame == SYN {
                let window = self.receiver.begins(now, !train.edits.window_scale_stripped);
                self.say_syn(window, now);
                continue;
            }
            // A checksum that is wrong.
            if train.edits.corrupted {
                continue;
            }
            let first = train.frame.0 + train.first;
            let arrival = Arrival { first, count: train.count.get(), marked: train.ecn == path::Ecn::Marked };
            if let Some(ack) = self.receiver.arrived(arrival, self.sender.smoothed_rtt(), now) {
                self.say(ack, now);
            }
        }
        self.at_receiver.trains.clear();
        if index > 0 {
            self.note_hosts();
        }
    }

    fn say_syn(&mut self, window: u64, now: MonoTime) {
        if self.established.is_none() {
            let slot = self.said.keep(Acknowledgement { window, ..Acknowledgement::default() });
            let train = Train { kind: path::Kind::TcpSyn, ..packet::acknowledgement(slot) };
            self.back.offer(now, train, &mut self.at_sender);
            self.hear(now);
        }
    }

    fn say(&mut self, ack: Acknowledgement, now: MonoTime) {
        let slot = self.said.keep(ack);
        self.back.offer(now, packet::acknowledgement(slot), &mut self.at_sender);
        if !self.at_sender.is_empty() {
            self.hear(now);
        }
    }

    fn hear(&mut self, now: MonoTime) {
        for train in self.at_sender.twice.drain(..) {
            self.said.doubled(train.frame.0);
        }
        for train in self.at_sender.gone.drain(..) {
            self.said.take(train.frame.0);
        }
        self.refused += std::mem::take(&mut self.at_sender.refused);
        let mut index = 0;
        while let Some((_, train)) = self.at_sender.trains.get(index).copied() {
            index += 1;
            let ack = self.said.take(train.frame.0);
            if train.edits.corrupted {
                continue;
            }
            match self.handshake.take() {
                Some((began, _)) => {
                    self.established = Some(now);
                    self.sender.established(now, now.since(began), ack.window);
                }
                None => self.sender.acknowledged(&ack, now),
            }
        }
        self.at_sender.trains.clear();
        if index > 0 {
            self.note_hosts();
        }
    }
}

impl Slots {
    fn keep(&mut self, ack: Acknowledgement) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.said[slot as usize] = (ack, 1);
            return slot;
        }
        self.said.push((ack, 1));
        u32::try_from(self.said.len() - 1).unwrap_or(u32::MAX)
    }

    /// The path has made another of it.
    fn doubled(&mut self, slot: u32) {
        self.said[slot as usize].1 += 1;
    }

    /// What was said; one less is under way.
    fn take(&mut self, slot: u32) -> Acknowledgement {
        let (ack, copies) = &mut self.said[slot as usize];
        *copies -= 1;
        if *copies == 0 {
            self.free.push(slot);
        }
        *ack
    }
}

impl Arrivals {
    fn is_empty(&self) -> bool {
        self.trains.is_empty() && self.gone.is_empty()
    }
}

impl Watcher for Arrivals {
    fn delivered(&mut self, at: MonoTime, train: Train) {
        self.trains.push((at, train));
    }

    fn dropped(&mut self, _at: MonoTime, _place: Place, _reason: Drop, train: Train) {
        self.gone.push(train);
    }

    fn duplicated(&mut self, _at: MonoTime, _place: Place, train: Train) {
        self.twice.push(train);
    }

    fn refused(&mut self, _at: MonoTime, _place: Place, _mtu: Mtu, train: Train) {
        self.refused += u64::from(train.count.get());
    }
}

/// Payload in so many segments.
pub(crate) fn payload(segments: u32, mss: u32) -> ByteCount {
    ByteCount::new(u64::from(segments) * u64::from(mss))
}
