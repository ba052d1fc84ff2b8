//! One transfer: what is asked, and what comes of it.

use std::time::Duration;

use path::reason::Drop;
use path::{Seed, SpecError, Stage, Tally};
use units::{ByteCount, DataRate, MonoTime, PacketCount};

use crate::engine::{Engine, payload};
use crate::receiver::{Receiver, ReceiverSpec};
use crate::sender::{Amount, Limit, Sender, SenderSpec};

/// A transfer between two hosts over a path.
#[derive(Debug, Clone)]
pub struct Flow {
    /// The path from the sender to the receiver.
    pub there: Vec<Stage>,
    /// The way of the acknowledgements.
    pub back: Vec<Stage>,
    /// The sending host.
    pub sender: SenderSpec,
    /// The receiving host.
    pub receiver: ReceiverSpec,
    /// How much is sent.
    pub amount: Amount,
    /// Where all chance comes from.
    pub seed: Seed,
    /// After which time it is given up.
    pub patience: Duration,
    /// How often its state is written down.
    pub sample_every: Duration,
}

/// Why a transfer cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FlowError {
    /// An element of the path cannot be.
    #[error(transparent)]
    Path(#[from] SpecError),
    /// Packets too small to carry anything.
    #[error("an MTU of {0} leaves no room for data; 100 bytes are the least")]
    Mtu(units::Mtu),
    /// A quantity that is zero.
    #[error("{0} is zero; it has to be more")]
    Zero(&'static str),
    /// More segments than can be told apart.
    #[error("{bytes} in segments of {mss} are more than {} segments; send less, or in larger packets", 1_u32 << 30)]
    TooLong {
        /// What was asked for.
        bytes: ByteCount,
        /// The payload of a segment.
        mss: units::Mss,
    },
    /// More samples than can be held.
    #[error("a sample each {every:?} of {patience:?} are more than {MOST_SAMPLES}; take fewer")]
    TooManySamples {
        /// How often.
        every: Duration,
        /// For how long at most.
        patience: Duration,
    },
}

/// What came of a transfer. Times count from the instant at which the connection stands.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How long it took until everything was acknowledged, or until its time was over.
    pub took: Duration,
    /// Whether it came to its end.
    pub finished: bool,
    /// How long the handshake took; [`None`] where there was none.
    pub handshake: Option<Duration>,
    /// Payload that arrived in order.
    pub delivered: ByteCount,
    /// The payload of a segment.
    pub segment: ByteCount,
    /// Segments sent for the first time.
    pub sent: PacketCount,
    /// Segments sent again.
    pub resent: PacketCount,
    /// How often a loss began a recovery.
    pub recoveries: u32,
    /// How often a mark made the window shrink.
    pub mark_reductions: u32,
    /// How often the retransmission timer fired.
    pub timeouts: u32,
    /// How often a tail was probed.
    pub probes: u32,
    /// How many reductions were needless and taken back.
    pub undone: u32,
    /// The most that was out at once.
    pub most_out: ByteCount,
    /// The shortest round trip.
    pub least_rtt: Duration,
    /// What the path dropped on the way there, for each element and reason.
    pub drops: Vec<(usize, Drop, PacketCount)>,
    /// What it dropped on the way back.
    pub drops_back: Vec<(usize, Drop, PacketCount)>,
    /// Packets that were larger than a link carries.
    pub refused: PacketCount,
    /// For how long each limit held.
    pub limits: Vec<(Limit, Duration)>,
    /// Its state over time.
    pub samples: Vec<Sample>,
    /// Steps of the clock that it took to reckon this.
    pub steps: u64,
}

/// The state of a transfer at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Duration,
    /// Payload acknowledged by then.
    pub acked: ByteCount,
    /// The congestion window.
    pub cwnd: ByteCount,
    /// Where slow start ends.
    pub ssthresh: Option<ByteCount>,
    /// Payload held to be on its way.
    pub in_flight: ByteCount,
    /// What the receiver offers.
    pub offered: ByteCount,
    /// What the send buffer may hold.
    pub send_buffer: ByteCount,
    /// The smoothed round trip.
    pub rtt: Duration,
    /// The pacing rate, where it paces.
    pub pacing: Option<DataRate>,
    /// Segments sent again so far.
    pub resent: PacketCount,
    /// What held the sender.
    pub limit: Limit,
}

/// Samples of the longest series.
const MOST_SAMPLES: u128 = 1 << 20;

impl Outcome {
    /// Payload a second over the whole transfer.
    #[must_use]
    pub fn goodput(&self) -> Option<DataRate> {
        DataRate::of(self.delivered, self.took)
    }
}

impl Flow {
    /// Reckons what comes of it.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn run(&self) -> Result<Outcome, FlowError> {
        let mut run = Run::new(self)?;
        while run.step().is_some() {}
        Ok(run.outcome())
    }

    fn check(&self) -> Result<units::Mss, FlowError> {
        let mss = self.sender.mss().ok_or(FlowError::Mtu(self.sender.mtu))?;
        for (zero, what) in [
            (self.sender.initial_window == 0, "the initial window"),
            (self.sender.adapter_rate.is_zero(), "the rate of the adapter"),
            (self.sender.buffer.get() == 0, "the send buffer"),
            (self.receiver.buffer.get() == 0, "the receive buffer"),
            (self.receiver.buffer_default.get() == 0, "the first receive buffer"),
            (self.sender.application_rate.is_some_and(DataRate::is_zero), "the rate of the application"),
            (self.sender.processor_rate.is_some_and(DataRate::is_zero), "the rate of the processor"),
            (self.sample_every.is_zero(), "the time between samples"),
            (matches!(self.amount, Amount::Bytes(ByteCount::ZERO)), "what is to be sent"),
            (matches!(self.amount, Amount::Time(Duration::ZERO)), "the time for which is sent"),
        ] {
            if zero {
                return Err(FlowError::Zero(what));
            }
        }
        if let Amount::Bytes(bytes) = self.amount
            && bytes.get().div_ceil(u64::from(mss.get())) >= 1 << 30
        {
            return Err(FlowError::TooLong { bytes, mss });
        }
        if self.patience.as_nanos() / self.sample_every.as_nanos() > MOST_SAMPLES {
            return Err(FlowError::TooManySamples { every: self.sample_every, patience: self.patience });
        }
        Ok(mss)
    }
}

/// A transfer under way, one step after the other.
#[derive(Debug)]
pub struct Run<'a> {
    flow: &'a Flow,
    engine: Engine,
    samples: Vec<Sample>,
    next_sample: MonoTime,
    steps: u64,
}

impl<'a> Run<'a> {
    /// Two hosts that have not spoken yet.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn new(flow: &'a Flow) -> Result<Self, FlowError> {
        let mss = flow.check()?;
        let sender = Sender::new(&flow.sender, mss, flow.amount, flow.seed.part(2));
        let receiver = Receiver::new(&flow.receiver, mss.get());
        let engine = Engine::new(&flow.there, &flow.back, flow.seed, sender, receiver)?;
        let longest = match flow.amount {
            Amount::Time(time) => time.min(flow.patience),
            Amount::Bytes(_) => flow.patience,
        };
        let room = (longest.as_nanos() / flow.sample_every.as_nanos() + 2).min(FIRST_SAMPLES);
        let samples = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
        Ok(Self { flow, engine, samples, next_sample: MonoTime::default(), steps: 0 })
    }

    /// Does what happens next; [`None`] where nothing does any more.
    fn step(&mut self) -> Option<()> {
        if self.engine.sender.is_done() && self.engine.established.is_some() {
            return None;
        }
        let until = self.until();
        let Some(due) = self.engine.next(until) else {
            self.take_samples(until);
            return None;
        };
        if self.next_sample <= due.at {
            self.take_samples(due.at);
        }
        self.steps += 1;
        self.engine.step(due);
        Some(())
    }

    /// Goes on until so many segments were sent for the first time, or to the end. For measuring what a step costs.
    pub fn go_on_until(&mut self, sent: PacketCount) {
        while self.engine.sender.counters.sent < sent.get() && self.step().is_some() {}
    }

    /// When it ends, whatever has come by then.
    fn until(&self) -> MonoTime {
        let began = self.engine.established.unwrap_or_default();
        match self.flow.amount {
            Amount::Time(time) if self.engine.established.is_some() => began + time.min(self.flow.patience),
            _ => began + self.flow.patience,
        }
    }

    fn take_samples(&mut self, before: MonoTime) {
        let Some(began) = self.engine.established else { return };
        self.next_sample = self.next_sample.max(began + self.flow.sample_every);
        while self.next_sample <= before {
            let sample = self.sample(self.next_sample.since(began));
            self.samples.push(sample);
            self.next_sample = self.next_sample + self.flow.sample_every;
        }
    }

    fn sample(&self, at: Duration) -> Sample {
        let sender = &self.engine.sender;
        let bytes = |segments| payload(segments, sender.mss);
        Sample {
            at,
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

    /// What came of it by now.
    #[must_use]
    pub fn outcome(mut self) -> Outcome {
        let sender = &self.engine.sender;
        let done = sender.is_done() && self.engine.established.is_some();
        let end = if done { self.engine.now } else { self.until() };
        let began = self.engine.established.unwrap_or_default();
        let timed = matches!(self.flow.amount, Amount::Time(_));
        let last = self.sample(end.since(began));
        if self.samples.last().is_none_or(|sample| sample.at < last.at) {
            self.samples.push(last);
        }
        let sender = &self.engine.sender;
        let counters = sender.counters;
        let (there, back) = self.engine.tallies();
        let delivered = payload(self.engine.receiver.next(), sender.mss);
        Outcome {
            took: end.since(began),
            finished: done || (timed && self.engine.established.is_some()),
            handshake: self.engine.established.map(|at| at.since(MonoTime::default())),
            delivered: match self.flow.amount {
                Amount::Bytes(bytes) => ByteCount::new(delivered.get().min(bytes.get())),
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
            drops: drops(there),
            drops_back: drops(back),
            refused: PacketCount::new(self.engine.refused),
            limits: sender.spent(end).to_vec(),
            samples: self.samples,
            steps: self.steps,
        }
    }
}

fn drops<'a>(tallies: impl Iterator<Item = &'a Tally>) -> Vec<(usize, Drop, PacketCount)> {
    let each = tallies.enumerate();
    each.flat_map(|(place, tally)| tally.drops().map(move |(reason, amount)| (place, reason, amount.packets))).collect()
}

/// Samples for which there is room from the start.
const FIRST_SAMPLES: u128 = 16_384;
