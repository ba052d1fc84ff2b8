//! The number that a program printed as its result: in text with units, in progress that overwrites itself, or in iperf3's
//! JSON.

use import::{Format, Imported};
use model::measurement::Measurement;
use model::run::Outcome;
use serde_json::Value;
use units::DataRate;

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    number: f64,
    pub unit: Unit,
}

/// What a number counts, and how many of the base unit one is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    pub counts: Quantity,
    scale: f64,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Nothing that its unit tells.
    Number,
    /// Time, in seconds.
    Time,
    /// Data, in bits.
    Data,
    /// Data in time, in bits per second.
    Rate,
}

impl Printed {
    /// The number in another unit of the same quantity, so that `1.2 GB/s` is more than `941 MB/s`.
    pub fn within(self, unit: Unit) -> f64 {
        if self.unit == unit { self.number } else { self.number * self.unit.scale / unit.scale }
    }
}

/// What a program printed.
#[derive(Debug, Clone, Copy)]
pub struct Outputs<'a> {
    pub stdout: &'a str,
    pub stderr: &'a str,
}

/// The result among what a program printed: on standard output the last number of the last line that has one, of an
/// iperf3's JSON what arrived; else a rate on standard error, where `xrdcp` shows its progress.
///
/// # Errors
/// Of other JSON: nobody knows which of its numbers is the result.
pub fn result(outputs: Outputs<'_>) -> Result<Option<Printed>, String> {
    let test = import::read(outputs.stdout.as_bytes()).tests.into_iter().rfind(|test| is_json(test.format));
    if let Some(test) = test {
        return of_iperf3(&test);
    }
    let json: Option<Value> = serde_json::from_str(outputs.stdout).ok();
    if json.is_some_and(|json| json.is_object() || json.is_array()) {
        return Err("it printed JSON with no result of an iperf3: let it print one number".to_owned());
    }
    let is_rate = |printed: &Printed| printed.unit.counts == Quantity::Rate;
    Ok(last(outputs.stdout).or_else(|| last(outputs.stderr).filter(is_rate)))
}

/// Text of an iperf3 ends with its result, in the unit that was asked of it.
fn is_json(format: Format) -> bool {
    matches!(format, Format::Iperf3Json | Format::Iperf3JsonStream)
}

/// What arrived; `None` of a test that failed.
#[expect(clippy::cast_precision_loss, reason = "a rate, for a ratio")]
fn of_iperf3(test: &Imported) -> Result<Option<Printed>, String> {
    if matches!(test.outcome, Outcome::Failed(_)) {
        return Ok(None);
    }
    let rate = test.measurement.as_ref().and_then(slowest).ok_or("the iperf3 counted nothing")?;
    Ok(Some(Printed { number: rate.bps() as f64, unit: Unit { counts: Quantity::Rate, scale: 1.0 } }))
}

/// The goodput; of a test both ways that of the slower direction.
pub fn slowest(found: &Measurement) -> Option<DataRate> {
    found.totals.iter().map(|total| total.goodput).min()
}

fn last(text: &str) -> Option<Printed> {
    text.rsplit(['\n', '\r']).find_map(|line| {
        let is_between = |letter: char| letter.is_whitespace() || "[](){}|;".contains(letter);
        let words: Vec<&str> = line.split(is_between).filter(|word| !word.is_empty()).collect();
        (0..words.len()).rev().find_map(|index| printed(words[index], words.get(index + 1).copied()))
    })
}

/// `9.41` before `Gbits/sec`, `95.37MB/s`, `took=3.5s`; no version, address, date or range.
fn printed(word: &str, next: Option<&str>) -> Option<Printed> {
    let start = word.find(|letter: char| letter.is_ascii_digit())?;
    let start = if word[..start].ends_with(['-', '+']) { start - 1 } else { start };
    if word[..start].ends_with(char::is_alphanumeric) {
        return None;
    }
    let rest = &word[start..];
    let (number, attached) = (1..=rest.len())
        .rev()
        .filter(|end| rest.is_char_boundary(*end))
        .find_map(|end| Some((number(&rest[..end])?, &rest[end..])))?;
    let attached = attached.trim_end_matches(['.', ',', ':']);
    if attached.contains(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let unit = match (attached, next) {
        ("", Some(next)) => unit(next),
        ("", None) => None,
        (attached, _) => unit(attached),
    };
    Some(Printed { number, unit: unit.unwrap_or(Unit { counts: Quantity::Number, scale: 1.0 }) })
}

/// A number as programs write one, with commas between thousands.
fn number(text: &str) -> Option<f64> {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let first = groups.next().unwrap_or_default();
    let is_grouped = whole.contains(',') && (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    let text = if is_grouped { format!("{}{rest}", whole.replace(',', "")) } else { text.to_owned() };
    // What a word such as `infinity` would be, too.
    text.parse().ok().filter(|number: &f64| number.is_finite() && text.ends_with(|last: char| last.is_ascii_digit()))
}

fn unit(word: &str) -> Option<Unit> {
    let time = match word.trim_end_matches(['.', ',', ';']) {
        "ns" => Some(1e-9),
        "us" | "µs" | "usec" => Some(1e-6),
        "ms" | "msec" => Some(1e-3),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "min" | "minutes" => Some(60.0),
        _ => None,
    };
    if let Some(scale) = time {
        return Some(Unit { counts: Quantity::Time, scale });
    }
    let power = match word.chars().next()? {
        'k' | 'K' => 1,
        'M' => 2,
        'G' => 3,
        'T' => 4,
        _ => 0,
    };
    let name = &word[usize::from(power > 0)..];
    let (base, name) = name.strip_prefix('i').map_or((1_000.0_f64, name), |name| (1_024.0, name));
    let (data, per) = name.split_at(name.find(['/', 'p']).unwrap_or(name.len()));
    let bits = match data {
        "b" | "bit" | "bits" => 1.0,
        "B" | "Byte" | "Bytes" => 8.0,
        _ => return None,
    };
    let counts = match per {
        "" => Quantity::Data,
        "/s" | "/sec" | "/second" | "ps" => Quantity::Rate,
        _ => return None,
    };
    Some(Unit { counts, scale: base.powi(power) * bits })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn on_stdout(stdout: &str) -> Result<Option<Printed>, String> {
        result(Outputs { stdout, stderr: "" })
    }

    /// The number, and the same in the base unit.
    fn read(text: &str) -> Option<(f64, f64)> {
        let base = |counts| Unit { counts, scale: 1.0 };
        on_stdout(text).unwrap().map(|printed| (printed.number, printed.within(base(printed.unit.counts)).round()))
    }

    #[test]
    fn the_last_number_counts_in_its_unit() {
        let cases = [
            ("a 1\n[SUM] 0-10 s  1.10 GBytes  9.41 Gbits/sec  receiver\n\niperf Done.\n", Some((9.41, 9.41e9))),
            ("took 3500 ms", Some((3500.0, 4.0))),
            ("took=3.5s.\n", Some((3.5, 4.0))),
            ("mean 311.4 MB/s over 10.0.0.1 on 2026-11-27\n", Some((311.4, 2_491_200_000.0))),
            ("1,234,567 files\n", Some((1_234_567.0, 1_234_567.0))),
            ("-3.25e2\n", Some((-325.0, -325.0))),
            ("12.5MiB/s (v1.2.3)\n", Some((12.5, 104_857_600.0))),
            ("[0B/1GB][  0%][>   ][0B/s]  \r[1GB/1GB][100%][====][481.9MB/s]  \n", Some((481.9, 3_855_200_000.0))),
            ("done\n", None),
            ("", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn another_prefix_is_no_other_number() {
        let [mega, giga] = ["941 Mbits/sec", "9.41 Gbits/sec"].map(|text| on_stdout(text).unwrap().unwrap());
        assert_eq!([mega.within(mega.unit), giga.within(mega.unit)], [941.0, 9_410.0]);
    }

    /// As iperf3 3.12 and its successors print them, in Mbit/s.
    #[test]
    fn of_json_only_an_iperf3s_result_is_one() {
        let recorded = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foreign").join(name);
            let text = std::fs::read_to_string(path).unwrap();
            read(&text).map(|(_, rate)| (rate / 1e6).round())
        };
        let cases = [
            ("iperf3-3.12-tcp.json", Some(7_581.0)),
            ("iperf3-3.12-tcp-reverse-server-json.json", Some(14_630.0)),
            // What was sent at 20 Mbit/s is no result.
            ("iperf3-3.12-udp-reverse.json", Some(18.0)),
            // The slower of two directions.
            ("iperf3-3.12-tcp-bidir.json", Some(3_505.0)),
            ("iperf3-json-stream.jsonl", Some(7_581.0)),
            ("iperf3-3.12-refused.json", None),
        ];
        for (name, wanted) in cases {
            assert_eq!(recorded(name), wanted, "{name}");
        }
        assert!(on_stdout(r#"{"rate": 3, "cpu": 40}"#).is_err());
        assert!(on_stdout(r#"[1, 2]"#).is_err());
    }

    #[test]
    fn of_standard_error_only_a_rate_counts() {
        let rate = |stderr: &str| result(Outputs { stdout: "", stderr }).unwrap().map(|printed| printed.number);
        assert_eq!(rate("[1GB/1GB][100%][====][481.9MB/s]  \n"), Some(481.9));
        assert_eq!(rate("INFO 12 files done\n"), None);
    }
}
