//! Two clocks on one: how much to add to the peer's monotonic clock to get ours.

use model::measurement::ClockRelation;
use units::MonoTime;

/// One question and its answer: four times, as in NTP (RFC 5905 §8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Question sent, our clock.
    pub asked: MonoTime,
    /// Question received, the peer's clock.
    pub received: MonoTime,
    /// Answer sent, the peer's clock.
    pub answered: MonoTime,
    /// Answer received, our clock.
    pub heard: MonoTime,
}

impl Exchange {
    /// Time on the way, both directions together.
    #[must_use]
    pub fn rtt_ns(&self) -> u64 {
        let away = self.heard.as_nanos().saturating_sub(self.asked.as_nanos());
        away.saturating_sub(self.answered.as_nanos().saturating_sub(self.received.as_nanos()))
    }

    /// Our clock less the peer's, as if both directions took equally long.
    #[must_use]
    pub fn offset_ns(&self) -> i64 {
        let there = i128::from(self.asked.as_nanos()) - i128::from(self.received.as_nanos());
        let back = i128::from(self.heard.as_nanos()) - i128::from(self.answered.as_nanos());
        i64::try_from((there + back).div_euclid(2)).unwrap_or(0)
    }
}

/// The relation of two clocks by the exchange that was least delayed; `None` without an exchange.
///
/// The true offset lies within half that exchange's round trip, however unequal the two directions are. An exchange
/// after the test tells the drift, where the clocks moved apart by more than the two uncertainties.
#[must_use]
pub fn relate(before: &[Exchange], after: &[Exchange]) -> Option<ClockRelation> {
    let best = least_delayed(before)?;
    let exchanges = u32::try_from(before.len() + after.len()).unwrap_or(u32::MAX);
    let uncertainty_ns = best.rtt_ns().div_ceil(2);
    let drift_ppb = least_delayed(after).and_then(|later| drift_ppb(best, later));
    Some(ClockRelation { offset_ns: best.offset_ns(), uncertainty_ns, drift_ppb, exchanges })
}

fn least_delayed(exchanges: &[Exchange]) -> Option<&Exchange> {
    exchanges.iter().min_by_key(|exchange| exchange.rtt_ns())
}

fn drift_ppb(early: &Exchange, late: &Exchange) -> Option<i64> {
    let moved = late.offset_ns().checked_sub(early.offset_ns())?;
    let noise = (early.rtt_ns() + late.rtt_ns()).div_ceil(2);
    let elapsed = i128::from(late.asked.as_nanos()) - i128::from(early.asked.as_nanos());
    if elapsed <= 0 || moved.unsigned_abs() <= noise {
        return None;
    }
    // The peer's clock runs fast where the offset to add to it shrinks.
    i64::try_from(-i128::from(moved) * 1_000_000_000 / elapsed).ok()
}

/// A peer's time on our clock, `ClockRelation` applied: `local = peer + offset - drift * elapsed`.
#[must_use]
pub fn to_local(relation: &ClockRelation, peer: MonoTime, peer_start: MonoTime) -> MonoTime {
    let elapsed = i128::from(peer.as_nanos()) - i128::from(peer_start.as_nanos());
    let drift = elapsed * i128::from(relation.drift_ppb.unwrap_or(0)) / 1_000_000_000;
    let local = i128::from(peer.as_nanos()) + i128::from(relation.offset_ns) - drift;
    MonoTime::from_nanos(u64::try_from(local.max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(asked: u64, peer_ahead: i64, there: u64, back: u64) -> Exchange {
        let peer = |time: u64| MonoTime::from_nanos(time.checked_add_signed(peer_ahead).unwrap());
        let received = asked + there;
        Exchange {
            asked: MonoTime::from_nanos(asked),
            received: peer(received),
            answered: peer(received + 20),
            heard: MonoTime::from_nanos(received + 20 + back),
        }
    }

    #[test]
    fn the_least_delayed_exchange_decides() {
        let relation = relate(&[exchange(1_000, 500, 900, 100), exchange(5_000, 500, 40, 60)], &[]).unwrap();
        assert_eq!(relation.uncertainty_ns, 50);
        assert_eq!(relation.offset_ns, -490, "10 ns off the truth: half the asymmetry");
        assert_eq!(relation.exchanges, 2);
    }

    #[test]
    fn the_truth_is_within_the_stated_uncertainty_however_unequal_the_ways() {
        for (there, back) in [(1, 1_000), (1_000, 1), (500, 500)] {
            let relation = relate(&[exchange(10_000, -3_000, there, back)], &[]).unwrap();
            assert!(relation.offset_ns.abs_diff(3_000) <= relation.uncertainty_ns);
        }
    }

    #[test]
    fn drift_is_told_only_where_it_exceeds_the_noise() {
        let start = exchange(0, 1_000_000, 50, 50);
        let second = 1_000_000_000;
        let drifted = exchange(10 * second, 1_000_000 + 100_000, 50, 50);
        assert_eq!(relate(&[start], &[drifted]).unwrap().drift_ppb, Some(10_000), "100 µs in 10 s is 10 ppm");
        let still = exchange(10 * second, 1_000_000 + 90, 50, 50);
        assert_eq!(relate(&[start], &[still]).unwrap().drift_ppb, None);
        assert_eq!(relate(&[], &[start]), None);
    }

    #[test]
    fn a_peers_time_lands_on_our_clock() {
        let relation = ClockRelation { offset_ns: -500, uncertainty_ns: 1, drift_ppb: Some(10_000), exchanges: 1 };
        let start = MonoTime::from_nanos(1_000_000_000);
        let end = MonoTime::from_nanos(2_000_000_000);
        assert_eq!(to_local(&relation, start, start), MonoTime::from_nanos(999_999_500));
        assert_eq!(to_local(&relation, end, start), MonoTime::from_nanos(1_999_989_500));
    }
}
