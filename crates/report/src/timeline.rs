//! Payload over time, and the intervals cut from it.

use std::time::Duration;

use model::measurement::{End, Heading, Interval};
use model::series::StreamSamples;
use model::series::field::Field;
use units::{ByteCount, DataRate, PacketCount};

/// Payload of one direction over time, summed over its streams.
///
/// Taken where it left the path, if the receiver told; else where it was acknowledged, which is later by half a round
/// trip; else where it was handed over, which is earlier by the send buffer.
#[derive(Debug, Clone)]
pub struct Timeline<'a> {
    curves: Vec<Curve<'a>>,
    senders: Vec<&'a StreamSamples>,
    receivers: Vec<&'a StreamSamples>,
    heading: Heading,
}

/// A growing count at growing times.
#[derive(Debug, Clone, Copy)]
struct Curve<'a> {
    at_us: &'a [i64],
    values: &'a [u64],
}

impl<'a> Timeline<'a> {
    /// The timeline of `heading`; `None` where there are no samples of it.
    #[must_use]
    pub fn new(samples: &'a [StreamSamples], heading: Heading) -> Option<Self> {
        let of = |end| -> Vec<&StreamSamples> {
            samples.iter().filter(|stream| stream.heading == heading && stream.end == end).collect()
        };
        let (senders, receivers) = (of(End::Sender), of(End::Receiver));
        let curves = curves(&receivers, Field::AppBytes)
            .or_else(|| curves(&senders, Field::BytesAcked))
            .or_else(|| curves(&senders, Field::AppBytes))?;
        Some(Self { curves, senders, receivers, heading })
    }

    /// Whether it shows what was sent, because nobody counted over time what arrived or was acknowledged.
    #[must_use]
    pub fn is_as_sent(&self) -> bool {
        self.receivers.is_empty() && curves(&self.senders, Field::BytesAcked).is_none()
    }

    /// When the last sample was taken, in microseconds from the start.
    #[must_use]
    pub fn end_us(&self) -> i64 {
        self.curves.iter().filter_map(|curve| curve.at_us.last().copied()).max().unwrap_or(0)
    }

    /// Payload until a moment.
    #[must_use]
    pub fn bytes_at(&self, at_us: i64) -> u64 {
        self.curves.iter().map(|curve| curve.at(at_us)).sum()
    }

    /// Payload within equal steps up to `end_us`; a last part shorter than a step is left out.
    #[must_use]
    pub fn steps(&self, step_us: i64, end_us: i64) -> Vec<ByteCount> {
        let edges = (0..=end_us / step_us.max(1)).map(|edge| self.bytes_at(edge * step_us));
        edges
            .scan(None, |before: &mut Option<u64>, now| {
                Some(before.replace(now).map(|before| now.saturating_sub(before)))
            })
            .flatten()
            .map(ByteCount::new)
            .collect()
    }

    /// The run in steps of `length`, up to `end`; the last one may be shorter, but not shorter than a tenth.
    #[must_use]
    pub fn intervals(&self, length: Duration, end: Duration) -> Vec<Interval> {
        let (length, end) = (micros(length).max(1), micros(end));
        let mut intervals = Vec::new();
        let mut from = 0;
        while from < end {
            let mut to = (from + length).min(end);
            if end - to < length / 10 {
                to = end;
            }
            // A peer may have begun a little earlier, and the count of the end is in a sample taken a little later.
            let first = if from == 0 { i64::MIN } else { from };
            let last = if to == end { i64::MAX } else { to };
            intervals.push(self.interval((from, to), (first, last)));
            from = to;
        }
        intervals
    }

    /// The interval `from..to`, with what was counted in `first..last`.
    fn interval(&self, (from, to): (i64, i64), (first, last): (i64, i64)) -> Interval {
        let bytes = ByteCount::new(self.bytes_at(last).saturating_sub(self.bytes_at(first)));
        let (start, end) = (span(from), span(to));
        Interval {
            start,
            end,
            heading: self.heading,
            bytes,
            rate: DataRate::of(bytes, end - start).unwrap_or_default(),
            retransmits: growth(&self.senders, Field::TotalRetrans, first, last),
            rtt: mean_at(&self.senders, Field::Rtt, to).map(Duration::from_micros),
            cwnd: self.cwnd_at(to),
            lost: growth(&self.receivers, Field::AppLost, first, last),
            datagrams: growth(&self.receivers, Field::AppPackets, first, last)
                .or_else(|| growth(&self.senders, Field::AppPackets, first, last)),
        }
    }

    fn cwnd_at(&self, at_us: i64) -> Option<ByteCount> {
        let windows: Option<Vec<u64>> = self
            .senders
            .iter()
            .map(|stream| {
                Some(last_before(stream, Field::SndCwnd, at_us)? * last_before(stream, Field::SndMss, at_us)?)
            })
            .collect();
        windows.filter(|windows| !windows.is_empty()).map(|windows| ByteCount::new(windows.iter().sum()))
    }
}

impl Curve<'_> {
    /// The count at a moment, on the straight line between the two samples around it.
    fn at(&self, at_us: i64) -> u64 {
        let after = self.at_us.partition_point(|sample| *sample <= at_us);
        let point = |index: usize| Some((*self.at_us.get(index)?, *self.values.get(index)?));
        let left = after.checked_sub(1).and_then(point).unwrap_or((0, 0));
        let Some(right) = point(after) else { return left.1 };
        if right.0 <= left.0 || at_us <= left.0 {
            return left.1;
        }
        let part =
            i128::from(at_us - left.0) * i128::from(right.1.saturating_sub(left.1)) / i128::from(right.0 - left.0);
        left.1 + u64::try_from(part).unwrap_or(0)
    }
}

/// The value of a growing count at a moment; `None` where the stream does not tell it.
#[must_use]
pub fn value_at(stream: &StreamSamples, field: Field, at_us: i64) -> Option<u64> {
    let values = stream.column(field).filter(|values| !values.is_empty())?;
    Some(Curve { at_us: &stream.at_us, values }.at(at_us))
}

/// The curves of one field, where every stream has it.
fn curves<'a>(streams: &[&'a StreamSamples], field: Field) -> Option<Vec<Curve<'a>>> {
    let curves: Option<Vec<_>> = streams
        .iter()
        .map(|stream| {
            Some(Curve { at_us: &stream.at_us, values: stream.column(field)? }).filter(|c| !c.at_us.is_empty())
        })
        .collect();
    curves.filter(|curves| !curves.is_empty())
}

/// By how much a count grew over all streams; `None` where a stream does not tell.
fn growth(streams: &[&StreamSamples], field: Field, from: i64, to: i64) -> Option<PacketCount> {
    let grown = |stream: &&StreamSamples| {
        let until = |at| last_before(stream, field, at).unwrap_or(0);
        stream.column(field).map(|_| until(to).saturating_sub(until(from)))
    };
    let all: Option<Vec<u64>> = streams.iter().map(grown).collect();
    all.filter(|all| !all.is_empty()).map(|all| PacketCount::new(all.iter().sum()))
}

fn mean_at(streams: &[&StreamSamples], field: Field, at_us: i64) -> Option<u64> {
    let values: Vec<u64> = streams.iter().filter_map(|stream| last_before(stream, field, at_us)).collect();
    values.iter().sum::<u64>().checked_div(values.len() as u64).filter(|_| !values.is_empty())
}

/// The value of the last sample up to a moment.
fn last_before(stream: &StreamSamples, field: Field, at_us: i64) -> Option<u64> {
    let after = stream.at_us.partition_point(|sample| *sample <= at_us);
    stream.column(field)?.get(after.checked_sub(1)?).copied()
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

fn span(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use model::measurement::Whose;
    use model::series::Column;

    use super::*;

    fn stream(end: End, field: Field, points: &[(i64, u64)]) -> StreamSamples {
        StreamSamples {
            stream: 1,
            heading: Heading::Outbound,
            end,
            whose: Whose::Local,
            at_us: points.iter().map(|point| point.0).collect(),
            columns: vec![Column { field, values: points.iter().map(|point| point.1).collect() }],
        }
    }

    #[test]
    fn payload_between_samples_lies_on_a_line() {
        let samples = [stream(End::Receiver, Field::AppBytes, &[(0, 0), (100, 1_000), (300, 2_000)])];
        let timeline = Timeline::new(&samples, Heading::Outbound).unwrap();
        assert_eq!([-5, 50, 100, 200, 300, 900].map(|at| timeline.bytes_at(at)), [0, 500, 1_000, 1_500, 2_000, 2_000]);
        assert_eq!(timeline.steps(100, 300).iter().map(|b| b.get()).collect::<Vec<_>>(), [1_000, 500, 500]);
    }

    #[test]
    fn the_receivers_count_is_preferred() {
        let samples = [
            stream(End::Sender, Field::BytesAcked, &[(0, 0), (100, 7)]),
            stream(End::Receiver, Field::AppBytes, &[(0, 0), (100, 5)]),
        ];
        assert_eq!(Timeline::new(&samples, Heading::Outbound).unwrap().bytes_at(100), 5);
        assert!(Timeline::new(&samples, Heading::Inbound).is_none());
    }

    #[test]
    fn the_outer_intervals_have_what_was_counted_beyond_their_edges() {
        let samples = [stream(End::Receiver, Field::AppBytes, &[(-10, 0), (90, 900), (110, 1_000)])];
        let timeline = Timeline::new(&samples, Heading::Outbound).unwrap();
        let intervals = timeline.intervals(Duration::from_micros(50), Duration::from_micros(100));
        assert_eq!(intervals.iter().map(|i| i.bytes.get()).collect::<Vec<_>>(), [540, 460]);
    }

    #[test]
    fn intervals_add_up_to_the_whole() {
        let samples = [stream(End::Receiver, Field::AppBytes, &[(0, 0), (1_000_000, 900), (2_350_000, 4_000)])];
        let timeline = Timeline::new(&samples, Heading::Outbound).unwrap();
        let intervals = timeline.intervals(Duration::from_secs(1), Duration::from_micros(2_350_000));
        assert_eq!(intervals.len(), 3);
        assert_eq!(intervals.iter().map(|i| i.bytes).sum::<ByteCount>(), ByteCount::new(4_000));
        let merged = timeline.intervals(Duration::from_secs(1), Duration::from_micros(2_050_000));
        assert_eq!(merged.len(), 2, "a last part under a tenth joins the one before");
    }
}
