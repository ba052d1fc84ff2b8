//! Programs that move data and print an amount and a rate in one line: `pv`, `aws s3`, `mc`, `ftp`, `lftp`, `smbclient`, `git`, `aria2c`, and
//! the bar of `wget` without the lines around it.
//!
//! The last line of a series counts: a terminal's record has one a second.

use std::time::Duration;

use model::measurement::Heading;
use units::{ByteCount, DataRate};

use super::shown::{FileTransfer, Found, Shown};
use crate::quantity::{clock, decimal, seconds, time_at};

/// Reads lines of one program as long as each goes on where the one before it ended.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let mut last = one(lines.first()?)?;
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_LINES) {
        match one(line) {
            Some(next) if next.tool == last.tool && !last.is_whole && next.moved >= last.moved => last = next,
            Some(_) => break,
            None if line.trim().is_empty() => {}
            None => break,
        }
        used += 1;
    }
    let Moved { tool, moved, rate, elapsed, is_whole, heading } = last;
    let transfer = FileTransfer {
        tool,
        target: None,
        moved,
        elapsed: elapsed.or_else(|| time_at(moved, rate))?,
        rate,
        is_whole,
        heading,
        retransmits: None,
        faults: 0,
        files: None,
        local: None,
    };
    (moved > ByteCount::ZERO && !rate.is_zero() && !transfer.elapsed.is_zero())
        .then(|| Found { shows: vec![Shown::Transfer(transfer)], lines: used })
}

/// An hour of a line a second.
const MAX_LINES: usize = 4_000;

struct Moved {
    tool: &'static str,
    moved: ByteCount,
    rate: DataRate,
    elapsed: Option<Duration>,
    is_whole: bool,
    heading: Heading,
}

fn one(line: &str) -> Option<Moved> {
    let line = line.trim();
    (line.len() < LONGEST && line.bytes().any(|byte| byte.is_ascii_digit())).then_some(())?;
    pv(line)
        .or_else(|| aws(line))
        .or_else(|| mc(line))
        .or_else(|| ftp(line))
        .or_else(|| smb(line))
        .or_else(|| git(line))
        .or_else(|| aria(line))
        .or_else(|| bar(line))
        .or_else(|| restic(line))
}

/// `1.20GiB 0:01:43 [11.9MiB/s] [====>      ] 24% ETA 0:05:22`.
fn pv(line: &str) -> Option<Moved> {
    let (before, rest) = line.split_once(" [")?;
    let (_, behind) = rest.split_once("/s]")?;
    let mut words = before.split_whitespace();
    let moved = amount(words.next()?)?;
    let elapsed = elapsed_of(words.next()?)?;
    words.next().is_none().then_some(())?;
    let is_whole = behind.contains("100%") || !behind.contains('%');
    let rate = DataRate::of(moved, elapsed)?;
    Some(Moved { tool: "pv", moved, rate, elapsed: Some(elapsed), is_whole, heading: Heading::Outbound })
}

/// `Completed 1.2 GiB/5.0 GiB (11.2 MiB/s) with 1 file(s) remaining`.
fn aws(line: &str) -> Option<Moved> {
    let (moved, rest) = line.strip_prefix("Completed ")?.split_once('/')?;
    let (whole, rest) = rest.split_once(" (")?;
    let (rate, _) = rest.split_once("/s)")?;
    let (moved, whole) = (amount(moved)?, amount(whole.trim_start_matches('~'))?);
    plain("aws s3", moved, rate, Heading::Outbound).map(|found| Moved { is_whole: moved >= whole, ..found })
}

/// `big.tar: 1.2 GiB / 5.0 GiB ┃▓▓▓    ┃ 24.00% 11.2 MiB/s 5m22s`.
fn mc(line: &str) -> Option<Moved> {
    let (moved, rest) = line.split_once(": ")?.1.split_once(" / ")?;
    line.contains(['\u{2503}', '\u{2593}']).then_some(())?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let at = words.iter().position(|word| word.ends_with("iB/s") || word.ends_with("B/s"))?;
    let rate = format!("{}{}", words.get(at.checked_sub(1)?)?, words[at].trim_end_matches("/s"));
    let is_whole = words.iter().any(|word| word.starts_with("100") && word.ends_with('%'));
    plain("mc", amount(moved)?, &rate, Heading::Outbound).map(|found| Moved { is_whole, ..found })
}

/// `1073741824 bytes sent in 95.23 secs (11.2750 MB/s)`, `… bytes transferred in 95 seconds (10.8 MiB/s)`, `… received in 01:35 (10.78 MiB/s)`.
fn ftp(line: &str) -> Option<Moved> {
    let (bytes, rest) = line.split_once(" bytes ")?;
    let moved = ByteCount::new(bytes.parse().ok()?);
    let (how, rest) = rest.split_once(" in ")?;
    let heading = match how {
        "sent" => Heading::Outbound,
        "received" | "transferred" => Heading::Inbound,
        _ => return None,
    };
    let (time, rate) = rest.split_once(" (")?;
    let (rate, _) = rate.split_once(')')?;
    let elapsed = match time.split_once(' ') {
        Some((number, "secs" | "seconds" | "sec" | "s")) => seconds(number)?,
        None => time.strip_suffix('s').and_then(seconds).or_else(|| elapsed_of(time))?,
        _ => return None,
    };
    let mean = DataRate::of(moved, elapsed).filter(|rate| !rate.is_zero())?;
    // What it prints in brackets proves the time, within the second that a clock of whole ones has.
    let printed = per_second(rate.trim_end_matches("/sec").trim_end_matches("/s"))?;
    let is_proved = printed.bps() * 10 >= mean.bps() * 8 && printed.bps() * 8 <= mean.bps() * 10;
    is_proved.then_some(Moved { tool: "ftp", moved, rate: mean, elapsed: Some(elapsed), is_whole: true, heading })
}

/// `getting file \big.bin of size 1073741824 as big.bin (11234.5 KiloBytes/sec) (average 11234.5 KiloBytes/sec)`.
fn smb(line: &str) -> Option<Moved> {
    let (size, rest) = line.strip_prefix("getting file ")?.split_once(" of size ")?.1.split_once(" as ")?;
    let (_, rate) = rest.split_once(" (")?;
    let number = rate.strip_suffix(')').unwrap_or(rate).split(' ').next()?;
    rate.contains("KiloBytes/sec").then_some(())?;
    plain("smbclient", ByteCount::new(size.parse().ok()?), &format!("{number}KiB"), Heading::Inbound)
}

/// `Receiving objects:  45% (1234/2742), 120.00 MiB | 1.21 MiB/s`, with `, done.` behind the last one.
fn git(line: &str) -> Option<Moved> {
    let (which, rest) = line.split_once(" objects: ")?;
    let heading = match which.trim_start_matches("remote: ") {
        "Receiving" => Heading::Inbound,
        "Writing" => Heading::Outbound,
        _ => return None,
    };
    let (moved, rate) = rest.split_once("), ")?.1.split_once(" | ")?;
    let (rate, _) = rate.split_once("/s")?;
    plain("git", amount(moved)?, rate, heading).map(|found| Moved { is_whole: line.contains("done"), ..found })
}

/// `[#2089b0 400.0MiB/3.2GiB(12%) CN:1 DL:11.5MiB ETA:4m51s]`.
fn aria(line: &str) -> Option<Moved> {
    let inside = line.strip_prefix("[#")?.strip_suffix(']')?;
    let (_, rest) = inside.split_once(' ')?;
    let (moved, rest) = rest.split_once('/')?;
    let (_, rate) = rest.split_once(" DL:")?;
    let rate = rate.split(' ').next()?;
    plain("aria2c", amount(moved)?, rate, Heading::Inbound)
        .map(|found| Moved { is_whole: rest.contains("(100%)"), ..found })
}

/// `file.iso   16%[=>     ] 308,62K  26,5KB/s    eta 64s`, and at its end `100%[====>] 250.28M  11.8MB/s    in 39s`.
fn bar(line: &str) -> Option<Moved> {
    let (percent, rest) = line.split_once("%[")?;
    let percent = percent.rsplit(' ').next()?.parse::<u32>().ok()?;
    let (_, tail) = rest.split_once(']')?;
    let mut words = tail.split_whitespace();
    let (size, rate) = (words.next()?, words.next()?.strip_suffix("/s")?);
    let moved = amount(&format!("{size}{}", if size.ends_with('B') { "" } else { "B" }))?;
    matches!(words.next()?, "eta" | "in").then_some(())?;
    plain("wget", moved, rate, Heading::Inbound).map(|found| Moved { is_whole: percent == 100, ..found })
}

/// `[12:41] 3.02%  3318 files 301.127 MiB, total 41022 files 9.733 GiB, 0 errors ETA 6:47:10`.
fn restic(line: &str) -> Option<Moved> {
    let (time, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (moved, _) = rest.split_once(", total ")?;
    let (_, moved) = moved.split_once(" files ")?;
    let (moved, elapsed) = (amount(moved)?, elapsed_of(time)?);
    let rate = DataRate::of(moved, elapsed)?;
    Some(Moved { tool: "restic", moved, rate, elapsed: Some(elapsed), is_whole: false, heading: Heading::Outbound })
}

fn plain(tool: &'static str, moved: ByteCount, rate: &str, heading: Heading) -> Option<Moved> {
    Some(Moved { tool, moved, rate: per_second(rate)?, elapsed: None, is_whole: true, heading })
}

fn per_second(bytes: &str) -> Option<DataRate> {
    amount(bytes).map(|bytes| DataRate::from_bytes_per_second(bytes.get()))
}

/// `1.2 GiB`, `11.9MiB`, `11.2750 MB`: all by 1024 but `MB` of ftp, whose difference is below what a judgement needs.
fn amount(text: &str) -> Option<ByteCount> {
    let text = text.trim();
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let size: u64 = match unit.to_ascii_lowercase().as_str() {
        "b" | "bytes" => 1,
        "kib" | "kb" | "kbytes" => 1 << 10,
        "mib" | "mb" | "mbytes" => 1 << 20,
        "gib" | "gb" | "gbytes" => 1 << 30,
        "tib" | "tb" => 1 << 40,
        _ => return None,
    };
    decimal(number.trim())?.times(size).map(ByteCount::new)
}

/// `0:01:43`, `01:43`.
fn elapsed_of(text: &str) -> Option<Duration> {
    clock(text, 2..=3).filter(|time| !time.is_zero())
}

const LONGEST: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(text: &str) -> Option<(&'static str, u64, u64, bool)> {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new())?;
        match found.shows.as_slice() {
            [Shown::Transfer(one)] => Some((one.tool, one.moved.get() >> 20, one.rate.bps() / 1_000_000, one.is_whole)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_program_has_its_line() {
        for (text, found) in [
            ("1.20GiB 0:01:43 [11.9MiB/s] [====>      ] 24% ETA 0:05:22", ("pv", 1_228, 100, false)),
            ("Completed 1.2 GiB/5.0 GiB (11.2 MiB/s) with 1 file(s) remaining", ("aws s3", 1_228, 93, false)),
            ("1073741824 bytes sent in 95.23 secs (11.2750 MB/s)", ("ftp", 1_024, 90, true)),
            ("1073741824 bytes received in 01:35 (10.78 MiB/s)", ("ftp", 1_024, 90, true)),
            (
                "getting file \\big.bin of size 1073741824 as big.bin (11234.5 KiloBytes/sec) (average 11234.5 KiloBytes/sec)",
                ("smbclient", 1_024, 92, true),
            ),
            ("Receiving objects:  45% (1234/2742), 120.00 MiB | 1.21 MiB/s", ("git", 120, 10, false)),
            ("[#2089b0 400.0MiB/3.2GiB(12%) CN:1 DL:11.5MiB ETA:4m51s]", ("aria2c", 400, 96, false)),
            (
                "[12:41] 3.02%  3318 files 301.127 MiB, total 41022 files 9.733 GiB, 0 errors ETA 6:47:10",
                ("restic", 301, 3, false),
            ),
            ("some.iso   16%[=>      ] 308,62M  26,5KB/s    eta 64s", ("wget", 308, 0, false)),
            (
                "big.tar: 1.2 GiB / 5.0 GiB \u{2503}\u{2593}\u{2593}  \u{2503} 24.00% 11.2 MiB/s 5m22s",
                ("mc", 1_228, 93, false),
            ),
        ] {
            assert_eq!(moved(text), Some(found), "{text}");
        }
    }

    #[test]
    fn the_last_line_of_a_series_counts_and_prose_is_none() {
        let text = "Completed 0.2 GiB/5.0 GiB (90.0 MiB/s) with 1 file(s) remaining\nCompleted 1.2 GiB/5.0 GiB (11.2 MiB/s) with 1 file(s) remaining\nok";
        assert_eq!(moved(text), Some(("aws s3", 1_228, 93, false)));
        for text in [
            "1073741824 bytes sent in 95.23 secs (211.2750 MB/s)",
            "we moved 3 GiB in 10 s",
            "[  5]   0.00-1.00   sec   104 MBytes",
        ] {
            assert_eq!(moved(text), None, "{text}");
        }
    }
}
