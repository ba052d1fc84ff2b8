//! Numbers with units as other tools print them. The arithmetic is that of `units`, so it is exact; a log of a day has half a
//! million of them, so that no text is made on the way.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;
use units::{ByteCount, DataRate};

use super::limits::MAX_SECONDS;
use super::parsed::PrintedAmount;

/// An amount in iperf3's words: `MBytes` are 2^20 bytes.
pub(crate) fn iperf3_bytes(number: &str, unit: &str) -> Option<PrintedAmount> {
    let size = match unit {
        "Bytes" => 1_u64,
        "KBytes" => 1 << 10,
        "MBytes" => 1 << 20,
        "GBytes" => 1 << 30,
        "TBytes" => 1 << 40,
        _ => return None,
    };
    let number = decimal(number)?;
    let steps = 10_u64.checked_pow(u32::try_from(number.fraction.len()).ok()?)?;
    Some(PrintedAmount { bytes: ByteCount::new(number.times(size)?), within: (size / 2).div_ceil(steps) })
}

/// A rate in iperf3's words: `Mbits/sec` are 10^6 bit/s, `MBytes/sec` are 2^20 bytes a second.
pub(crate) fn iperf3_rate(number: &str, unit: &str) -> Option<DataRate> {
    let bits = match unit {
        "bits/sec" => 1,
        "Kbits/sec" => 1_000,
        "Mbits/sec" => 1_000_000,
        "Gbits/sec" => 1_000_000_000,
        "Tbits/sec" => 1_000_000_000_000,
        _ => {
            let amount = iperf3_bytes(number, unit.strip_suffix("/sec")?)?;
            return Some(DataRate::from_bytes_per_second(amount.bytes.get()));
        }
    };
    decimal(number)?.times(bits).map(DataRate::from_bps)
}

/// An amount in nuttcp's words: `MB` are 2^20 bytes.
pub(crate) fn nuttcp_megabytes(number: &str) -> Option<ByteCount> {
    decimal(number)?.times(1 << 20).map(ByteCount::new)
}

/// A rate in units of 10^6 bit/s.
pub(crate) fn megabits(number: &str) -> Option<DataRate> {
    decimal(number)?.times(1_000_000).map(DataRate::from_bps)
}

/// A part in hundredths of a percent, of at most 100 %.
pub(crate) fn hundredths(percent: &str) -> Option<u32> {
    let value = decimal(percent)?.times(100)?;
    u32::try_from(value).ok().filter(|value| *value <= 10_000)
}

/// A time in seconds.
pub(crate) fn seconds(number: &str) -> Option<Duration> {
    credible(decimal(number)?.times(1_000_000_000)?)
}

/// A time in milliseconds.
pub(crate) fn milliseconds(number: &str) -> Option<Duration> {
    credible(decimal(number)?.times(1_000_000)?)
}

/// A time of two or three numbers: `1:21:16`, `01:16`.
pub(crate) fn clock(text: &str, numbers: RangeInclusive<usize>) -> Option<Duration> {
    let parts: Vec<u64> = text.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    numbers.contains(&parts.len()).then_some(())?;
    parts.iter().try_fold(0_u64, |sum, part| sum.checked_mul(60)?.checked_add(*part)).map(Duration::from_secs)
}

/// How long so much takes at a rate; `None` for more than a year.
#[must_use]
pub fn time_at(moved: ByteCount, rate: DataRate) -> Option<Duration> {
    #[expect(clippy::cast_precision_loss, reason = "a time for display")]
    let seconds = moved.get() as f64 * 8.0 / rate.bps().max(1) as f64;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| time.as_secs() <= MAX_SECONDS)
}

fn credible(nanos: u64) -> Option<Duration> {
    Some(Duration::from_nanos(nanos)).filter(|time| time.as_secs() <= MAX_SECONDS)
}

/// A number as it is printed: digits, and digits behind a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal<'a> {
    pub(crate) whole: &'a str,
    /// Empty where there is no point.
    pub(crate) fraction: &'a str,
}

impl Decimal<'_> {
    /// So many times `unit`, rounded half up as `units` does; `None` beyond 64 bits.
    pub(crate) fn times(self, unit: u64) -> Option<u64> {
        /// More digits cannot change a 64-bit result.
        const MAX_DIGITS: usize = 18;
        let fraction = self.fraction.get(..MAX_DIGITS).unwrap_or(self.fraction);
        let digits = |text: &str| {
            text.bytes().try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        };
        let (steps, unit) = (10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?, u128::from(unit));
        let part = (u128::from(digits(fraction)?) * unit + u128::from(steps / 2)) / u128::from(steps);
        u64::try_from(u128::from(digits(self.whole)?) * unit + part).ok()
    }
}

/// The text where it is digits with at most one point between them. A comma stands for the point, as the C library
/// prints it in most of Europe: no tool groups thousands.
pub(crate) fn decimal(text: &str) -> Option<Decimal<'_>> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.bytes().position(|byte| matches!(byte, b'.' | b',')) {
        Some(at) => {
            let (whole, fraction) = (&text[..at], &text[at + 1..]);
            (digits(whole) && digits(fraction)).then_some(Decimal { whole, fraction })
        }
        None => digits(text).then_some(Decimal { whole: text, fraction: "" }),
    }
}

/// A whole number of JSON, which iperf3's library writes as `1e+15` from 10^15 on. Negative ones and `null` are none.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| signed(value).and_then(|signed| u64::try_from(signed).ok()))
}

/// The same with a sign.
pub(crate) fn signed(value: &Value) -> Option<i64> {
    /// The first float above every 64-bit integer.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let float = || value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < LIMIT);
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    value.as_i64().or_else(|| float().map(|float| float as i64))
}

/// A time of JSON in `unit`s.
pub(crate) fn time(value: &Value, unit: Duration) -> Option<Duration> {
    let float = value.as_f64()? * unit.as_secs_f64();
    Duration::try_from_secs_f64(float).ok().filter(|time| time.as_secs() <= MAX_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_powers_of_two_and_rates_of_ten() {
        let window = iperf3_bytes("35.0", "KBytes").unwrap();
        assert_eq!((window.bytes.get(), window.within), (35_840, 52));
        assert_eq!(iperf3_rate("1.71", "Mbits/sec"), Some(DataRate::from_bps(1_710_000)));
        assert_eq!(iperf3_rate("2560", "KBytes/sec"), Some(DataRate::from_bps(2560 * 1024 * 8)));
        assert_eq!(nuttcp_megabytes("0.5"), Some(ByteCount::new(524_288)));
        assert_eq!(iperf3_bytes("1", "MB"), None);
    }

    #[test]
    fn numbers_without_digits_are_none() {
        for text in ["", ".", "1.", ".5", "-1", "1.2.3", "1,2.3", "1e3", "١", "nan"] {
            assert_eq!(decimal(text), None, "{text}");
        }
        assert_eq!(whole(&serde_json::json!(1e15)), Some(1_000_000_000_000_000));
        assert_eq!(whole(&serde_json::json!(-1)), None);
        assert_eq!(seconds("99999999999"), None);
    }

    proptest::proptest! {
        /// `units` reads the same texts.
        #[test]
        fn a_number_times_a_unit_is_what_units_makes_of_it(text in "[0-9]{1,21}([.][0-9]{1,21})?") {
            let amount: Option<u64> = format!("{text}GiB").parse::<ByteCount>().ok().map(ByteCount::get);
            proptest::prop_assert_eq!(decimal(&text).unwrap().times(1 << 30), amount);
            let rate: Option<u64> = format!("{text}bit/s").parse::<DataRate>().ok().map(DataRate::bps);
            proptest::prop_assert_eq!(decimal(&text).unwrap().times(1), rate);
        }
    }
}
