//! Transfers under way, one step after the other.

use std::time::Duration;

use path::Grain;
use units::{ByteCount, MonoTime, Mss, PacketCount};

use crate::engine::{Engine, Pair};
use crate::flow::{Flow, FlowError, Outcome, Sample};
use crate::pcap::TapFlow;
use crate::receiver::{Inbox, Receiver};
use crate::sender::{Amount, Sender};
use crate::shared::Shared;
use crate::tap::{Tap, TapEvent, TapPoint};

/// See the module.
#[derive(Debug)]
pub struct Run {
    engine: Engine,
    legs: Vec<Leg>,
    sample_every: Duration,
    /// The first instant at which a sample is due or the time of a transfer is over.
    attention: MonoTime,
    steps: u64,
}

/// How long a probe took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProbeTimes {
    /// To the far end.
    pub forward: Duration,
    /// There and back.
    pub round_trip: Duration,
}

/// What is written down of one transfer.
#[derive(Debug)]
struct Leg {
    amount: Amount,
    time_limit: Duration,
    samples: Vec<Sample>,
    next_sample: Option<MonoTime>,
    outcome: Option<Outcome>,
}

/// Samples for which there is room from the start.
const FIRST_SAMPLES: u128 = 16_384;

impl Run {
    /// Two hosts that have not spoken yet.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn new(flow: &Flow) -> Result<Self, FlowError> {
        Self::shared(&flow.alone())
    }

    /// Hosts that have not spoken yet.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn shared(shared: &Shared) -> Result<Self, FlowError> {
        let segments = shared.check()?;
        let mut pairs = Vec::with_capacity(segments.len());
        for (flow, (transfer, mss)) in shared.transfers.iter().zip(segments).enumerate() {
            let seed = shared.seed.part(2 + flow as u64);
            let sender = Sender::new(&transfer.sender, flow, mss, transfer.amount, seed);
            let receiver = Receiver::new(&transfer.receiver, mss.get());
            let inbox = transfer.receiver.host.map(Inbox::new);
            pairs.push(Pair::new(sender, receiver, inbox, MonoTime::default() + transfer.start));
        }
        let engine = Engine::new(&shared.forward, &shared.reverse, shared.seed, pairs)?;
        let legs = shared.transfers.iter().map(|transfer| Leg::new(transfer.amount, shared)).collect();
        let mut run =
            Self { engine, legs, sample_every: shared.sample_every, attention: MonoTime::default(), steps: 0 };
        run.look_after();
        Ok(run)
    }

    /// Lets queues of the path there let packets out in larger groups: several times cheaper, and exact to the grain only.
    pub fn coarsen(&mut self, grain: Grain) {
        self.engine.coarsen(grain);
    }

    /// Goes on to the end.
    pub fn go_on(&mut self) {
        while self.step().is_some() {}
    }

    /// Goes on to the end, and hands over each packet that passes one of the hosts.
    pub fn go_on_tapped(&mut self, point: TapPoint, mut each: impl FnMut(&TapEvent)) {
        self.engine.tap = Some(Box::new(Tap::new(point, self.legs.len())));
        loop {
            let goes_on = self.step().is_some();
            if let Some(tap) = &mut self.engine.tap {
                tap.events.iter().for_each(&mut each);
                tap.events.clear();
            }
            if !goes_on {
                break;
            }
        }
        self.engine.tap = None;
    }

    /// What a capture file has to know of each transfer.
    #[must_use]
    pub fn tap_flows(&self) -> Vec<TapFlow> {
        let flow = |pair: &Pair| {
            Some(TapFlow { mss: Mss::new(pair.sender.mss).ok()?, window_scale: pair.receiver.window_scale() })
        };
        self.engine.pairs.iter().filter_map(flow).collect()
    }

    /// Goes on until the first transfer has sent so many segments for the first time, or to the end. For measuring what
    /// a step costs.
    pub fn go_on_until(&mut self, sent: PacketCount) {
        while self.engine.pairs[0].sender.counters.sent < sent.get() && self.step().is_some() {}
    }

    /// The same, and no longer than so many steps of the simulator's clock: what somebody asks for over a network may cost
    /// no more. Whether the steps were enough.
    pub fn go_on_within(&mut self, sent: PacketCount, steps: u64) -> bool {
        let last = self.steps.saturating_add(steps);
        while self.engine.pairs[0].sender.counters.sent < sent.get() {
            if self.steps >= last {
                return false;
            }
            if self.step().is_none() {
                break;
            }
        }
        true
    }

    /// Goes on until an instant, counted from the start of the path. Whether anything is left to happen after it.
    pub fn go_on_to(&mut self, at: Duration) -> bool {
        let until = MonoTime::default() + at;
        while self.engine.next_at().min(self.attention) <= until {
            if self.step().is_none() {
                return false;
            }
        }
        self.engine.now = until;
        true
    }

    /// When the connection of a transfer stood, counted from the start of the path; [`None`] where it does not yet.
    #[must_use]
    pub fn established(&self, flow: usize) -> Option<Duration> {
        Some(self.engine.pairs.get(flow)?.established?.since(MonoTime::default()))
    }

    /// Sends a probe now, beside the transfers: one packet that the far end answers at once.
    pub fn probe(&mut self) {
        self.engine.probe();
    }

    /// The probes with the instants at which they were sent, counted from the start of the path; [`None`] for one whose answer has not
    /// come by now.
    pub fn probed(&self) -> impl Iterator<Item = (Duration, Option<ProbeTimes>)> + '_ {
        let start = MonoTime::default();
        self.engine.probes.trips().iter().map(move |trip| {
            let times = trip.arrived.zip(trip.answered).map(|(arrived, answered)| ProbeTimes {
                forward: arrived.since(trip.sent),
                round_trip: answered.since(trip.sent),
            });
            (trip.sent.since(start), times)
        })
    }

    pub(crate) fn now(&self) -> MonoTime {
        self.engine.now
    }

    pub(crate) fn pair(&self, flow: usize) -> Option<&Pair> {
        self.engine.pairs.get(flow)
    }

    /// What came of the first transfer by now.
    #[must_use]
    pub fn outcome(mut self) -> Outcome {
        self.end(0);
        self.outcomes().swap_remove(0)
    }

    /// What came of each by now.
    #[must_use]
    pub fn outcomes(mut self) -> Vec<Outcome> {
        (0..self.legs.len()).for_each(|flow| self.end(flow));
        self.legs.into_iter().filter_map(|leg| leg.outcome).collect()
    }

    /// Does what happens next; [`None`] where nothing does any more.
    fn step(&mut self) -> Option<()> {
        let Some(due) = self.engine.next_before(self.attention) else {
            return self.attend(self.attention);
        };
        self.steps += 1;
        self.engine.step(due);
        if self.engine.news.is_empty() { Some(()) } else { self.hear_of_news() }
    }

    /// Connections that stand now, and transfers that are done.
    fn hear_of_news(&mut self) -> Option<()> {
        while let Some(flow) = self.engine.news.pop() {
            if self.engine.pairs[flow].is_done() {
                self.end(flow);
            } else if let (None, Some(began)) = (self.legs[flow].next_sample, self.engine.pairs[flow].established) {
                self.legs[flow].next_sample = Some(began + self.sample_every);
            }
        }
        self.look_after()
    }

    /// Takes the samples that are due, and ends what has had its time. [`None`] where nothing is left.
    fn attend(&mut self, now: MonoTime) -> Option<()> {
        self.engine.now = now;
        for flow in 0..self.legs.len() {
            if self.legs[flow].outcome.is_some() {
                continue;
            }
            if let Some(at) = self.legs[flow].next_sample.filter(|at| *at <= now) {
                let sample = self.sample(flow, now);
                self.legs[flow].samples.push(sample);
                self.legs[flow].next_sample = Some(at + self.sample_every);
            }
            if self.until(flow) <= now {
                self.end(flow);
                self.engine.close(flow);
            }
        }
        self.look_after()
    }

    /// Keeps when somebody has to be looked after next. [`None`] where nothing is left.
    fn look_after(&mut self) -> Option<()> {
        let open = (0..self.legs.len()).filter(|flow| self.legs[*flow].outcome.is_none());
        let times = open.map(|flow| {
            let until = self.until(flow);
            self.legs[flow].next_sample.map_or(until, |sample| sample.min(until))
        });
        self.attention = times.min()?;
        Some(())
    }

    /// When a transfer ends, whatever has come by then.
    fn until(&self, flow: usize) -> MonoTime {
        let (leg, pair) = (&self.legs[flow], &self.engine.pairs[flow]);
        match leg.amount {
            Amount::Time(time) if pair.established.is_some() => pair.began() + time.min(leg.time_limit),
            _ => pair.began() + leg.time_limit,
        }
    }

    fn sample(&self, flow: usize, now: MonoTime) -> Sample {
        let pair = &self.engine.pairs[flow];
        let sender = &pair.sender;
        let bytes = |segments| payload(segments, sender.mss);
        Sample {
            at: now.since(pair.began()),
            acked: sender.acked(),
            cwnd: bytes(sender.cwnd()),
            ssthresh: sender.ssthresh().map(bytes),
            in_flight: bytes(sender.in_flight()),
            offered: sender.offered(),
            send_buffer: sender.buffer_limit(),
            rtt: sender.smoothed_rtt(),
            pacing: sender.pacing_rate(),
            retransmits: PacketCount::new(sender.counters.retransmits),
            limit: sender.limit,
        }
    }

    /// Writes down what came of a transfer, unless that is done.
    fn end(&mut self, flow: usize) {
        if self.legs[flow].outcome.is_none() {
            let last = self.sample(flow, self.engine.now);
            let mut samples = std::mem::take(&mut self.legs[flow].samples);
            if samples.last().is_none_or(|sample| sample.at < last.at) {
                samples.push(last);
            }
            let [there, back] = self.engine.drops(flow);
            let outcome = Outcome { samples, drops: there, drops_back: back, ..self.counted(flow) };
            self.legs[flow].outcome = Some(outcome);
        }
    }

    fn counted(&self, flow: usize) -> Outcome {
        let (leg, pair, end) = (&self.legs[flow], &self.engine.pairs[flow], self.engine.now);
        let sender = &pair.sender;
        let counters = sender.counters;
        let delivered = payload(pair.receiver.next(), sender.mss);
        Outcome {
            duration: end.since(pair.began()),
            finished: match leg.amount {
                Amount::Bytes(_) => pair.is_done(),
                Amount::Time(_) => pair.established.is_some(),
            },
            handshake: pair.handshake(),
            delivered: match leg.amount {
                Amount::Bytes(bytes) => delivered.min(bytes),
                Amount::Time(_) => delivered,
            },
            segment: payload(1, sender.mss),
            sent: PacketCount::new(counters.sent),
            retransmits: PacketCount::new(counters.retransmits),
            recoveries: counters.recoveries,
            mark_reductions: counters.mark_reductions,
            timeouts: counters.timeouts,
            probes: counters.probes,
            undone: counters.undone,
            max_outstanding: payload(counters.max_outstanding, sender.mss),
            send_buffer_asked: sender.most_buffer_asked(),
            receive_buffer_asked: pair.receiver.most_buffer_asked(),
            min_rtt: sender.min_rtt(),
            drops: Vec::new(),
            drops_back: Vec::new(),
            refused: PacketCount::new(self.engine.refused(flow)),
            ring_drops: PacketCount::new(pair.inbox.as_ref().map_or(0, |inbox| inbox.dropped)),
            limits: sender.spent(end).to_vec(),
            samples: Vec::new(),
            steps: self.steps,
        }
    }
}

impl Leg {
    fn new(amount: Amount, shared: &Shared) -> Self {
        let longest = match amount {
            Amount::Time(time) => time.min(shared.time_limit),
            Amount::Bytes(_) => shared.time_limit,
        };
        let room = (longest.as_nanos() / shared.sample_every.as_nanos() + 2).min(FIRST_SAMPLES);
        let samples = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
        Self { amount, time_limit: shared.time_limit, samples, next_sample: None, outcome: None }
    }
}

/// Payload in so many segments.
fn payload(segments: u32, mss: u32) -> ByteCount {
    ByteCount::new(u64::from(segments) * u64::from(mss))
}
