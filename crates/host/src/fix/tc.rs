//! Options as `tc` writes them, read into types. Its letters are kept: `mbit` is 10⁶ bit/s, a number alone is bit/s for a
//! rate, bytes for a size and microseconds for a time (tc(8), PARAMETERS). `mbps`, which is megabytes to tc, is refused.

use model::host::fix::discipline::{Discipline, HtbClass};
use units::{ByteCount, DataRate};

/// Options that are not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{options}`: {reason}")]
pub struct OptionError {
    /// All options.
    pub options: String,
    /// What is wrong with them.
    pub reason: String,
}

/// Reads a discipline.
///
/// # Errors
/// For kinds and options that rules do not write, and values that do not fit.
pub fn discipline(kind: &str, handle: Option<&str>, options: &str) -> Result<Discipline, OptionError> {
    let mut words = Words::new(options)?;
    let wrong = |reason: String| OptionError { options: format!("{kind} {options}"), reason };
    if let Some(handle) = handle.filter(|&handle| kind != "htb" || handle != "1:") {
        return Err(wrong(format!(
            "the number of a discipline is the kernel's to give, only `htb` has 1:, not {handle}"
        )));
    }
    let read = match kind {
        "mq" => Discipline::Mq {},
        "pfifo_fast" => Discipline::PfifoFast {},
        "pfifo" => Discipline::Pfifo { limit_packets: words.take("limit", count)? },
        "fq" => Discipline::Fq {
            limit_packets: words.take("limit", count)?,
            flow_limit_packets: words.take("flow_limit", count)?,
            maxrate: words.take("maxrate", rate)?,
        },
        "fq_codel" => Discipline::FqCodel {
            limit_packets: words.take("limit", count)?,
            target_us: words.take("target", micros)?,
            interval_us: words.take("interval", micros)?,
        },
        "tbf" => {
            let needed = |what| move || wrong(format!("tbf wants {what}"));
            Discipline::Tbf {
                rate: words.take("rate", rate)?.ok_or_else(needed("rate"))?,
                burst: words.take("burst", bytes)?.ok_or_else(needed("burst"))?,
                limit: words.take("limit", bytes)?.ok_or_else(needed("limit"))?,
            }
        }
        "htb" => Discipline::Htb { default_class: words.take("default", class_number)?.unwrap_or_default() },
        _ => return Err(wrong("it is none of mq, pfifo_fast, pfifo, fq, fq_codel, tbf, htb".to_owned())),
    };
    words.done()?;
    Ok(read)
}

/// Reads a class of `htb`, with its kind as the first word.
///
/// # Errors
/// As [`discipline`].
pub fn class(options: &str) -> Result<HtbClass, OptionError> {
    let wrong = |reason: &str| OptionError { options: options.to_owned(), reason: reason.to_owned() };
    let rest = options.trim().strip_prefix("htb ").ok_or_else(|| wrong("a class is of htb"))?;
    let mut words = Words::new(rest)?;
    let class = HtbClass {
        rate: words.take("rate", rate)?.ok_or_else(|| wrong("a class wants rate"))?,
        ceil: words.take("ceil", rate)?,
        burst: words.take("burst", bytes)?,
    };
    words.done()?;
    Ok(class)
}

/// Pairs of name and value.
struct Words<'a> {
    options: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    fn new(options: &'a str) -> Result<Self, OptionError> {
        let mut words = options.split_whitespace();
        let mut pairs = Vec::new();
        while let Some(name) = words.next() {
            let missing = || OptionError { options: options.to_owned(), reason: format!("{name} has no value") };
            pairs.push((name, words.next().ok_or_else(missing)?));
        }
        Ok(Self { options, pairs })
    }

    fn take<T>(&mut self, name: &str, read: fn(&str) -> Option<T>) -> Result<Option<T>, OptionError> {
        let Some(place) = self.pairs.iter().position(|(known, _)| *known == name) else { return Ok(None) };
        let (_, value) = self.pairs.remove(place);
        let wrong = || {
            // To tc these are bytes, and whoever writes them mostly means bits: `900mbps` would be 7.2 Gbit/s.
            let reason = match value.to_ascii_lowercase().strip_suffix("bps") {
                Some(bits) => format!("{name}: `{value}` is bytes per second to tc; bits per second are {bits}bit"),
                None => format!("{name}: `{value}`"),
            };
            OptionError { options: self.options.to_owned(), reason }
        };
        read(value).map(Some).ok_or_else(wrong)
    }

    fn done(self) -> Result<(), OptionError> {
        match self.pairs.first() {
            None => Ok(()),
            Some((name, _)) => {
                let reason = format!("the option {name} is not known, or is given twice");
                Err(OptionError { options: self.options.to_owned(), reason })
            }
        }
    }
}

fn count(text: &str) -> Option<u32> {
    digits(text)?.parse().ok()
}

fn class_number(text: &str) -> Option<u16> {
    // tc reads it as hexadecimal (tc/q_htb.c, htb_parse_opt).
    u16::from_str_radix(text.trim_start_matches("0x"), 16).ok().filter(|_| !text.starts_with('+'))
}

fn rate(text: &str) -> Option<DataRate> {
    let (number, unit) = split(text);
    let (_, per) = RATES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    scaled(number, *per).map(DataRate::from_bps)
}

fn bytes(text: &str) -> Option<ByteCount> {
    let (number, unit) = split(text);
    let (_, per) = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    scaled(number, *per).map(ByteCount::new)
}

fn micros(text: &str) -> Option<u32> {
    let (number, unit) = split(text);
    let per = match unit {
        "" | "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "s" | "sec" => 1_000_000,
        _ => return None,
    };
    u32::try_from(scaled(number, per)?).ok()
}

fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find(|character: char| character.is_ascii_alphabetic()).unwrap_or(text.len()))
}

fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

fn scaled(number: &str, per: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = digits(whole)?.parse().ok()?;
    let mut value = whole.checked_mul(per)?;
    let mut unit = per;
    for digit in part.bytes() {
        unit /= 10;
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        value = value.checked_add(u64::from(digit) * unit)?;
    }
    Some(value)
}

/// tc/tc_util.c of iproute2 6.1, `suffixes`, in bit/s.
const RATES: [(&str, u64); 11] = [
    ("", 1),
    ("bit", 1),
    ("kibit", 1 << 10),
    ("kbit", 1_000),
    ("mibit", 1 << 20),
    ("mbit", 1_000_000),
    ("gibit", 1 << 30),
    ("gbit", 1_000_000_000),
    ("tibit", 1 << 40),
    ("tbit", 1_000_000_000_000),
    ("bits", 1),
];

/// tc/tc_util.c of iproute2 6.1, `get_size`, in bytes.
const SIZES: [(&str, u64); 8] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1 << 20),
    ("g", 1 << 30),
    ("gb", 1 << 30),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_mean_what_tc_means_by_them() {
        for (text, bps) in [
            ("9000mbit", 9_000_000_000),
            ("9000000000bit", 9_000_000_000),
            ("1.5gbit", 1_500_000_000),
            ("1000", 1_000),
            ("1Gbit", 1_000_000_000),
        ] {
            assert_eq!(rate(text), Some(DataRate::from_bps(bps)), "{text}");
        }
        for text in ["", "fast", "10gib", "-1mbit", "1..5gbit", "99999999999999999999bit", "9000mbps", "1bps"] {
            assert_eq!(rate(text), None, "{text}");
        }
        assert_eq!(bytes("256kb"), Some(ByteCount::new(262_144)));
        assert_eq!(micros("5ms"), Some(5_000));
    }

    #[test]
    fn options_of_rules_are_read_and_others_refused() {
        let fq = discipline("fq", None, "maxrate 2000000000bit").unwrap();
        assert!(matches!(fq, Discipline::Fq { maxrate: Some(rate), .. } if rate.bps() == 2_000_000_000));
        let fq = discipline("fq", None, "limit 100000 flow_limit 10000").unwrap();
        assert!(matches!(fq, Discipline::Fq { limit_packets: Some(100_000), flow_limit_packets: Some(10_000), .. }));
        assert_eq!(discipline("htb", Some("1:"), "default 1").unwrap(), Discipline::Htb { default_class: 1 });
        assert_eq!(class("htb rate 9000000000bit").unwrap().rate, DataRate::from_bps(9_000_000_000));
        for (kind, handle, options) in [
            ("fq", None, "maxrate"),
            ("fq", None, "warp 9"),
            ("tbf", None, "rate 1gbit"),
            ("netem", None, "delay 1ms"),
            ("mq", Some("1:"), ""),
            ("fq", None, "limit 1 limit 2"),
        ] {
            assert!(discipline(kind, handle, options).is_err(), "{kind} {options}");
        }
        assert!(class("hfsc sc rate 1gbit").is_err());
        let slip = class("htb rate 900mbps").unwrap_err().to_string();
        assert!(slip.contains("bytes per second to tc") && slip.contains("900mbit"), "{slip}");
    }
}
