//! Simulating a test, no more of it than it takes.

use std::time::Duration;

use model::expectation::{Bound, Inputs};
use sim::flow::{Outcome, Run, Sample};
use sim::sender::{HEADERS, Limit};
use units::{ByteCount, DataRate, PacketCount};

use crate::case::Unpredictable;
use crate::transfer::{Transfers, transfers};

/// What came of a simulated test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reckoned {
    /// Payload a second over all of it, all streams together.
    pub goodput: DataRate,
    /// The same after the start.
    pub steady: DataRate,
    /// What holds it.
    pub bound: Bound,
    /// How much of the time was simulated.
    pub simulated: Duration,
}

/// Simulates a test.
///
/// It ends early where going on would cost too much: after [`MOST_PAYLOAD`], or three times what the path holds where that is
/// more. Model: the rest is taken to go on like the end of what was simulated, so that what happens once in minutes is
/// missed.
///
/// # Errors
/// What cannot be simulated.
pub fn reckon(inputs: &Inputs) -> Result<Reckoned, Unpredictable> {
    Ok(simulate(inputs, u64::MAX)?.reckoned)
}

/// A simulated test with all that came of its transfers.
#[derive(Debug)]
pub(crate) struct Simulated {
    pub(crate) reckoned: Reckoned,
    pub(crate) outcomes: Vec<Outcome>,
    /// Whether its steps ran out before that could be told which it is simulated for.
    pub(crate) is_cut: bool,
}

/// Simulates a test in at most so many steps of the simulator's clock.
pub(crate) fn simulate(inputs: &Inputs, steps: u64) -> Result<Simulated, Unpredictable> {
    let Transfers { shared, each_is } = transfers(inputs)?;
    let count = shared.transfers.len() as u64;
    let mut run = Run::shared(&shared)?;
    let is_cut = !run.go_on_within(PacketCount::new(budget(inputs, count)), steps);
    let outcomes = run.outcomes();
    let seen = Seen::of(&outcomes, inputs);
    let scale = |rate: DataRate| {
        let streams = u64::from(inputs.streams.value.max(1));
        // Of several that each stand for some, the last may stand for fewer.
        if each_is == 1 { rate } else { DataRate::from_bps(rate.bps().saturating_mul(streams) / count) }
    };
    let reckoned = Reckoned {
        goodput: scale(seen.whole(inputs, count)),
        steady: scale(seen.steady),
        bound: seen.bound(inputs, &outcomes, count),
        simulated: seen.duration.min(inputs.time),
    };
    Ok(Simulated { reckoned, outcomes, is_cut })
}

/// Segments that the first transfer may send before it has cost enough.
fn budget(inputs: &Inputs, transfers: u64) -> u64 {
    let rtt = Duration::from_micros(inputs.rtt_us.value);
    let payload = MOST_PAYLOAD.max((inputs.path_rate.value * rtt).get().saturating_mul(3));
    // Each transfer is looked at for each step of the others.
    let payload = payload / transfers.max(1);
    (payload / u64::from(inputs.segment_bytes.value.max(1))).max(LEAST_SEGMENTS)
}

/// What is needed of several outcomes.
struct Seen {
    /// When it ended, or was cut short.
    duration: Duration,
    finished: bool,
    delivered: ByteCount,
    /// Where the time begins that counts as after the start.
    since: Duration,
    steady: DataRate,
}

impl Seen {
    fn of(outcomes: &[Outcome], inputs: &Inputs) -> Self {
        let took = outcomes.iter().map(|outcome| outcome.duration).max().unwrap_or_default();
        let delivered: ByteCount = outcomes.iter().map(|outcome| outcome.delivered).sum();
        let samples = outcomes.first().map(|outcome| outcome.samples.as_slice()).unwrap_or_default();
        let since = settled(samples, took, Duration::from_micros(inputs.rtt_us.value));
        let rates = outcomes.iter().map(|outcome| rate_since(&outcome.samples, since).bps());
        let steady = DataRate::from_bps(rates.fold(0, u64::saturating_add));
        Self { duration: took, finished: outcomes.iter().all(|outcome| outcome.finished), delivered, since, steady }
    }

    /// Payload a second over the whole test.
    fn whole(&self, inputs: &Inputs, transfers: u64) -> DataRate {
        let rtt = Duration::from_micros(inputs.rtt_us.value);
        let Some(bytes) = inputs.bytes else {
            let left = inputs.time.saturating_sub(self.duration);
            let delivered = self.delivered + self.steady * left;
            return DataRate::of(delivered, inputs.time).unwrap_or(DataRate::ZERO);
        };
        let of_those = bytes.get() / u64::from(inputs.streams.value.max(1)) * transfers;
        let left = ByteCount::new(of_those).saturating_sub(self.delivered);
        let more = if self.finished { Duration::ZERO } else { self.steady.time_for(left).unwrap_or(Duration::MAX) };
        // A test ends when the receiver has all of it, and a transfer when the sender knows.
        let took =
            self.duration.saturating_add(more).saturating_sub(if self.finished { rtt / 2 } else { Duration::ZERO });
        DataRate::of(self.delivered + left, took).unwrap_or(DataRate::ZERO)
    }

    /// What holds it after the start, or the start itself.
    fn bound(&self, inputs: &Inputs, outcomes: &[Outcome], transfers: u64) -> Bound {
        let streams = u64::from(inputs.streams.value.max(1));
        let bps = u128::from(self.steady.bps()) * u128::from(streams) / u128::from(transfers.max(1));
        let full = bps * 100 >= u128::from(payload_rate(inputs).bps()) * FULL;
        let holds = if full { Bound::Path } else { self.holds(outcomes) };
        let whole = self.whole(inputs, transfers);
        let is_start = u128::from(whole.bps()) * 100 < u128::from(self.steady.bps()) * STARTING;
        if is_start && !holds.is_a_setting() { Bound::Start } else { holds }
    }

    /// What the sender waited for most of the time after the start.
    fn holds(&self, outcomes: &[Outcome]) -> Bound {
        let mut counts = [0_usize; Limit::ALL.len()];
        let (mut has_lost, mut path_lost) = (false, false);
        for outcome in outcomes {
            has_lost |= outcome.recoveries > 0 || outcome.timeouts > 0;
            path_lost |= outcome.drops.iter().any(|(_, reason, _)| !matches!(reason, path::reason::Drop::QueueFull));
            for sample in outcome.samples.iter().filter(|sample| sample.at >= self.since) {
                counts[sample.limit as usize] += 1;
            }
        }
        let most = Limit::ALL.into_iter().rev().max_by_key(|limit| counts[*limit as usize]).unwrap_or(Limit::Window);
        match most {
            Limit::ReceiveWindow => Bound::ReceiveWindow,
            Limit::SendBuffer => Bound::SendBuffer,
            Limit::Application | Limit::Pacing => Bound::Asked,
            Limit::Host => Bound::Path,
            Limit::Window if path_lost => Bound::Loss,
            Limit::Window if has_lost => Bound::CongestionWindow,
            Limit::Window => Bound::Start,
        }
    }
}

/// From when on a transfer is past its start: the last half of it, or less where the start took longer.
fn settled(samples: &[Sample], took: Duration, rtt: Duration) -> Duration {
    let is_past = |sample: &&Sample| sample.ssthresh.is_some() || sample.limit != Limit::Window;
    let past = samples.iter().find(is_past).map_or(took, |sample| sample.at);
    let late = took.saturating_sub(rtt * LEAST_ROUNDS);
    past.max(took / 2).min(late)
}

/// Payload a second from an instant on.
fn rate_since(samples: &[Sample], since: Duration) -> DataRate {
    let Some(last) = samples.last() else { return DataRate::ZERO };
    let from = samples.iter().rfind(|sample| sample.at <= since);
    let (at, acked) = from.map_or((Duration::ZERO, ByteCount::ZERO), |sample| (sample.at, sample.acked));
    DataRate::of(last.acked.saturating_sub(acked), last.at.saturating_sub(at)).unwrap_or(DataRate::ZERO)
}

/// What of the narrowest link is payload.
pub(crate) fn payload_rate(inputs: &Inputs) -> DataRate {
    let segment = u64::from(inputs.segment_bytes.value);
    let wire = segment + u64::from(HEADERS) + ETHERNET;
    let bps = u128::from(inputs.path_rate.value.bps()) * u128::from(segment) / u128::from(wire.max(1));
    DataRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
}

/// What costs some 50 ms of one processor to simulate: 65,000 frames of 64 KB.
pub const MOST_PAYLOAD: u64 = 4_000_000_000;
/// Enough for a start over any path.
const LEAST_SEGMENTS: u64 = 20_000;
/// Rates are told from no less than these round trips.
const LEAST_ROUNDS: u32 = 4;
/// Hundredths of the link that count as all of it: transfers win back for a while what they halve.
const FULL: u128 = 90;
/// Below so many hundredths of what it comes to, a test is too short for its path.
const STARTING: u128 = 80;
/// Header of an Ethernet frame.
const ETHERNET: u64 = 14;
