//! Smaller segments that got through where full ones had not: what a sender finds that probes for the size of the path (RFC 4821;
//! `net.ipv4.tcp_mtu_probing`), after nobody has told it.

use std::fmt;
use std::time::Duration;

use model::measurement::{End, Heading};
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};

use super::rows::{streams, whole_column};
use crate::swallowed::packet_below;

/// Nothing was acknowledged for a time, and then the sender took smaller segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShrunkSegments {
    /// Payload of a segment before and after, in bytes.
    before: u64,
    after: u64,
    stood: Duration,
}

impl ShrunkSegments {
    /// Of the first stream of a heading that shows it. A path that says how much it takes is believed at once, without a silence.
    pub(super) fn of(samples: &RunSamples, heading: Heading) -> Option<Self> {
        streams(samples, heading, End::Sender).into_iter().find_map(Self::of_stream)
    }

    fn of_stream(stream: &StreamSamples) -> Option<Self> {
        let segment = whole_column(stream, Field::SndMss)?;
        let acknowledged = whole_column(stream, Field::BytesAcked)?;
        let again = whole_column(stream, Field::TotalRetrans)?;
        let smaller = (1..segment.len()).find(|row| segment[*row] < segment[row - 1])?;
        let last = smaller - 1;
        // Since the last byte that was acknowledged before it.
        let first = (0..last).rev().take_while(|row| acknowledged[*row] == acknowledged[last]).last()?;
        let stood = u64::try_from(stream.at_us[last] - stream.at_us[first]).ok().map(Duration::from_micros)?;
        let has_retransmitted = again[last].saturating_sub(again[first]) >= FEWEST_RETRANSMITS;
        // It helped: more than what was under way got through since.
        let got_through = acknowledged.last()?.saturating_sub(acknowledged[last]) >= HELPED * segment[smaller];
        (stood >= SHORTEST && has_retransmitted && got_through).then_some(Self {
            before: segment[last],
            after: segment[smaller],
            stood,
        })
    }

    /// The largest packet that the path may take, in bytes.
    pub(super) fn below(self) -> u32 {
        packet_below(u32::try_from(self.before).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for ShrunkSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before, after, stood } = self;
        let seconds = stood.as_secs_f64();
        write!(f, "nothing was acknowledged for {seconds:.1} s, until segments had {after} bytes in place of {before}")
    }
}

/// A segment that is lost twice is sent again after 0.2 and 0.4 s; a sender looks for a smaller size after several.
const SHORTEST: Duration = Duration::from_millis(1_400);
const FEWEST_RETRANSMITS: u64 = 2;
/// In segments.
const HELPED: u64 = 20;

#[cfg(test)]
mod tests {
    use model::measurement::Whose;
    use model::series::Column;

    use super::*;

    /// A sender each half second: size of its segments, bytes acknowledged, retransmits.
    fn found(rows: &[(u64, u64, u64)]) -> Option<String> {
        let column = |field, of: fn(&(u64, u64, u64)) -> u64| Column { field, values: rows.iter().map(of).collect() };
        let stream = StreamSamples {
            stream: 1,
            heading: Heading::Outbound,
            end: End::Sender,
            whose: Whose::Local,
            at_us: (0..).step_by(500_000).take(rows.len()).collect(),
            columns: vec![
                column(Field::SndMss, |row| row.0),
                column(Field::BytesAcked, |row| row.1),
                column(Field::TotalRetrans, |row| row.2),
            ],
        };
        let samples = RunSamples { streams: vec![stream], ..RunSamples::default() };
        ShrunkSegments::of(&samples, Heading::Outbound).map(|found| found.to_string())
    }

    #[test]
    fn a_size_that_is_found_after_seconds_of_silence_was_swallowed() {
        let silent = [(1_448, 37, 0), (1_448, 37, 1), (1_448, 37, 2), (1_448, 37, 2), (1_448, 37, 3)];
        let helped = [silent.as_slice(), &[(1_024, 90_000, 4), (1_395, 9_000_000, 4)]].concat();
        let says = "nothing was acknowledged for 2.0 s, until segments had 1024 bytes in place of 1448";
        assert_eq!(found(&helped).as_deref(), Some(says));
        assert_eq!(found(&[silent.as_slice(), &[(1_024, 37, 4), (512, 37, 5)]].concat()), None, "it did not help");
    }

    #[test]
    fn a_path_that_says_its_size_is_no_silence() {
        let told = [(1_448, 37, 0), (1_398, 90_000, 1), (1_398, 900_000, 1), (1_398, 9_000_000, 1)];
        assert_eq!(found(&told), None);
    }
}
