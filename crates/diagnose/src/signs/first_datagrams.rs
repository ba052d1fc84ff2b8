//! How the first datagrams of a run fared beside later ones. A token bucket lets pass what fills it, however fast that comes, and from then on
//! its rate (RFC 2697); a queue before a slower link lets nothing pass faster than that link; what is lost at random is lost from the start.

use std::time::Duration;

use model::measurement::{Heading, Interval, Measurement};
use units::{ByteCount, DataRate};

use super::Observation;
use super::percent::percent;

/// A run whose first part passed at a rate that later parts did not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EmptiedBucket {
    /// How long nothing was lost.
    pub(crate) until: Duration,
    /// What arrived a second until then.
    pub(crate) first: DataRate,
    /// Least and most of what arrived a second from then on.
    pub(crate) later: [DataRate; 2],
    /// Which part was lost from then on, of all together.
    pub(crate) lost: f64,
    /// What passed at first beyond the rate of later.
    pub(crate) burst: ByteCount,
}

/// The sign, of the intervals that the receiver counted.
pub(super) fn first_datagrams(measurement: &Measurement, heading: Heading) -> Option<Observation> {
    let all = counted(measurement, heading);
    if let Some(bucket) = bucket_of(&all) {
        let [least, most] = bucket.later;
        let says = format!(
            "{} arrived without a loss at first, then {least} to {most} with {} lost: more passed at once than passes a second",
            bucket.first,
            percent(bucket.lost)
        );
        return Observation::of("first-datagrams", "passed-faster", says);
    }
    let (first, later) = all.split_first().filter(|(_, later)| later.len() >= FEWEST)?;
    let usual = lost_of(later);
    let own = first.lost;
    (usual >= LOSSY && own * ALIKE >= usual && own <= usual * ALIKE).then_some(())?;
    let says =
        format!("it lost {} of its datagrams in the first interval, {} in later ones", percent(own), percent(usual));
    Observation::of("first-datagrams", "lost-as-later", says)
}

/// What a bucket let pass, where the run shows one.
pub(crate) fn emptied_bucket(measurement: &Measurement, heading: Heading) -> Option<EmptiedBucket> {
    bucket_of(&counted(measurement, heading))
}

/// An interval of which it is known what was lost.
struct Counted {
    start: Duration,
    end: Duration,
    rate: DataRate,
    lost: f64,
    missing: u64,
    sent: u64,
}

/// Intervals of the usual length with their losses; none where a sender counted.
fn counted(measurement: &Measurement, heading: Heading) -> Vec<Counted> {
    let own: Vec<&Interval> = measurement.intervals.iter().filter(|of| of.heading == heading).take(MOST).collect();
    let Some(length) = own.first().map(|first| first.end.saturating_sub(first.start)) else { return Vec::new() };
    let of = |interval: &&Interval| {
        let (missing, arrived) = (interval.lost?.get(), interval.datagrams?.get());
        let sent = missing.saturating_add(arrived);
        let is_whole = interval.end.saturating_sub(interval.start) * 10 >= length * 9;
        #[expect(clippy::cast_precision_loss, reason = "counts of datagrams")]
        (is_whole && sent > 0).then(|| Counted {
            start: interval.start,
            end: interval.end,
            rate: interval.rate,
            lost: missing as f64 / sent as f64,
            missing,
            sent,
        })
    };
    own.iter().filter_map(of).collect()
}

fn bucket_of(all: &[Counted]) -> Option<EmptiedBucket> {
    let free = all.iter().take_while(|one| one.lost < FREE).count();
    let (first, later) = all.split_at_checked(free).filter(|(first, _)| !first.is_empty())?;
    // In the interval in which the bucket runs empty more passes than later.
    let later = later.get(1..)?;
    (later.len() >= FEWEST && later.iter().all(|one| one.lost >= CUT)).then_some(())?;
    let (least, most) = (later.iter().map(|one| one.rate).min()?, later.iter().map(|one| one.rate).max()?);
    let tenths = |rate: DataRate, tenths: u128| u128::from(rate.bps()) * tenths;
    let is_even = tenths(most, 10) <= tenths(least, EVEN_TENTHS);
    let fastest = first.iter().map(|one| one.rate).max()?;
    let middle = DataRate::from_bps(least.bps().midpoint(most.bps()));
    (is_even && tenths(fastest, 10) >= tenths(most, FASTER_TENTHS)).then_some(())?;
    let burst = first.iter().map(|one| {
        let beyond = one.rate.bps().saturating_sub(middle.bps());
        u128::from(beyond) * one.end.saturating_sub(one.start).as_millis() / 8_000
    });
    Some(EmptiedBucket {
        until: first.last()?.end.saturating_sub(first.first()?.start),
        first: fastest,
        later: [least, most],
        lost: lost_of(later),
        burst: ByteCount::new(u64::try_from(burst.sum::<u128>()).unwrap_or(u64::MAX)),
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of datagrams")]
fn lost_of(all: &[Counted]) -> f64 {
    let sum = |of: fn(&Counted) -> u64| all.iter().fold(0_u64, |sum, one| sum.saturating_add(of(one)));
    sum(|one| one.missing) as f64 / sum(|one| one.sent).max(1) as f64
}

/// Later intervals that show what passes for good.
const FEWEST: usize = 3;
/// A day of intervals of a second.
const MOST: usize = 100_000;
/// Below this part of an interval next to nothing is lost.
const FREE: f64 = 2e-3;
/// From here on something is cut, and not unlucky.
const CUT: f64 = 0.05;
/// From this part on a share of losses can be compared.
const LOSSY: f64 = 5e-3;
/// Parts that differ by less are the same.
const ALIKE: f64 = 1.5;
/// The fastest interval is at most so many tenths of the slowest where what arrives is even: 1.16 times where a log showed it.
const EVEN_TENTHS: u128 = 13;
/// So many tenths of what arrives later are more than that.
const FASTER_TENTHS: u128 = 13;

#[cfg(test)]
mod tests {
    use super::*;
    use units::PacketCount;

    /// A second each: what arrived in Mbit/s, and datagrams that arrived and that were lost.
    fn run(seconds: &[[u64; 3]]) -> Measurement {
        let interval = |(at, [mbits, arrived, lost]): (u64, &[u64; 3])| Interval {
            start: Duration::from_secs(at),
            end: Duration::from_secs(at + 1),
            heading: Heading::Inbound,
            bytes: ByteCount::new(mbits * 125_000),
            rate: DataRate::from_bps(mbits * 1_000_000),
            retransmits: None,
            rtt: None,
            cwnd: None,
            lost: Some(PacketCount::new(*lost)),
            datagrams: Some(PacketCount::new(*arrived)),
        };
        Measurement { intervals: (0..).zip(seconds).map(interval).collect(), ..Measurement::default() }
    }

    fn state(seconds: &[[u64; 3]]) -> Option<&'static str> {
        first_datagrams(&run(seconds), Heading::Inbound).map(|seen| seen.seen.state().name)
    }

    #[test]
    fn a_bucket_lets_pass_more_at_first_than_it_does_later() {
        let seconds = [[55, 840, 0], [33, 500, 480], [29, 440, 560], [30, 450, 550], [31, 470, 530]];
        assert_eq!(state(&seconds), Some("passed-faster"));
        let bucket = emptied_bucket(&run(&seconds), Heading::Inbound).expect("a bucket");
        assert_eq!((bucket.until.as_secs(), bucket.burst.get()), (1, 3_125_000));
    }

    #[test]
    fn a_queue_that_fills_lets_nothing_pass_faster() {
        assert_eq!(state(&[[31, 460, 0], [31, 470, 480], [30, 450, 560], [31, 460, 550], [31, 470, 530]]), None);
    }

    #[test]
    fn what_is_lost_at_random_is_lost_from_the_start() {
        let seconds = [[7, 610, 220], [7, 630, 230], [7, 630, 240], [7, 640, 230]];
        assert_eq!(state(&seconds), Some("lost-as-later"));
        assert_eq!(state(&seconds[..3]), None, "too few");
        assert_eq!(state(&[[7, 610, 0], [7, 630, 0], [7, 630, 0], [7, 640, 0]]), None, "nothing is lost");
    }

    #[test]
    fn rates_that_come_and_go_are_no_bucket() {
        assert_eq!(state(&[[55, 840, 0], [50, 700, 80], [20, 300, 600], [44, 650, 300], [31, 470, 530]]), None);
    }
}
