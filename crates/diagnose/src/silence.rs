//! One time in which nothing of a flow got through: a link that was down, a route that was gone.
//!
//! A sender that nobody answers tries again each time its retransmission timer ends, and its window is one segment then (RFC 5681
//! section 3.1). A program that has nothing to send, or a receiver whose window is closed, makes no retransmits. Loss that is heavy
//! enough makes flows wait for the timer as well, but again and again.

use std::time::Duration;

use model::measurement::{Heading, Interval, Measurement};

/// Intervals in a row in which nothing arrived, though something had arrived before.
pub(crate) struct Silence<'a> {
    intervals: &'a [&'a Interval],
}

/// In what a flow sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentSegments {
    /// In bytes.
    pub(crate) payload: u32,
    pub(crate) streams: u32,
}

impl<'a> Silence<'a> {
    /// The intervals of a heading from the first in which data arrived: none does before the first round trip is over.
    pub(crate) fn since_start(measurement: &Measurement, heading: Heading) -> Vec<&Interval> {
        let of_heading = measurement.intervals.iter().filter(|of| of.heading == heading);
        of_heading.skip_while(|of| of.bytes.get() <= OF_OPENING).collect()
    }

    /// The longest of them, where the others are short beside it, and it is too long for a packet that was lost several times.
    pub(crate) fn only(intervals: &'a [&'a Interval], rtt: Option<Duration>) -> Option<Self> {
        let shortest = rtt.map_or(SHORTEST, |rtt| SHORTEST.max(rtt * RTTS));
        Self::longest(intervals, shortest, |of| of.bytes.get() == 0).or_else(|| {
            // The intervals in which it began and ended have little in them, and between them is one that has nothing.
            let little = typical(intervals)? / LITTLE;
            let found = Self::longest(intervals, shortest, |of| of.bytes.get() <= little)?;
            found.intervals.iter().any(|of| of.bytes.get() == 0).then_some(found)
        })
    }

    /// The same of datagrams, which wait for no timer. The last one before it may be counted until the first one after it.
    pub(crate) fn of_datagrams(intervals: &'a [&'a Interval]) -> Option<Self> {
        let some = typical(intervals)? / SMALL_PART;
        Self::longest(intervals, SHORTEST, |of| of.bytes.get() <= some)
    }

    fn longest(intervals: &'a [&'a Interval], shortest: Duration, dark: impl Fn(&Interval) -> bool) -> Option<Self> {
        let of_intervals = intervals.chunk_by(|one, other| dark(one) == dark(other));
        let all: Vec<Self> = of_intervals.filter(|chunk| dark(chunk[0])).map(|intervals| Self { intervals }).collect();
        let together: Duration = all.iter().map(Self::lasted).sum();
        let longest = all.into_iter().max_by_key(Self::lasted)?;
        let others = together.saturating_sub(longest.lasted());
        (longest.lasted() >= shortest && others * OTHERS <= longest.lasted()).then_some(longest)
    }

    /// Whether TCP sent and waited for its timer: its window fell to one segment. What is sent into a device without a link is no retransmit
    /// to the kernel, so that these tell only where nobody printed the window.
    pub(crate) fn is_unanswered(&self, sent: SentSegments) -> bool {
        let closed = FEW_SEGMENTS * u64::from(sent.payload) * u64::from(sent.streams.max(1));
        match self.intervals.last().and_then(|last| last.cwnd) {
            Some(cwnd) => cwnd.get() <= closed,
            None => self.intervals.iter().any(|of| of.retransmits.is_some_and(|again| again.get() > 0)),
        }
    }

    /// Whether an interval is a part of it, or the first after it, in which the flow starts again.
    pub(crate) fn has(&self, interval: &Interval) -> bool {
        let ended = self.began() + self.lasted();
        interval.start >= self.began() && interval.start <= ended
    }

    pub(crate) fn began(&self) -> Duration {
        self.intervals.first().map_or(Duration::ZERO, |first| first.start)
    }

    pub(crate) fn lasted(&self) -> Duration {
        self.intervals.last().map_or(Duration::ZERO, |last| last.end.saturating_sub(self.began()))
    }
}

/// What half of the intervals have at the most, in bytes.
fn typical(intervals: &[&Interval]) -> Option<u64> {
    let mut bytes: Vec<u64> = intervals.iter().map(|of| of.bytes.get()).collect();
    bytes.sort_unstable();
    bytes.get(bytes.len() / 2).copied()
}

/// A retransmission timer ends after 0.2 s, and its second and third time after 0.4 and 0.8 s: one loss after another takes that long.
const SHORTEST: Duration = Duration::from_millis(1_500);
const RTTS: u32 = 8;
/// What a test says on a new connection before its data, in bytes: the cookie of iperf3, and the like.
const OF_OPENING: u64 = 256;
/// Other silences together last at most one part in so many of the longest.
const OTHERS: u32 = 4;
/// In parts of what an interval has half of the time.
const SMALL_PART: u64 = 100;
const LITTLE: u64 = 5;
/// The window of a stream that nobody answers, with a few segments that it may send for acknowledgments that come late.
const FEW_SEGMENTS: u64 = 4;

#[cfg(test)]
mod tests {
    use units::{ByteCount, DataRate, PacketCount};

    use super::*;

    const ONE_STREAM: SentSegments = SentSegments { payload: 1_448, streams: 1 };

    /// Intervals of a second with so many megabytes and retransmits in each.
    fn seconds(of: &[(u64, u64)]) -> Measurement {
        let interval = |(number, (megabytes, again)): (u64, &(u64, u64))| Interval {
            start: Duration::from_secs(number),
            end: Duration::from_secs(number + 1),
            heading: Heading::Outbound,
            bytes: ByteCount::new(megabytes * 1_000_000),
            rate: DataRate::from_bps(megabytes * 8_000_000),
            retransmits: Some(PacketCount::new(*again)),
            rtt: None,
            cwnd: Some(ByteCount::new(if *megabytes == 0 { 1_448 } else { 1_448_000 })),
            lost: None,
            datagrams: None,
        };
        Measurement { intervals: (0..).zip(of).map(interval).collect(), ..Measurement::default() }
    }

    fn found(of: &[(u64, u64)]) -> Option<(u64, u64, bool)> {
        let measurement = seconds(of);
        let intervals = Silence::since_start(&measurement, Heading::Outbound);
        let silence = Silence::only(&intervals, Some(Duration::from_millis(20)))?;
        Some((silence.began().as_secs(), silence.lasted().as_secs(), silence.is_unanswered(ONE_STREAM)))
    }

    #[test]
    fn a_link_that_is_down_for_some_seconds_is_one_silence() {
        let cut = [(0, 0), (20, 40), (24, 0), (0, 2), (0, 1), (0, 0), (22, 800), (24, 0)];
        assert_eq!(found(&cut), Some((3, 3, true)));
        let begun_in_an_interval = [(22, 40), (24, 0), (1, 2), (0, 0), (22, 307), (24, 0)];
        assert_eq!(found(&begun_in_an_interval), Some((2, 2, true)));
        let until_the_end = [(20, 40), (24, 0), (24, 0), (0, 3), (0, 0)];
        assert_eq!(found(&until_the_end), Some((3, 2, true)));
    }

    #[test]
    fn a_datagram_that_is_counted_over_the_silence_does_not_fill_it() {
        let mut measurement = seconds(&[(20, 0), (24, 0), (0, 0), (0, 0), (22, 0), (24, 0)]);
        for dark in &mut measurement.intervals[2..4] {
            dark.bytes = ByteCount::new(600);
        }
        let intervals = Silence::since_start(&measurement, Heading::Outbound);
        assert!(Silence::only(&intervals, None).is_none());
        let silence = Silence::of_datagrams(&intervals).map(|silence| (silence.began(), silence.lasted()));
        assert_eq!(silence, Some((Duration::from_secs(2), Duration::from_secs(2))));
    }

    #[test]
    fn a_flow_that_never_moved_was_not_cut_off() {
        let mut measurement = seconds(&[(0, 2), (0, 1), (0, 1), (0, 0), (0, 1), (0, 0)]);
        measurement.intervals[0].bytes = ByteCount::new(37);
        assert!(Silence::since_start(&measurement, Heading::Outbound).is_empty());
    }

    #[test]
    fn a_program_that_pauses_keeps_its_window() {
        let mut measurement = seconds(&[(20, 40), (24, 0), (0, 0), (0, 0), (24, 0)]);
        measurement.intervals.iter_mut().for_each(|of| of.cwnd = Some(ByteCount::new(1_448_000)));
        let intervals = Silence::since_start(&measurement, Heading::Outbound);
        let silence = Silence::only(&intervals, None).expect("two seconds without data");
        assert!(!silence.is_unanswered(ONE_STREAM));
    }

    #[test]
    fn loss_that_makes_a_flow_wait_again_and_again_is_no_silence() {
        assert_eq!(found(&[(1, 40), (0, 3), (0, 1), (1, 20), (0, 2), (1, 9), (0, 1), (0, 1), (2, 5)]), None);
        assert_eq!(found(&[(20, 40), (24, 0), (0, 3), (24, 0)]), None, "a second is one packet that was lost twice");
        assert_eq!(found(&[(20, 40), (24, 0), (24, 0)]), None);
    }
}
