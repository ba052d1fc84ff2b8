//! WLCG's alarm for lower throughput between sites (sand-ci/AlarmsAndAlerts, ps-throughput). With 6 bins the largest |z| that can be is
//! (n - 1) / sqrt(n) = 2.04, so that only a fault that fills the last bin and no other can alarm.

use super::moments::{DAY_S, moments};
use crate::series::Sample;

/// The last result of each day on which the rule alarms.
pub(super) fn alarms(samples: &[Sample]) -> Vec<usize> {
    let Some(first) = samples.first() else { return Vec::new() };
    let ends_a_day = |at: &usize| {
        let day = |sample: &Sample| (sample.at_s - first.at_s).div_euclid(DAY_S);
        samples.get(at + 1).is_none_or(|next| day(next) != day(&samples[*at]))
    };
    let alarms = |at: &usize| {
        let until = samples[*at].at_s;
        let begin = until - DAYS * DAY_S;
        begin >= first.at_s - DAY_S && decreased(&samples[..=*at], begin)
    };
    (0..samples.len()).filter(ends_a_day).filter(alarms).collect()
}

fn decreased(samples: &[Sample], begin: i64) -> bool {
    let mut bins: Vec<(f64, u32)> = vec![(0.0, 0); BINS];
    for sample in samples.iter().rev().take_while(|sample| sample.at_s > begin) {
        let bin = usize::try_from((sample.at_s - begin - 1) / (BIN_DAYS * DAY_S)).unwrap_or(0);
        if let Some((sum, count)) = bins.get_mut(bin).filter(|_| sample.value.is_finite()) {
            *sum += sample.value;
            *count += 1;
        }
    }
    let means: Vec<f64> = bins.iter().filter(|(_, count)| *count > 0).map(|(sum, n)| sum / f64::from(*n)).collect();
    let ((mean, deviation), Some(last)) = (moments(&means, 1.0), means.last()) else { return false };
    deviation > 0.0 && (last - mean) / deviation <= -2.0 && (last - mean) / mean <= -0.5
}

const DAYS: i64 = 21;
const BIN_DAYS: i64 = 4;
/// 5 of 4 days, and the last of 1 day.
const BINS: usize = 6;
