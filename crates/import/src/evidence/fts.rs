//! Marks of a third-party copy in the log of FTS (`url_copy`): bytes so far, mean rate, rate since the mark before.

use std::time::Duration;

use model::measurement::Heading;
use units::{ByteCount, DataRate};

use super::counted::TransferMarks;
use super::host_fact::HostFact;
use super::shown::{FileTransfer, Found, Shown};

/// Reads `INFO    Fri, 09 Oct 2020 14:48:36 +0200; bytes: 190398464, avg KB/sec:10329, inst KB/sec:37187, elapsed:18` and the marks
/// below. A mark counts where bytes over time are its mean rate.
pub(crate) fn read(lines: &[&str], _: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    Mark::parse(lines.first()?)?;
    let marks: Vec<Mark> = lines.iter().take(MAX_MARKS).map_while(|line| Mark::parse(line)).collect();
    let last = marks.last()?;
    if !marks.iter().all(Mark::is_sound) {
        complaints.push("marks of a copy whose bytes over their time are their mean rate".to_owned());
        return None;
    }
    let silent = marks.iter().take_while(|mark| mark.bytes == 0).last().map_or(0, |mark| mark.elapsed);
    let between = marks.windows(2).filter(|pair| pair[1].elapsed > silent && pair[1].elapsed > pair[0].elapsed);
    // The first interval with data begins somewhere between two marks.
    let between = between.skip(usize::from(silent > 0));
    let rate = |bytes: u64, seconds: u64| DataRate::of(ByteCount::new(bytes), Duration::from_secs(seconds));
    let rates: Vec<DataRate> = between
        .filter_map(|pair| rate(pair[1].bytes.checked_sub(pair[0].bytes)?, pair[1].elapsed - pair[0].elapsed))
        .collect();
    let (moved, elapsed) = (ByteCount::new(last.bytes), Duration::from_secs(last.elapsed));
    let course = TransferMarks {
        tool: TOOL,
        moved,
        elapsed,
        silent: Duration::from_secs(silent),
        rates: rates.iter().min().zip(rates.iter().max()).map(|(least, most)| [*least, *most]),
    };
    let mut shows = vec![Shown::Host(HostFact::TransferMarks(course))];
    if let Some(rate) = rate(last.bytes, last.elapsed).filter(|rate| !rate.is_zero()) {
        shows.push(Shown::Transfer(FileTransfer {
            tool: TOOL,
            target: None,
            moved,
            elapsed,
            rate,
            is_whole: false,
            heading: Heading::Inbound,
            retransmits: None,
            faults: 0,
            files: None,
            local: None,
        }));
    }
    Some(Found { shows, lines: marks.len() })
}

const TOOL: &str = "FTS";
/// A mark every five seconds for a day.
const MAX_MARKS: usize = 20_000;

/// One line of them.
struct Mark {
    bytes: u64,
    /// KiB a second since the start.
    mean: u64,
    /// Seconds since the start.
    elapsed: u64,
}

impl Mark {
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once("bytes: ")?;
        // Bold letters of a page stand around a number that somebody points at.
        let rest = rest.replace("**", "");
        let mut parts = rest.split(", ");
        let bytes = parts.next()?.parse().ok()?;
        let mean = parts.next()?.strip_prefix("avg KB/sec:")?.parse().ok()?;
        parts.next()?.strip_prefix("inst KB/sec:")?.parse::<u64>().ok()?;
        let elapsed = parts.next()?.trim().strip_prefix("elapsed:")?.parse().ok()?;
        Some(Self { bytes, mean, elapsed }).filter(|mark| mark.elapsed <= crate::limits::MAX_SECONDS)
    }

    /// Whether bytes over time are the mean rate, as far as a time in whole seconds allows.
    fn is_sound(&self) -> bool {
        let kib = self.bytes / 1024;
        let (least, most) = (kib / (self.elapsed + 1), kib / self.elapsed.saturating_sub(1).max(1));
        (least..=most.saturating_add(1)).contains(&self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(rows: &[[u64; 4]]) -> String {
        let line = |[bytes, mean, inst, at]: &[u64; 4]| {
            format!(
                "INFO    Fri, 09 Oct 2020 10:00:00 +0200; bytes: {bytes}, avg KB/sec:{mean}, inst KB/sec:{inst}, elapsed:{at}\n"
            )
        };
        rows.iter().map(line).collect()
    }

    #[test]
    fn a_copy_has_its_silence_and_its_rates_behind_it() {
        let text = log(&[[0, 0, 0, 10], [102_400_000, 5_000, 10_000, 20], [307_200_000, 10_000, 20_000, 30]]);
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).expect("marks");
        let [Shown::Host(HostFact::TransferMarks(course)), Shown::Transfer(moved)] = found.shows.as_slice() else {
            panic!("{:?}", found.shows)
        };
        assert_eq!((course.silent.as_secs(), course.elapsed.as_secs()), (10, 30));
        assert_eq!(course.rates.map(|[least, most]| (least.bps(), most.bps())), Some((163_840_000, 163_840_000)));
        assert_eq!((moved.moved.get(), moved.rate.bps(), moved.is_whole), (307_200_000, 81_920_000, false));
    }

    #[test]
    fn marks_that_do_not_add_up_are_left_out() {
        let text = log(&[[102_400_000, 50_000, 10_000, 20]]);
        let mut complaints = Vec::new();
        assert!(read(&[text.trim_end()], &[], &mut complaints).is_none());
        assert_eq!(complaints.len(), 1);
    }
}
