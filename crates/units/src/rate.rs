//! How fast data moves.

use std::fmt;
use std::ops::{Add, Mul};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ByteCount;
use crate::parse::{Grammar, ParseError, Unit, write_scaled};

/// A rate of data, stored as whole bits per second, so that 1 bit/s to 18 Ebit/s can be told apart exactly.
///
/// Zero is a value (nothing moved), not a configuration: readers of settings use [`DataRate::is_zero`] to refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct DataRate(u64);

impl DataRate {
    /// Nothing moves.
    pub const ZERO: Self = Self(0);

    /// A rate of `bps` bits per second.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Bits per second.
    #[must_use]
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Whole bytes per second, as the kernel counts pacing and delivery rates.
    #[must_use]
    pub const fn bytes_per_second(self) -> u64 {
        self.0 / 8
    }

    /// A rate of `bytes` each second; saturates at the largest rate.
    #[must_use]
    pub const fn from_bytes_per_second(bytes: u64) -> Self {
        Self(bytes.saturating_mul(8))
    }

    /// The mean rate of `amount` moved within `elapsed`; `None` where no time passed.
    #[must_use]
    pub fn of(amount: ByteCount, elapsed: Duration) -> Option<Self> {
        let nanos = elapsed.as_nanos();
        if nanos == 0 {
            return None;
        }
        let bits_times_nanos = u128::from(amount.get()) * 8 * 1_000_000_000;
        Some(Self(u64::try_from(bits_times_nanos / nanos).unwrap_or(u64::MAX)))
    }

    /// How long `amount` takes at this rate, rounded up to a nanosecond; `None` at rate zero.
    #[must_use]
    pub fn time_for(self, amount: ByteCount) -> Option<Duration> {
        if self.0 == 0 {
            return None;
        }
        // Up to 2.3 GB in 64 bits, which is several times as fast and asked for with every packet of a path.
        if let Some(bits_times_nanos) = amount.get().checked_mul(8 * 1_000_000_000) {
            return Some(Duration::from_nanos(bits_times_nanos.div_ceil(self.0)));
        }
        let nanos = (u128::from(amount.get()) * 8 * 1_000_000_000).div_ceil(u128::from(self.0));
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// Whether nothing moves.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// This rate as a part of `whole`, for display and statistics; `None` where `whole` is zero.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share is shown, never counted with")]
    pub fn share_of(self, whole: Self) -> Option<f64> {
        (whole.0 != 0).then(|| self.0 as f64 / whole.0 as f64)
    }
}

/// What passes in a time at a rate: whole bytes, rounded down.
impl Mul<Duration> for DataRate {
    type Output = ByteCount;

    fn mul(self, time: Duration) -> ByteCount {
        let bytes = u128::from(self.0) * time.as_nanos() / 8 / 1_000_000_000;
        ByteCount::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// Rates of flows that share a path add up; saturates.
impl Add for DataRate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for DataRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(
            f,
            self.0,
            &[
                (1_000_000_000_000, "Tbit/s"),
                (1_000_000_000, "Gbit/s"),
                (1_000_000, "Mbit/s"),
                (1_000, "kbit/s"),
                (1, "bit/s"),
            ],
        )
    }
}

impl FromStr for DataRate {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        GRAMMAR.parse(text).map(Self)
    }
}

const GRAMMAR: Grammar = Grammar {
    quantity: "a rate",
    example: "10Gbit/s",
    units: &[
        Unit { name: "bit/s", factor: 1 },
        Unit { name: "kbit/s", factor: 1_000 },
        Unit { name: "Mbit/s", factor: 1_000_000 },
        Unit { name: "Gbit/s", factor: 1_000_000_000 },
        Unit { name: "Tbit/s", factor: 1_000_000_000_000 },
        Unit { name: "B/s", factor: 8 },
        Unit { name: "kB/s", factor: 8_000 },
        Unit { name: "MB/s", factor: 8_000_000 },
        Unit { name: "GB/s", factor: 8_000_000_000 },
        Unit { name: "KiB/s", factor: 8 << 10 },
        Unit { name: "MiB/s", factor: 8 << 20 },
        Unit { name: "GiB/s", factor: 8 << 30 },
    ],
    hint: |unit| {
        let prefix = unit.chars().next().filter(|c| "kKmMgGtT".contains(*c));
        match prefix.map(|c| c.to_ascii_uppercase()) {
            Some('K') => "write `kbit/s` for 10^3 bits or `kB/s` for 10^3 bytes a second".to_owned(),
            Some(p) => format!("write `{p}bit/s` for bits or `{p}B/s` for bytes a second"),
            None => "write `bit/s`, `kbit/s`, `Mbit/s`, `Gbit/s` or `MB/s`".to_owned(),
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms_are_read_exactly() {
        assert_eq!("10Gbit/s".parse(), Ok(DataRate::from_bps(10_000_000_000)));
        assert_eq!("0.1 Gbit/s".parse(), Ok(DataRate::from_bps(100_000_000)));
        assert_eq!("12.5MB/s".parse(), Ok(DataRate::from_bps(100_000_000)));
    }

    #[test]
    fn an_ambiguous_or_missing_unit_is_refused_with_the_way_out() {
        let unitless = "100".parse::<DataRate>().unwrap_err().to_string();
        assert_eq!(unitless, "`100` has no unit; write for example `10Gbit/s`");
        let ambiguous = "100M".parse::<DataRate>().unwrap_err().to_string();
        assert!(ambiguous.contains("write `Mbit/s` for bits or `MB/s` for bytes"), "{ambiguous}");
        // tc reads `mbps` as megabytes, people write it for megabits: neither is accepted.
        assert!("9000mbps".parse::<DataRate>().is_err());
        assert!("fast".parse::<DataRate>().is_err());
        assert!("99999999999Tbit/s".parse::<DataRate>().is_err());
    }

    #[test]
    fn rate_times_time_is_bytes_and_back() {
        let rate = DataRate::from_bps(100_000_000_000);
        let bytes = rate * Duration::from_millis(209);
        assert_eq!(bytes, ByteCount::new(2_612_500_000));
        assert_eq!(rate.time_for(bytes), Some(Duration::from_millis(209)));
        assert_eq!(DataRate::of(bytes, Duration::from_millis(209)), Some(rate));
        assert_eq!(DataRate::of(bytes, Duration::ZERO), None);
        assert_eq!(DataRate::ZERO.time_for(bytes), None);
        let odd = DataRate::from_bps(7);
        assert_eq!(odd.time_for(ByteCount::new(1)), Some(Duration::from_nanos(1_142_857_143)), "rounded up");
    }

    #[test]
    fn three_significant_digits_are_shown() {
        assert_eq!(DataRate::from_bps(9_996_000).to_string(), "10.0 Mbit/s");
        assert_eq!(DataRate::from_bps(1_690_000).to_string(), "1.69 Mbit/s");
        assert_eq!(DataRate::from_bps(28_800_000_000).to_string(), "28.8 Gbit/s");
        assert_eq!(DataRate::from_bps(999).to_string(), "999 bit/s");
        assert_eq!(DataRate::ZERO.to_string(), "0 bit/s");
        assert_eq!(format!("{:>12}", DataRate::from_bps(1_000)), " 1.00 kbit/s");
    }
}
