//! `rclone`: its statistics, of which the last one of a series counts.

use std::time::Duration;

use model::measurement::Heading;
use units::{ByteCount, DataRate};

use super::shown::{FileTransfer, Found, Shown, command_near};
use super::transfer::remote;
use crate::quantity::{decimal, seconds, time_at};

/// Reads from one line of `Transferred:` with an amount to the last line of the statistics, and of those that follow them.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let mut last = statistic(lines.first()?)?;
    let mut used = 1;
    for (at, line) in lines.iter().enumerate().skip(1).take(MAX_LINES) {
        if let Some(next) = statistic(line) {
            // Another command begins at nothing again.
            if next.moved < last.moved || next.whole != last.whole {
                break;
            }
            last = next;
        } else if let Some(time) = line.trim().strip_prefix("Elapsed time:") {
            last.elapsed = duration(time.trim());
        } else if line.trim().is_empty() || is_stamp(line) {
            continue;
        } else if !is_own(line) {
            break;
        }
        used = at + 1;
    }
    let words = command_near(before, "rclone").unwrap_or_default();
    let remote = remote(&words);
    let mean = last.elapsed.and_then(|elapsed| DataRate::of(last.moved, elapsed)).filter(|rate| !rate.is_zero());
    let rate = mean.unwrap_or(last.rate);
    let elapsed = last.elapsed.filter(|_| mean.is_some()).or_else(|| time_at(last.moved, rate))?;
    let transfer = FileTransfer {
        tool: "rclone",
        moved: last.moved,
        elapsed,
        rate,
        is_whole: last.whole.is_none_or(|whole| last.moved >= whole),
        heading: remote.as_ref().map_or(Heading::Outbound, |remote| remote.heading),
        target: remote.map(|remote| remote.host),
        retransmits: None,
        faults: 0,
        files: None,
        local: None,
    };
    (transfer.moved > ByteCount::ZERO && !rate.is_zero())
        .then(|| Found { shows: vec![Shown::Transfer(transfer)], lines: used })
}

/// Hours of statistics, one a minute.
const MAX_LINES: usize = 10_000;

/// One line of statistics.
struct Statistic {
    moved: ByteCount,
    whole: Option<ByteCount>,
    rate: DataRate,
    elapsed: Option<Duration>,
}

/// `Transferred:   1.042 GiB / 24.100 GiB, 4%, 2.913 MiB/s, ETA 2h15m6s`, of older ones `Transferred: 236.996 MBytes (3.962 MBytes/s)`.
fn statistic(line: &str) -> Option<Statistic> {
    // `--stats-one-line` has no title.
    let text = match line.split_once("Transferred:") {
        Some((_, text)) => text.trim(),
        None if line.contains("/s, ETA ") => line.rsplit_once(": ").map_or(line, |(_, text)| text).trim(),
        None => return None,
    };
    if let Some((moved, rate)) = text.split_once(" (") {
        let rate = amount(rate.strip_suffix("/s)")?)?;
        return Some(Statistic { moved: amount(moved)?, whole: None, rate: per_second(rate), elapsed: None });
    }
    let (moved, rest) = text.split_once(" / ")?;
    let mut parts = rest.split(", ");
    let whole = amount(parts.next()?)?;
    parts.next()?.strip_suffix('%')?;
    let rate = amount(parts.next()?.trim().strip_suffix("/s")?)?;
    // What was moved may have the unit's first letter only: `17.016G / 21.345 GBytes`.
    Some(Statistic { moved: amount(moved)?, whole: Some(whole), rate: per_second(rate), elapsed: None })
}

fn per_second(bytes: ByteCount) -> DataRate {
    DataRate::from_bytes_per_second(bytes.get())
}

/// `1.042 GiB`, `3.962 MBytes`, `17.016G`, all by 1024.
fn amount(text: &str) -> Option<ByteCount> {
    let text = text.trim();
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let power = match unit.chars().next()? {
        'B' => 0,
        'k' | 'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        _ => return None,
    };
    matches!(&unit[1..], "" | "B" | "iB" | "i" | "Bytes" | "Byte" | "ytes" | "yte").then_some(())?;
    decimal(number.trim())?.times(1 << power).map(ByteCount::new)
}

/// `6m8.2s`, `1h2m3.4s`, `59.8s`.
fn duration(text: &str) -> Option<Duration> {
    let mut sum = Duration::ZERO;
    let mut rest = text;
    for (unit, of) in [('d', 86_400), ('h', 3_600), ('m', 60)] {
        if let Some((count, after)) = rest.split_once(unit) {
            sum += Duration::from_secs(count.parse::<u64>().ok().filter(|count| *count < 1_000)?.checked_mul(of)?);
            rest = after;
        }
    }
    if !rest.is_empty() {
        sum += seconds(rest.strip_suffix('s')?)?;
    }
    (!sum.is_zero()).then_some(sum)
}

/// `2017/10/29 16:16:36 INFO  :`.
fn is_stamp(line: &str) -> bool {
    let line = line.trim();
    line.ends_with(':') && (line.contains("INFO") || line.contains("NOTICE"))
}

/// Lines among the statistics: counts, and files that are being moved, whose bullets are taken off before.
fn is_own(line: &str) -> bool {
    let text = line.trim();
    let titles = [
        "Transferred:",
        "Errors:",
        "Checks:",
        "Deleted:",
        "Renamed:",
        "Elapsed time:",
        "Transferring:",
        "Checking:",
        "Listed",
    ];
    titles.iter().any(|title| text.starts_with(title)) || text.contains("% done, ") || text.contains("% /")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(before: &[&str], text: &str) -> Option<(FileTransfer, usize)> {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, before, &mut Vec::new())?;
        match found.shows.as_slice() {
            [Shown::Transfer(transfer)] => Some((transfer.clone(), found.lines)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_of_the_statistics_counts() {
        let text = "Transferred:   \t  512 MiB / 24.1 GiB, 2%, 3 MiB/s, ETA 2h15m6s\nChecks:    3 / 3, 100%\nTransferred:    0 / 6, 0%\nElapsed time:   3m0.0s\n\
                    Transferring:\n *   backup/full.img:  4% /24.1Gi, 2.913Mi/s, 2h15m6s\n\nTransferred:   \t 1 GiB / 24.1 GiB, 4%, 2.9 MiB/s, ETA \
                    2h15m6s\nElapsed time:   6m0.0s\nprose";
        let (found, lines) = transfer(&["$ rclone copy backup b2:bucket/backup --progress"], text).expect("a transfer");
        assert_eq!((found.moved.get(), found.elapsed.as_secs(), found.is_whole, lines), (1 << 30, 360, false, 9));
        assert_eq!((found.target.as_deref(), found.heading), (Some("b2"), Heading::Outbound));
        assert_eq!(found.rate.bps(), 23_860_929);
    }

    #[test]
    fn one_line_of_statistics_is_a_transfer() {
        let text = "  10.000 GiB / 10.000 GiB, 100%, 34.702 MiB/s, ETA 0s\nrtt min/avg/max/mdev = 93.017/93.150/93.333/0.101 ms";
        let (found, lines) = transfer(&[], text).expect("a transfer");
        assert_eq!((found.moved.get() >> 30, found.rate.bps() / 1_000_000, found.is_whole, lines), (10, 291, true, 1));
        assert_eq!(transfer(&[], "a / b, c, 3 MiB/s, ETA 0s"), None);
    }

    #[test]
    fn older_statistics_have_the_rate_in_brackets() {
        let (found, _) =
            transfer(&[], "Transferred: 2.274 GBytes (707.319 kBytes/s)\nErrors: 0\nElapsed time: 56m10.9s")
                .expect("a transfer");
        assert_eq!((found.rate.bps(), found.elapsed.as_secs(), found.is_whole), (5_794_746, 3_370, true));
        assert_eq!(transfer(&[], "Transferred:            0 / 6, 0%"), None);
        assert_eq!(transfer(&[], "Transferred: all of it (see below)"), None);
    }
}
