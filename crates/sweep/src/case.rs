//! One transfer of an experiment.

use std::num::NonZeroU32;
use std::time::Duration;

use path::elements::{Burst, ClassSpec, ClassesSpec, CrossSpec, DelaySpec, LossSpec, Order, PortSpec};
use path::random::Dice;
use path::{ElementSpec, Seed, Stage};
use sim::flow::{Flow, FlowError};
use sim::hosts::OFFLOAD;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, Pacing, SenderSpec, Writer};
use units::{ByteCount, DataRate, Mtu};

use crate::parameter::Settings;
use crate::row::Row;
use crate::value::Value;

/// One transfer of an experiment.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// Its number.
    pub index: u64,
    /// Which of the combinations of settings it has.
    pub cell: usize,
    /// Which of the repetitions of it this is, from zero.
    pub repetition: u32,
    /// Where all its chance comes from.
    pub seed: Seed,
    /// What is set.
    pub settings: &'a Settings,
}

/// Why a combination of settings is no transfer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CaseError {
    /// A setting that cannot be.
    #[error("`{name}` cannot be {value}: {why}")]
    Setting {
        /// The parameter.
        name: &'static str,
        /// What is set.
        value: String,
        /// What would be right.
        why: String,
    },
    /// The simulator refuses it.
    #[error(transparent)]
    Flow(#[from] FlowError),
}

impl Case<'_> {
    /// Reckons what comes of it.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn run(&self) -> Result<Row, CaseError> {
        let burst = Struck::new(self.settings, self.seed);
        let outcome = self.transfer(&burst)?.run()?;
        Ok(Row::new(self, &burst, &outcome))
    }

    /// Whether the settings are a transfer at all, without reckoning it.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn check(&self) -> Result<(), CaseError> {
        let flow = self.transfer(&Struck::new(self.settings, self.seed))?;
        Ok(sim::flow::Run::new(&flow).map(|_| ())?)
    }

    fn transfer(&self, burst: &Struck) -> Result<Flow, CaseError> {
        let patience = time(self.settings, "patience");
        let amount = match self.settings.get("bytes") {
            Value::Bytes(bytes) => Amount::Bytes(*bytes),
            _ => Amount::Time(time(self.settings, "time")),
        };
        let patience = if let Amount::Time(time) = amount { patience.max(time) } else { patience };
        let rtt = time(self.settings, "rtt");
        let delay =
            |time| Stage::from(ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept }));
        let mut there = vec![Stage::from(bottleneck(self.settings, burst)?)];
        if let Value::Share(loss) = self.settings.get("loss")
            && *loss > 0.0
        {
            there.push(Stage::from(ElementSpec::Loss(LossSpec::Random(*loss))));
        }
        there.push(delay(rtt / 2));
        Ok(Flow {
            there,
            back: vec![delay(rtt - rtt / 2)],
            sender: sender(self.settings)?,
            receiver: receiver(self.settings)?,
            amount,
            seed: self.seed,
            patience,
            // Rows hold what came of a transfer, not how it went.
            sample_every: patience.max(Duration::from_nanos(1)),
        })
    }
}

/// When the burst of a transfer comes, on the clock of the transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Struck {
    /// Before the transfer asks for its connection.
    pub start_up: Duration,
    /// What is left of it from that moment on.
    pub burst: Option<(DataRate, Duration, Duration)>,
}

impl Struck {
    /// Draws when it comes.
    #[must_use]
    pub fn new(settings: &Settings, seed: Seed) -> Self {
        let start_up = start_up(settings);
        let (Value::Rate(rate), Value::Time(length)) = (settings.get("burst-rate"), settings.get("burst-length"))
        else {
            return Self { start_up, burst: None };
        };
        let jitter = time(settings, "burst-jitter");
        // A part of the seed that neither the path nor the sender uses.
        let drawn = jitter.mul_f64(2.0 * Dice::new(seed.part(BURST)).unit());
        let begins = time(settings, "burst-start") + drawn;
        let ends = (begins + *length).saturating_sub(jitter + start_up);
        let begins = begins.saturating_sub(jitter + start_up);
        let burst = (ends > begins).then(|| (*rate, begins, ends - begins));
        Self { start_up, burst }
    }
}

/// The part of a seed that says when a burst comes.
const BURST: u64 = 0x62_7572_7374;

fn start_up(settings: &Settings) -> Duration {
    let rounds = count(settings, "start-up-round-trips").unwrap_or(0);
    time(settings, "start-up") + time(settings, "rtt") * rounds
}

/// The narrowest link.
fn bottleneck(settings: &Settings, burst: &Struck) -> Result<ElementSpec, CaseError> {
    let rate = rate(settings, "rate").unwrap_or(DataRate::ZERO);
    let bytes = if let Value::Bytes(bytes) = settings.get("queue") { *bytes } else { usual_queue(rate) };
    let queue = path::buffer::BufferSpec { bytes: Some(bytes), ..Default::default() };
    let own = one_of(settings, "burst-queue", [("shared", false), ("own", true)])?;
    let once =
        |(rate, start, length)| Burst { rate, start, length: Some(length), period: None, jitter: Duration::ZERO };
    let bursts = burst.burst.map(once).into_iter().collect();
    let cross = CrossSpec { packet_bytes: None, dscp: if own { SCAVENGER } else { 0 }, bursts };
    if !own {
        return Ok(ElementSpec::Port(PortSpec { rate, queue, cross }));
    }
    let class = |weight| ClassSpec { queue: queue.clone(), weight: NonZeroU32::new(weight), dscp: Vec::new() };
    Ok(ElementSpec::Classes(Box::new(ClassesSpec {
        rate,
        expedited: None,
        best_effort: class(9),
        scavenger: Some(class(1)),
        cross: vec![cross],
    })))
}

/// A queue where nothing is said: what routers made for long paths have, 50 ms of the link, and room for a few frames.
#[must_use]
pub fn usual_queue(rate: DataRate) -> ByteCount {
    const USUAL: Duration = Duration::from_millis(50);
    const LEAST: ByteCount = ByteCount::new(128 << 10);
    (rate * USUAL).max(LEAST)
}

/// The class of service CS1 (RFC 8622 §1), which `classes` serves as scavenger.
const SCAVENGER: u8 = 8;

fn sender(settings: &Settings) -> Result<SenderSpec, CaseError> {
    let algorithm = word(settings, "congestion");
    let path_rate = rate(settings, "rate").unwrap_or(DataRate::ZERO);
    let pacing = match (rate(settings, "pace"), is_set(settings, "fq")) {
        (Some(rate), _) => Pacing::Capped(rate),
        (None, true) => Pacing::Fq,
        (None, false) => Pacing::Algorithm,
    };
    let algorithm = algorithm.parse().map_err(|error: sim::congestion::UnknownAlgorithm| CaseError::Setting {
        name: "congestion",
        value: algorithm.to_owned(),
        why: error.to_string(),
    })?;
    Ok(SenderSpec {
        initial_window: count(settings, "initial-window").unwrap_or(0),
        buffer: bytes(settings, "wmem"),
        writer: one_of(settings, "writer", [("polls", Writer::Polls), ("blocks", Writer::Blocks)])?,
        application_rate: rate(settings, "application-rate"),
        processor_rate: rate(settings, "processor-rate"),
        adapter_rate: rate(settings, "adapter-rate").unwrap_or(path_rate),
        pacing,
        offload: if is_set(settings, "offload") { OFFLOAD } else { ByteCount::new(1) },
        ecn: is_set(settings, "ecn"),
        ..SenderSpec::linux(algorithm, mtu(settings)?)
    })
}

fn receiver(settings: &Settings) -> Result<ReceiverSpec, CaseError> {
    let initial_window = count(settings, "receiver-initial-window");
    if initial_window == Some(0) {
        let why = "one segment is the least; `none` leaves it to the kernel".to_owned();
        return Err(CaseError::Setting { name: "receiver-initial-window", value: "0".to_owned(), why });
    }
    Ok(ReceiverSpec {
        buffer_default: bytes(settings, "rmem-default"),
        buffer: bytes(settings, "rmem"),
        initial_window,
        ..ReceiverSpec::linux()
    })
}

fn mtu(settings: &Settings) -> Result<Mtu, CaseError> {
    let bytes = bytes(settings, "mtu");
    let refused = |why: String| CaseError::Setting { name: "mtu", value: bytes.to_string(), why };
    let size = u32::try_from(bytes.get()).map_err(|error| refused(error.to_string()))?;
    Mtu::new(size).map_err(|error| refused(error.to_string()))
}

fn one_of<T, const N: usize>(
    settings: &Settings,
    name: &'static str,
    choices: [(&'static str, T); N],
) -> Result<T, CaseError> {
    let value = word(settings, name);
    let known = choices.each_ref().map(|(choice, _)| *choice).join(" or ");
    let found = choices.into_iter().find(|(choice, _)| *choice == value);
    found.map(|(_, chosen)| chosen).ok_or_else(|| CaseError::Setting {
        name,
        value: value.to_owned(),
        why: format!("it is {known}"),
    })
}

/// What a completion time has besides that of the transfer.
///
/// # Errors
/// A clock that is not known.
pub fn before_the_transfer(settings: &Settings) -> Result<Duration, CaseError> {
    one_of(settings, "clock", [("transfer", Duration::ZERO), ("command", start_up(settings))])
}

fn time(settings: &Settings, name: &str) -> Duration {
    if let Value::Time(time) = settings.get(name) { *time } else { Duration::ZERO }
}

fn bytes(settings: &Settings, name: &str) -> ByteCount {
    if let Value::Bytes(bytes) = settings.get(name) { *bytes } else { ByteCount::ZERO }
}

fn rate(settings: &Settings, name: &str) -> Option<DataRate> {
    if let Value::Rate(rate) = settings.get(name) { Some(*rate) } else { None }
}

fn count(settings: &Settings, name: &str) -> Option<u32> {
    if let Value::Count(count) = settings.get(name) { Some(u32::try_from(*count).unwrap_or(u32::MAX)) } else { None }
}

fn is_set(settings: &Settings, name: &str) -> bool {
    *settings.get(name) == Value::Flag(true)
}

fn word<'a>(settings: &'a Settings, name: &str) -> &'a str {
    if let Value::Word(word) = settings.get(name) { word } else { "" }
}
