//! How often the rate of a flow is near the best that it reaches, and how much of its target that best is. What a link or a policer
//! limits runs along a ceiling below the target; what losses or bursts of others cut back is near the target now and then.

use std::time::Duration;

use model::measurement::{End, Heading};
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};
use units::{ByteCount, DataRate};

use super::Observation;
use super::flow::Flow;
use super::percent::percent;
use super::rows::{streams, whole_column};

/// What a flow moved in steps of some RTTs, in their order.
struct Steps {
    moved: Vec<u64>,
    each: Duration,
}

impl Steps {
    /// Of a column that counts.
    fn of(streams: &[&StreamSamples], field: Field, rtt: Duration) -> Option<Self> {
        let end = streams.iter().filter_map(|stream| stream.column(field).and(stream.at_us.last()).copied()).max()?;
        let each = (rtt * RTTS).max(SHORTEST);
        let step = i64::try_from(each.as_micros()).ok()?;
        let edges: Vec<u64> = (0..)
            .map(|number| number * step)
            .take_while(|at| *at <= end)
            .map(|at| streams.iter().map(|stream| counted(stream, field, at)).sum())
            .collect();
        let moved = edges.windows(2).map(|edge| edge[1].saturating_sub(edge[0])).collect();
        Some(Self { moved, each })
    }
}

/// How often the rate is near its best. The first quarter is the start.
///
/// Bytes that receivers took are counted, and what senders had confirmed where nobody watched a receiver.
pub(super) fn ceiling(samples: &RunSamples, heading: Heading, rtt: Duration) -> Option<Observation> {
    let receivers = streams(samples, heading, End::Receiver);
    let mut steps = if receivers.is_empty() {
        Steps::of(&streams(samples, heading, End::Sender), Field::BytesAcked, rtt)?
    } else {
        Steps::of(&receivers, Field::AppBytes, rtt)?
    };
    let steps = steps.moved.split_off(steps.moved.len() / 4);
    let sorted = sorted(steps, FEWEST)?;
    let (typical, best) = (sorted[sorted.len() / 2], sorted[sorted.len() * 19 / 20].max(1));
    let percent = typical * 100 / best;
    let state = match percent {
        ALWAYS.. => "always",
        MOSTLY.. => "mostly",
        _ => "seldom",
    };
    Observation::of("ceiling", state, format!("half of the time its rate was below {percent} % of its best"))
}

/// How much of its target a flow reached at its best, whenever that was.
///
/// Segments that senders know to have arrived are counted, in whatever order: a program gets nothing while one is missing, and then all
/// at once.
pub(super) fn attained_at_best(samples: &RunSamples, heading: Heading, flow: &Flow) -> Option<Observation> {
    let steps = Steps::of(&streams(samples, heading, End::Sender), Field::Delivered, flow.rtt?)?;
    let sorted = sorted(steps.moved, FEWEST / 2)?;
    // One step may have what arrived in another.
    let best = sorted[sorted.len() - 2].saturating_mul(u64::from(flow.shape.payload?));
    let rate = DataRate::of(ByteCount::new(best), steps.each)?;
    let part = flow.target.as_ref()?.part(rate, flow.shape.payload)?;
    let state = match part {
        part if part >= ALL_OF_IT => "all",
        part if part >= MOST_OF_IT => "most",
        part if part >= PART_OF_IT => "part",
        _ => "little",
    };
    Observation::of("best", state, format!("at its best it had {rate}, {} of what it should do", percent(part)))
}

/// So many steps at the least, in order of size.
fn sorted(mut steps: Vec<u64>, fewest: usize) -> Option<Vec<u64>> {
    steps.sort_unstable();
    (steps.len() >= fewest).then_some(steps)
}

/// What had been counted by an instant, on the straight line between two samples.
fn counted(stream: &StreamSamples, field: Field, at_us: i64) -> u64 {
    let Some(counts) = whole_column(stream, field) else { return 0 };
    let after = stream.at_us.partition_point(|time| *time <= at_us);
    let Some(before) = after.checked_sub(1) else { return 0 };
    let Some(next) = counts.get(after) else { return counts[before] };
    let (time, span) = (at_us - stream.at_us[before], (stream.at_us[after] - stream.at_us[before]).max(1));
    let more = u128::from(next.saturating_sub(counts[before])) * u128::from(time.unsigned_abs());
    counts[before] + u64::try_from(more / u128::from(span.unsigned_abs())).unwrap_or(0)
}

const RTTS: u32 = 3;
const SHORTEST: Duration = Duration::from_millis(60);
const FEWEST: usize = 8;
/// In percent of the best.
const ALWAYS: u64 = 92;
const MOSTLY: u64 = 70;
/// Of the target.
const ALL_OF_IT: f64 = 0.85;
const MOST_OF_IT: f64 = 0.5;
const PART_OF_IT: f64 = 0.2;
