//! Numbers with units as other tools print them. The arithmetic is that of `units`, so it is exact.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;
use units::{ByteCount, DataRate, duration};

use super::limits::MAX_SECONDS;
use super::parsed::PrintedAmount;

/// An amount in iperf3's words: `MBytes` are 2^20 bytes.
pub(crate) fn iperf3_bytes(number: &str, unit: &str) -> Option<PrintedAmount> {
    let (ours, size) = match unit {
        "Bytes" => ("B", 1_u64),
        "KBytes" => ("KiB", 1 << 10),
        "MBytes" => ("MiB", 1 << 20),
        "GBytes" => ("GiB", 1 << 30),
        "TBytes" => ("TiB", 1 << 40),
        _ => return None,
    };
    let number = decimal(number)?;
    let bytes = format!("{number}{ours}").parse().ok()?;
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let steps = 10_u64.checked_pow(u32::try_from(decimals).ok()?)?;
    Some(PrintedAmount { bytes, within: (size / 2).div_ceil(steps) })
}

/// A rate in iperf3's words: `Mbits/sec` are 10^6 bit/s, `MBytes/sec` are 2^20 bytes a second.
pub(crate) fn iperf3_rate(number: &str, unit: &str) -> Option<DataRate> {
    let number = decimal(number)?;
    let ours = match unit {
        "bits/sec" => "bit/s",
        "Kbits/sec" => "kbit/s",
        "Mbits/sec" => "Mbit/s",
        "Gbits/sec" => "Gbit/s",
        "Tbits/sec" => "Tbit/s",
        _ => {
            let amount = iperf3_bytes(&number, unit.strip_suffix("/sec")?)?;
            return Some(DataRate::from_bytes_per_second(amount.bytes.get()));
        }
    };
    format!("{number}{ours}").parse().ok()
}

/// An amount in nuttcp's words: `MB` are 2^20 bytes.
pub(crate) fn nuttcp_megabytes(number: &str) -> Option<ByteCount> {
    format!("{}MiB", decimal(number)?).parse().ok()
}

/// A rate in units of 10^6 bit/s.
pub(crate) fn megabits(number: &str) -> Option<DataRate> {
    format!("{}Mbit/s", decimal(number)?).parse().ok()
}

/// A time in seconds.
pub(crate) fn seconds(number: &str) -> Option<Duration> {
    duration::parse(&format!("{}s", decimal(number)?)).ok().filter(|time| time.as_secs() <= MAX_SECONDS)
}

/// A time in milliseconds.
pub(crate) fn milliseconds(number: &str) -> Option<Duration> {
    duration::parse(&format!("{}ms", decimal(number)?)).ok().filter(|time| time.as_secs() <= MAX_SECONDS)
}

/// The text where it is digits with at most one point between them. A comma stands for the point, as the C library
/// prints it in most of Europe: no tool groups thousands.
pub(crate) fn decimal(text: &str) -> Option<Cow<'_, str>> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (digits(whole) && digits(fraction))
        .then(|| if text.contains(',') { text.replace(',', ".").into() } else { text.into() })
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
        for text in ["", ".", "1.", ".5", "-1", "1.2.3", "1e3", "١", "nan"] {
            assert_eq!(decimal(text), None, "{text}");
        }
        assert_eq!(whole(&serde_json::json!(1e15)), Some(1_000_000_000_000_000));
        assert_eq!(whole(&serde_json::json!(-1)), None);
        assert_eq!(seconds("99999999999"), None);
    }
}
