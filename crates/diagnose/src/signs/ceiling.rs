//! How often the rate of a flow is near the best that it reaches. What a link or a policer limits runs along a ceiling; what losses
//! or others cut back is there now and then.

use std::time::Duration;

use model::measurement::{End, Heading};
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};

use super::Observation;

/// Of all streams of a direction, by what their receivers took in each step of some RTTs. The first quarter is the start.
pub(super) fn ceiling(samples: &RunSamples, heading: Heading, rtt: Duration) -> Option<Observation> {
    let of_end = |end| {
        let of = samples.streams.iter().filter(move |of| of.heading == heading && of.end == end);
        of.collect::<Vec<&StreamSamples>>()
    };
    let receivers = of_end(End::Receiver);
    let (streams, field) =
        if receivers.is_empty() { (of_end(End::Sender), Field::BytesAcked) } else { (receivers, Field::AppBytes) };
    let end = streams.iter().filter_map(|stream| stream.at_us.last().copied()).max()?;
    let step = i64::try_from((rtt * RTTS).max(SHORTEST).as_micros()).ok()?;
    let edges: Vec<u64> = (0..)
        .map(|number| end / 4 + number * step)
        .take_while(|at| *at <= end)
        .map(|at| streams.iter().map(|stream| taken(stream, field, at)).sum())
        .collect();
    let mut steps: Vec<u64> = edges.windows(2).map(|edge| edge[1].saturating_sub(edge[0])).collect();
    if steps.len() < FEWEST {
        return None;
    }
    steps.sort_unstable();
    let (typical, best) = (steps[steps.len() / 2], steps[steps.len() * 19 / 20].max(1));
    let percent = typical * 100 / best;
    let state = match percent {
        ALWAYS.. => "always",
        MOSTLY.. => "mostly",
        _ => "seldom",
    };
    Observation::of("ceiling", state, format!("half of the time its rate was below {percent} % of its best"))
}

/// What had come by an instant, in bytes, on the straight line between two samples.
fn taken(stream: &StreamSamples, field: Field, at_us: i64) -> u64 {
    let Some(bytes) = stream.column(field).filter(|column| column.len() == stream.at_us.len()) else { return 0 };
    let after = stream.at_us.partition_point(|time| *time <= at_us);
    let Some(before) = after.checked_sub(1) else { return 0 };
    let Some(next) = bytes.get(after) else { return bytes[before] };
    let (time, span) = (at_us - stream.at_us[before], (stream.at_us[after] - stream.at_us[before]).max(1));
    let more = u128::from(next.saturating_sub(bytes[before])) * u128::from(time.unsigned_abs());
    bytes[before] + u64::try_from(more / u128::from(span.unsigned_abs())).unwrap_or(0)
}

const RTTS: u32 = 3;
const SHORTEST: Duration = Duration::from_millis(60);
const FEWEST: usize = 8;
/// In percent of the best.
const ALWAYS: u64 = 92;
const MOSTLY: u64 = 70;
