//! Intervals that somebody recorded with `--json`: one a line.

use std::io::{self, BufRead, Read};

use model::host::drops::DropInterval;
use model::plausible;

/// What was read from recorded lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recorded {
    /// Intervals, in the order of the file.
    pub intervals: Vec<DropInterval>,
    /// Lines that were not understood, from 1, with the reason: up to [`MAX_ANOMALIES`].
    pub anomalies: Vec<(usize, String)>,
}

/// Reads recorded lines. A line that is not understood, such as the last one of a recorder that was stopped, is listed
/// and does not end the reading.
///
/// # Errors
/// What reading gives; `FileTooLarge` beyond [`MAX_LINES`].
pub fn read(mut input: impl BufRead) -> io::Result<Recorded> {
    let mut recorded = Recorded::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let limit = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
        if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if number > MAX_LINES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        match parse(&line) {
            Ok(interval) => recorded.intervals.push(interval),
            Err(reason) if recorded.anomalies.len() < MAX_ANOMALIES => recorded.anomalies.push((number, reason)),
            Err(_) => {}
        }
    }
    Ok(recorded)
}

/// Reads one line.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse(line: &[u8]) -> Result<DropInterval, String> {
    // A recording may be a stranger's: its names end on a terminal, and its numbers in sums.
    let interval: DropInterval = plausible::read(line).map_err(|error| error.to_string())?;
    let interval = foreign::terminal::lines_of(&interval).unwrap_or(interval);
    if interval.format > DropInterval::FORMAT {
        return Err(format!("written by a newer linerate (format {})", interval.format));
    }
    Ok(interval)
}

/// A line of a host with some thousand devices is below this.
pub const MAX_LINE_BYTES: usize = 4 << 20;

/// Two weeks of seconds.
pub const MAX_LINES: usize = 1_300_000;

/// Lines that were not understood and are told.
pub const MAX_ANOMALIES: usize = 20;
