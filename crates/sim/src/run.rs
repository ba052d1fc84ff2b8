//! Transfers under way, one step after the other.

use std::time::Duration;

use units::{ByteCount, MonoTime, PacketCount};

use crate::engine::{Engine, Pair};
use crate::flow::{Flow, FlowError, Outcome, Sample};
use crate::receiver::Receiver;
use crate::sender::{Amount, Sender};
use crate::shared::Shared;

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

/// What is written down of one transfer.
#[derive(Debug)]
struct Leg {
    amount: Amount,
    patience: Duration,
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
            pairs.push(Pair::new(sender, receiver, MonoTime::default() + transfer.start));
        }
        let engine = Engine::new(&shared.there, &shared.back, shared.seed, pairs)?;
        let legs = shared.transfers.iter().map(|transfer| Leg::new(transfer.amount, shared)).collect();
        let mut run =
            Self { engine, legs, sample_every: shared.sample_every, attention: MonoTime::default(), steps: 0 };
        run.look_after();
        Ok(run)
    }

    /// Goes on to the end.
    pub fn go_on(&mut self) {
        while self.step().is_some() {}
    }

    /// Goes on until the first transfer has sent so many segments for the first time, or to the end. For measuring what
    /// a step costs.
    pub fn go_on_until(&mut self, sent: PacketCount) {
        while self.engine.pairs[0].sender.counters.sent < sent.get() && self.step().is_some() {}
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
            Amount::Time(time) if pair.established.is_some() => pair.began() + time.min(leg.patience),
            _ => pair.began() + leg.patience,
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
            resent: PacketCount::new(sender.counters.resent),
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
            took: end.since(pair.began()),
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
            resent: PacketCount::new(counters.resent),
            recoveries: counters.recoveries,
            mark_reductions: counters.mark_reductions,
            timeouts: counters.timeouts,
            probes: counters.probes,
            undone: counters.undone,
            most_out: payload(counters.most_out, sender.mss),
            least_rtt: sender.least_rtt(),
            drops: Vec::new(),
            drops_back: Vec::new(),
            refused: PacketCount::new(self.engine.refused(flow)),
            limits: sender.spent(end).to_vec(),
            samples: Vec::new(),
            steps: self.steps,
        }
    }
}

impl Leg {
    fn new(amount: Amount, shared: &Shared) -> Self {
        let longest = match amount {
            Amount::Time(time) => time.min(shared.patience),
            Amount::Bytes(_) => shared.patience,
        };
        let room = (longest.as_nanos() / shared.sample_every.as_nanos() + 2).min(FIRST_SAMPLES);
        let samples = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
        Self { amount, patience: shared.patience, samples, next_sample: None, outcome: None }
    }
}

/// Payload in so many segments.
fn payload(segments: u32, mss: u32) -> ByteCount {
    ByteCount::new(u64::from(segments) * u64::from(mss))
}
