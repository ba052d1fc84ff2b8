//! An RTT that becomes another one while a flow runs: packets took another path.
//!
//! A queue that fills makes RTTs grow as well. It grows with the window, over many round trips, swings with it, and while it fills
//! the rate still rises. Another path is another RTT from one probe to the next, with the rate that was there before or less.

use model::measurement::{End, Heading};
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};

use super::rows::streams;

/// RTTs before and after they jumped and stayed so, in microseconds.
pub(super) fn jump(samples: &RunSamples, heading: Heading) -> Option<(f64, f64)> {
    let probes = &samples.probes;
    let trips: Vec<(i64, f64)> =
        probes.sent_us.iter().zip(&probes.rtt_us).filter_map(|(sent, rtt)| Some((*sent, f64::from((*rtt)?)))).collect();
    if trips.len() < FEWEST {
        return None;
    }
    let step = |at: &usize| {
        let near = |range: std::ops::Range<usize>| sorted(&trips[range]);
        let (before, after) = (near(at - NEAR..*at), near(at + GAP..at + GAP + NEAR));
        ratio(before[NEAR / 2], after[NEAR / 2])
    };
    let at = (NEAR..trips.len() - NEAR - GAP).max_by(|one, other| step(one).total_cmp(&step(other)))?;
    let (first, last) = (sorted(&trips[at.saturating_sub(LONG)..at]), sorted(&trips[at + GAP..]));
    let part = |of: &[f64], tenths: usize| of[of.len() * tenths / 10];
    let (before, after) = (part(&first, 1), part(&last, 1));
    let is_apart = part(&first, 9) * APART < after || part(&last, 9) * APART < before;
    let spread = |of: &[f64]| part(of, 8) - part(of, 1);
    let is_steady = spread(&first).max(spread(&last)) < 0.3 * (after - before).abs();
    let is_jump = ratio(before, after) >= CHANGED && is_apart && is_steady && !rises(samples, heading, trips[at].0);
    let idle = sorted(&trips[..trips.partition_point(|(sent, _)| *sent < 0)]);
    // What ends where it was without load is a queue that is empty again.
    let is_back = idle.get(idle.len() / 2).is_some_and(|idle| ratio(*idle, after) < APART);
    (is_jump && !is_back).then_some((before, after)).or_else(|| settles_higher(samples, heading, &trips))
}

/// The same where the queue of a slower path is full for a time first: RTTs settle, well above what they were, with no queue left, since the
/// rate went down and nothing is lost.
fn settles_higher(samples: &RunSamples, heading: Heading, trips: &[(i64, f64)]) -> Option<(f64, f64)> {
    let loaded = &trips[trips.partition_point(|(sent, _)| *sent < 0)..];
    let (first, last) = (loaded.get(..loaded.len() / 4)?, loaded.get(loaded.len() * 3 / 4..)?);
    let (began, settled_us) = (first.first()?.0, last.first()?.0);
    let part = |of: &[f64], tenths: usize| of.get(of.len() * tenths / 10).copied();
    let (first, last) = (sorted(first), sorted(last));
    let (before, after) = (part(&first, 1)?, part(&last, 1)?);
    let is_settled = part(&last, 9)? - after < SETTLED * after;
    let is_apart = after >= before * CHANGED && part(&first, 9)? * APART < after;
    let quarter = trips.last()?.0 - settled_us;
    let receivers = streams(samples, heading, End::Receiver);
    let came = |from: i64| {
        let in_quarter = |of: &&StreamSamples| taken(of, from + quarter).saturating_sub(taken(of, from));
        receivers.iter().map(in_quarter).sum::<u64>()
    };
    let is_slower = came(settled_us) * 2 < came(began);
    let lost = |stream: &&StreamSamples| {
        let again = stream.column(Field::TotalRetrans)?;
        let row = stream.at_us.partition_point(|time| *time <= settled_us).checked_sub(1)?;
        again.last()?.checked_sub(*again.get(row)?)
    };
    let loses_nothing = streams(samples, heading, End::Sender).iter().all(|stream| lost(stream) == Some(0));
    (is_settled && is_apart && is_slower && loses_nothing).then_some((before, after))
}

/// Whether the rate still rose at an instant: much more came in the time after it than in the same time before.
fn rises(samples: &RunSamples, heading: Heading, at_us: i64) -> bool {
    let receivers = streams(samples, heading, End::Receiver);
    let (before, after) = receivers.into_iter().fold((0, 0), |(before, after), stream| {
        let (earlier, now, later) =
            (taken(stream, at_us - AROUND_US), taken(stream, at_us), taken(stream, at_us + AROUND_US));
        (before + now.saturating_sub(earlier), after + later.saturating_sub(now))
    });
    before == 0 || before * 4 < after * 3
}

/// What had come by an instant, in bytes.
fn taken(stream: &StreamSamples, at_us: i64) -> u64 {
    let Some(bytes) = stream.column(Field::AppBytes) else { return 0 };
    let row = stream.at_us.partition_point(|time| *time <= at_us);
    row.checked_sub(1).and_then(|row| bytes.get(row)).copied().unwrap_or(0)
}

fn sorted(trips: &[(i64, f64)]) -> Vec<f64> {
    let mut sorted: Vec<f64> = trips.iter().map(|(_, rtt)| *rtt).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The larger over the smaller of two.
fn ratio(one: f64, other: f64) -> f64 {
    (one / other.max(1.0)).max(other / one.max(1.0))
}

/// Fewer probes tell nothing.
const FEWEST: usize = 40;
/// Probes at each side of a step that say how long RTTs are there, and those between that may be of either.
const NEAR: usize = 8;
const GAP: usize = 2;
/// Probes before a step that have to agree: those of the start of a flow do not.
const LONG: usize = 40;
/// By what factor RTTs change on another path, at least.
const CHANGED: f64 = 1.4;
/// By what factor nine of ten at one side stay clear of the others.
const APART: f64 = 1.1;
/// What settled varies by less than this part.
const SETTLED: f64 = 0.05;
const AROUND_US: i64 = 300_000;

#[cfg(test)]
mod tests {
    use super::*;
    use model::measurement::Whose;
    use model::series::Column;

    /// A probe every 20 ms, and a receiver at a rate of bytes in each of those steps.
    fn samples(rtt_us: impl Fn(i64) -> f64, bytes: impl Fn(i64) -> u64) -> RunSamples {
        let mut samples = RunSamples::default();
        let mut sum = 0;
        let (mut at_us, mut values) = (Vec::new(), Vec::new());
        for number in 0..200 {
            samples.probes.sent_us.push(number * 20_000);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
            samples.probes.rtt_us.push(Some(rtt_us(number) as u32));
            sum += bytes(number);
            at_us.push(number * 20_000);
            values.push(sum);
        }
        let columns = vec![Column { field: Field::AppBytes, values }];
        let (heading, end, whose) = (Heading::Outbound, End::Receiver, Whose::Peer);
        samples.streams.push(StreamSamples { stream: 1, heading, end, whose, at_us, columns });
        samples
    }

    #[test]
    fn another_path_is_another_rtt_at_once() {
        let other = samples(|number| if number < 100 { 10_000.0 } else { 30_000.0 }, |_| 1_000);
        let (before, after) = jump(&other, Heading::Outbound).unwrap();
        assert!(before < 11_000.0 && after > 29_000.0, "{before} {after}");
    }

    #[test]
    fn a_slower_path_is_another_rtt_once_its_queue_is_empty() {
        let rtt = |number: i64| match number {
            ..80 => 22_000.0,
            80..120 => 70_000.0 + (number - 80) as f64 * 2_000.0,
            _ => 70_000.0,
        };
        let mut moved = samples(rtt, |number| if number < 80 { 1_000 } else { 300 });
        let at_us = moved.streams[0].at_us.clone();
        let columns = vec![Column { field: Field::TotalRetrans, values: vec![7; at_us.len()] }];
        let sender = StreamSamples { end: End::Sender, columns, at_us, ..moved.streams[0].clone() };
        moved.streams.push(sender);
        assert_eq!(jump(&moved, Heading::Outbound), Some((22_000.0, 70_000.0)));
        // What is lost until the end is lost to a queue that others keep full.
        let again = moved.streams[1].columns[0].values.iter_mut().enumerate();
        again.for_each(|(row, value)| *value = row as u64);
        assert_eq!(jump(&moved, Heading::Outbound), None);
    }

    #[test]
    fn a_queue_that_fills_is_no_other_path() {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let filling = |number: i64| 10_000.0 + (number.min(100) as f64) * 200.0;
        assert_eq!(jump(&samples(filling, |_| 1_000), Heading::Outbound), None);
        let started = |number: i64| if number < 20 { 10_000.0 } else { 20_000.0 };
        let rate = |number: i64| if number < 20 { 100 } else { 1_000 };
        assert_eq!(jump(&samples(started, rate), Heading::Outbound), None, "its rate rose until then");
    }
}
