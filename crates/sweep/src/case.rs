//! One transfer of an experiment.

use std::num::NonZeroU32;
use std::time::Duration;

use path::elements::{Burst, DelaySpec, LossSpec, Order};
use path::random::SeededRng;
use path::{ElementSpec, PathElement, Seed};
use sim::flow::{FlowError, Run};
use sim::hosts::{OFFLOAD, usual_nic_rate};
use sim::receiver::{HostSpec, ReceiverSpec};
use sim::sender::{Amount, Pacing, SenderSpec, Writer};
use sim::shared::{Shared, Transfer};
use sim::{Kernel, UnknownRelease};
use units::{ByteCount, DataRate, Mtu};

use crate::bottleneck::{BurstQueue, bottleneck};
use crate::parameter::Settings;
use crate::value::Value;

/// One transfer of an experiment.
#[derive(Debug, Clone)]
pub struct Case<'a> {
    /// Number among all transfers of the experiment, from 0: combination by combination, each with all its repetitions.
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
        /// Name of the parameter, such as `burst-rate`.
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
    /// Whether the settings are a transfer at all, without reckoning it.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn check(&self) -> Result<(), CaseError> {
        let streams = self.streams(&Struck::new(self.settings, self.seed))?;
        Ok(Run::shared(&streams).map(|_| ())?)
    }

    /// Its connections, one or several.
    pub(crate) fn streams(&self, burst: &Struck) -> Result<Shared, CaseError> {
        let streams = streams(self.settings)?;
        let time_limit = time(self.settings, "patience");
        let (amounts, time_limit) = match self.settings.get("bytes") {
            Value::Bytes(bytes) => (parts(*bytes, streams), time_limit),
            _ => {
                let time = time(self.settings, "time");
                (vec![Amount::Time(time); streams as usize], time_limit.max(time))
            }
        };
        let (sender, receiver) = (sender(self.settings, streams)?, receiver(self.settings)?);
        let transfer =
            |amount| Transfer { sender: sender.clone(), receiver: receiver.clone(), amount, start: Duration::ZERO };
        let (forward, reverse) = self.ways(burst)?;
        Ok(Shared {
            forward,
            reverse,
            transfers: amounts.into_iter().map(transfer).collect(),
            seed: self.seed,
            time_limit,
            // Rows hold what came of a transfer, not how it went.
            sample_every: time_limit.max(Duration::from_nanos(1)),
        })
    }

    fn ways(&self, burst: &Struck) -> Result<(Vec<PathElement>, Vec<PathElement>), CaseError> {
        let rtt = time(self.settings, "rtt");
        let delay = |time| {
            PathElement::from(ElementSpec::Delay(DelaySpec { time, jitter: Duration::ZERO, order: Order::Kept }))
        };
        let mut forward = vec![PathElement::from(link(self.settings, burst)?)];
        if let Value::Share(loss) = self.settings.get("loss")
            && *loss > 0.0
        {
            forward.push(PathElement::from(ElementSpec::Loss(LossSpec::Random(*loss))));
        }
        forward.push(delay(rtt / 2));
        Ok((forward, vec![delay(rtt - rtt / 2)]))
    }
}

/// How many connections there are.
fn streams(settings: &Settings) -> Result<u32, CaseError> {
    let streams = count(settings, "streams").unwrap_or(1);
    if (1..=MOST_STREAMS).contains(&streams) {
        return Ok(streams);
    }
    let why = format!("there are 1 to {MOST_STREAMS}");
    Err(CaseError::Setting { name: "streams", value: streams.to_string(), why })
}

/// What each of several connections sends.
fn parts(bytes: ByteCount, streams: u32) -> Vec<Amount> {
    let (each, more) = (bytes.get() / u64::from(streams), bytes.get() % u64::from(streams));
    (0..u64::from(streams)).map(|number| Amount::Bytes(ByteCount::new(each + u64::from(number < more)))).collect()
}

/// The most connections that a transfer is spread over.
const MOST_STREAMS: u32 = 128;

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
        let drawn = jitter.mul_f64(2.0 * SeededRng::new(seed.part(BURST)).unit());
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
fn link(settings: &Settings, burst: &Struck) -> Result<ElementSpec, CaseError> {
    let rate = rate(settings, "rate").unwrap_or(DataRate::ZERO);
    let queue = if let Value::Bytes(bytes) = settings.get("queue") { *bytes } else { path::buffer::usual(rate) };
    let share = settings.get("burst-share");
    let own = BurstQueue::own(share.number().unwrap_or(0.0));
    let own =
        own.map_err(|why| CaseError::Setting { name: "burst-share", value: share.to_string(), why: why.to_owned() })?;
    let bursts_wait = one_of(settings, "burst-queue", [("shared", BurstQueue::Shared), ("own", own)])?;
    let once =
        |(rate, start, length)| Burst { rate, start, length: Some(length), period: None, jitter: Duration::ZERO };
    Ok(bottleneck(rate, queue, burst.burst.map(once).into_iter().collect(), bursts_wait))
}

fn sender(settings: &Settings, streams: u32) -> Result<SenderSpec, CaseError> {
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
        processor_rate: rate(settings, "cpu-rate"),
        // Model: connections share the NIC evenly, and each has a CPU of its own.
        adapter_rate: DataRate::from_bps(
            rate(settings, "nic-rate").unwrap_or_else(|| usual_nic_rate(path_rate)).bps() / u64::from(streams),
        ),
        pacing,
        offload: if is_set(settings, "offload") { OFFLOAD } else { ByteCount::new(1) },
        ecn: is_set(settings, "ecn"),
        kernel: kernel(settings)?,
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
        window_percent: kernel(settings)?.window_percent(),
        initial_window,
        host: receiving_host(settings)?,
        ..ReceiverSpec::linux()
    })
}

/// The receiving host, where a rate of it is set.
fn receiving_host(settings: &Settings) -> Result<Option<HostSpec>, CaseError> {
    let Some(rate) = rate(settings, "receive-rate") else { return Ok(None) };
    let ring = count(settings, "receive-ring").and_then(NonZeroU32::new);
    let ring = ring.ok_or_else(|| CaseError::Setting {
        name: "receive-ring",
        value: "0".to_owned(),
        why: "one packet is the least".to_owned(),
    })?;
    Ok(Some(HostSpec {
        ring,
        coalescing: time(settings, "receive-coalescing"),
        rate,
        out_of_order_rate: self::rate(settings, "receive-rate-out-of-order").unwrap_or(rate),
    }))
}

fn kernel(settings: &Settings) -> Result<Kernel, CaseError> {
    let value = word(settings, "kernel");
    value.parse().map_err(|error: UnknownRelease| CaseError::Setting {
        name: "kernel",
        value: value.to_owned(),
        why: error.to_string(),
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
