//! A number with its unit, at the first of some words.

use std::time::Duration;

use units::{ByteCount, DataRate};

use crate::quantity::{decimal, milliseconds, seconds};
use crate::stated_rate::rates_at;

/// A number with a unit, or without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    Rate(DataRate),
    Bytes(ByteCount),
    Time(Duration),
    /// In hundredths of a percent.
    Percent(u32),
    Number(u64),
}

/// An amount, and how many words it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spanned {
    pub(super) amount: Amount,
    pub(super) words: usize,
}

/// The amount that begins at the first word.
pub(super) fn at(words: &[&str]) -> Option<Spanned> {
    let first = words.first()?;
    let starts = first.trim_start_matches(['~', '+', '=', '>', '<', '\u{2248}']);
    starts.starts_with(|letter: char| letter.is_ascii_digit()).then_some(())?;
    let mut bared: Vec<&str> = words.iter().take(3).copied().collect();
    bared[0] = starts;
    if let Some((rates, used)) = rates_at(&bared)
        && rates[0] == rates[1]
    {
        return Some(Spanned { amount: Amount::Rate(rates[0]), words: used });
    }
    let end =
        starts.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ',')).unwrap_or(starts.len());
    let (number, unit) = starts.split_at(end);
    let number = number.trim_end_matches(['.', ',']);
    let alone = |amount: Amount| Some(Spanned { amount, words: 1 });
    if unit.is_empty() {
        let behind = bared.get(1).copied().unwrap_or_default();
        if let Some(amount) = (Printed { number, unit: behind }).amount() {
            return Some(Spanned { amount, words: 2 });
        }
        return alone(Amount::Number(whole(number)?));
    }
    alone((Printed { number, unit: unit.trim_start_matches('-') }).amount()?)
}

/// Digits, or digits in groups of three.
fn whole(number: &str) -> Option<u64> {
    let groups: Vec<&str> = number.split([',', '\'']).collect();
    let is_grouped = groups.len() > 1 && groups[1..].iter().all(|group| group.len() == 3);
    if is_grouped { groups.concat().parse().ok() } else { number.parse().ok() }
}

/// A number with the unit behind it.
struct Printed<'a> {
    number: &'a str,
    unit: &'a str,
}

impl Printed<'_> {
    fn amount(&self) -> Option<Amount> {
        let number = self.number;
        let unit = self.unit.trim_end_matches(['.', ',', ';', ')', ':', '?', '!', ']']);
        let factor = match unit {
            "%" | "percent" | "Prozent" | "pct" => {
                return decimal(number)?.times(100).and_then(|part| u32::try_from(part).ok()).map(Amount::Percent);
            }
            "ms" | "msec" | "msecs" | "milliseconds" | "millis" => return milliseconds(number).map(Amount::Time),
            "us" | "usec" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => {
                return decimal(number)?.times(1_000).map(Duration::from_nanos).map(Amount::Time);
            }
            "s" | "sec" | "secs" | "second" | "seconds" | "Sekunden" => return seconds(number).map(Amount::Time),
            "min" | "mins" | "minutes" | "minute" | "Minuten" => {
                return seconds(number).and_then(|time| time.checked_mul(60)).map(Amount::Time);
            }
            "B" | "byte" | "bytes" | "Byte" | "Bytes" | "octets" => 1,
            "kB" | "KB" => 1_000,
            "K" | "k" | "KiB" | "KByte" | "KBytes" | "Kbytes" | "kbytes" | "kByte" => 1 << 10,
            "MB" => 1_000_000,
            "MiB" | "MByte" | "MBytes" | "Mbytes" | "Mbyte" => 1 << 20,
            "GB" => 1_000_000_000,
            "GiB" | "GByte" | "GBytes" => 1 << 30,
            "TB" => 1_000_000_000_000,
            "TiB" => 1 << 40,
            _ => return None,
        };
        decimal(number)?.times(factor).map(ByteCount::new).map(Amount::Bytes)
    }
}
