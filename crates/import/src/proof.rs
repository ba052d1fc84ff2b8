//! Whether the numbers of a row agree with each other. A line that was cut, or whose pieces were put together wrongly,
//! can look like a row; amount over time must be the printed rate all the same.

use std::time::Duration;

use units::{ByteCount, DataRate};

/// What a row prints of one amount, with how far the truth may be from each number by its rounding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) bytes: ByteCount,
    /// Half of the last digit of the amount, in bytes.
    pub(crate) bytes_within: f64,
    pub(crate) elapsed: Duration,
    /// Half of the last digit of the time; of a span, of both its ends together.
    pub(crate) elapsed_within: Duration,
    pub(crate) rate: DataRate,
    /// Half of the last digit of the rate, in bit/s.
    pub(crate) rate_within: f64,
}

impl Claim {
    /// Whether amount over time is the rate, as far as rounding allows.
    pub(crate) fn holds(&self) -> bool {
        let seconds = self.elapsed.as_secs_f64();
        // Over a few hundredths of a second the rounded time proves nothing.
        if seconds < MIN_SECONDS {
            return true;
        }
        #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
        let (bytes, rate) = (self.bytes.get() as f64, self.rate.bps() as f64 / 8.0);
        let allowed = self.bytes_within
            + self.rate_within / 8.0 * seconds
            + rate * self.elapsed_within.as_secs_f64()
            + SLACK * bytes
            + 1.0;
        (bytes - rate * seconds).abs() <= allowed
    }

    /// The rate that the amount over the time is.
    pub(crate) fn computed(&self) -> DataRate {
        DataRate::of(self.bytes, self.elapsed).unwrap_or_default()
    }
}

/// Half of the last digit of a printed number, in its own unit: 0.05 of `12.2`, 0.5 of `12`.
pub(crate) fn half_digit(number: &str) -> f64 {
    let decimals = number.split_once(['.', ',']).map_or(0, |(_, decimals)| decimals.len().min(12));
    0.5 / 10_f64.powi(i32::try_from(decimals).unwrap_or(0))
}

/// iperf3 and nuttcp print rounded times and compute with exact ones: 10 ms of a second at both ends.
const MIN_SECONDS: f64 = 0.05;

/// The clocks of amount and span are read one after the other.
const SLACK: f64 = 0.005;

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(megabytes: f64, seconds: u64, megabits: f64) -> Claim {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
        Claim {
            bytes: ByteCount::new((megabytes * 1_048_576.0) as u64),
            bytes_within: 0.005 * 1_048_576.0,
            elapsed: Duration::from_secs(seconds),
            elapsed_within: Duration::from_millis(10),
            rate: DataRate::from_bps((megabits * 1e6) as u64),
            rate_within: 5_000.0,
        }
    }

    #[test]
    fn rounding_is_allowed_and_a_lost_digit_is_not() {
        assert!(claim(2.28, 10, 1.91).holds());
        assert!(!claim(2.28, 10, 19.1).holds());
        assert!(!claim(2.28, 1, 1.91).holds());
        assert!(!claim(22.8, 10, 1.91).holds());
        assert!(claim(0.0, 1, 0.0).holds());
        assert!(!claim(0.0, 1, 1.0).holds());
        assert_eq!(half_digit("12.25"), 0.005);
    }
}
