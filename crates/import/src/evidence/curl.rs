//! `curl` with its table of progress.

use std::time::Duration;

use model::probe::Subject;
use model::probe::download::{Download, DownloadSpec, DownloadTimes};
use model::run::{Failure, FailureKind, Outcome};
use units::{ByteCount, DataRate, WallTime};

use super::shown::{Found, Shown, command_above};
use crate::proof::{Claim, half_digit};
use crate::quantity::clock;

/// Reads from `% Total    % Received % Xferd  Average Speed` to the last line of numbers.
pub(crate) fn read(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let head: Vec<&str> = lines.first()?.split_whitespace().collect();
    (head.get(..6)? == ["%", "Total", "%", "Received", "%", "Xferd"]).then_some(())?;
    let mut used = 1;
    let mut rows: Vec<Row> = Vec::new();
    for line in lines[1..].iter().take(MAX_LINES) {
        if line.contains("Dload") && line.contains("Upload") {
            used += 1;
            continue;
        }
        let Some(row) = row(line) else { break };
        // Progress goes on, unless the file above it was complete: then this is another one.
        let is_same = |last: &Row| {
            let [last, own] = [last.claim, row.claim];
            (last.bytes, last.elapsed, last.rate) == (own.bytes, own.elapsed, own.rate)
        };
        if rows.last().is_some_and(|last| !last.is_complete || is_same(last)) {
            rows.pop();
        }
        rows.push(row);
        used += 1;
    }
    if rows.iter().any(|row| !row.claim.holds()) {
        complaints.push("progress of curl whose bytes over its time are its average speed".to_owned());
        return None;
    }
    let url = command_above(before, "curl")
        .and_then(|words| {
            words.iter().find(|word| word.contains("://")).map(|word| word.trim_matches(['\'', '"']).to_owned())
        })
        .unwrap_or_else(|| "http://unknown/".to_owned());
    let shows: Vec<Shown> = rows.iter().map(|row| Shown::Download(download(&url, row))).collect();
    (!shows.is_empty()).then_some(Found { shows, lines: used })
}

fn download(url: &str, row: &Row) -> Download {
    let host = url.split_once("://").map_or("unknown", |(_, rest)| rest).split(['/', ':']).next().unwrap_or("unknown");
    let outcome = if row.percent == 100 {
        Outcome::Complete
    } else if row.is_stopped {
        let detail = format!("stopped at {} %", row.percent);
        Outcome::Failed(Failure { kind: FailureKind::Interrupted, detail })
    } else {
        let detail = format!("the transfer ended at {} % of the file", row.percent);
        Outcome::Failed(Failure { kind: FailureKind::Lost, detail })
    };
    Download {
        subject: Subject { target: host.to_owned(), address: None, started: WallTime::from_unix_nanos(0) },
        spec: DownloadSpec::of(url),
        outcome,
        local_address: None,
        peer_address: None,
        answer: None,
        times: DownloadTimes { total: row.claim.elapsed, ..DownloadTimes::default() },
        body: row.claim.bytes,
        goodput: Some(row.claim.rate),
        overall: DataRate::of(row.claim.bytes, row.claim.elapsed),
        tcp: Vec::new(),
        congestion_control: None,
    }
}

/// A line a second for a day.
const MAX_LINES: usize = 100_000;

struct Row {
    percent: u32,
    /// All has come, and no time is left.
    is_complete: bool,
    /// Whether a key ended it, which the terminal has echoed.
    is_stopped: bool,
    claim: Claim,
}

/// `100  1024M  100  1024M    0     0   112M      0  0:00:09  0:00:09 --:--:--  112M`.
fn row(line: &str) -> Option<Row> {
    let shown = line.trim_end().trim_end_matches("^C");
    let is_stopped = shown.len() < line.trim_end().len();
    let words: Vec<&str> = shown.split_whitespace().collect();
    let [_, _, percent, received, _, _, speed, _, _, spent, left, _] = *words.as_slice() else { return None };
    let (bytes, bytes_within) = amount(received)?;
    let (rate, rate_within) = amount(speed)?;
    let elapsed = clock(spent, 3..=3).unwrap_or(Duration::ZERO);
    let claim = Claim {
        bytes: ByteCount::new(bytes),
        bytes_within,
        elapsed,
        elapsed_within: Duration::from_secs(1),
        rate: DataRate::from_bytes_per_second(rate),
        rate_within: rate_within * 8.0,
    };
    let percent = percent.parse().ok().filter(|percent| *percent <= 100)?;
    Some(Row { percent, is_complete: percent == 100 && left == "--:--:--", is_stopped, claim })
}

/// Five digits at most: curl goes over to the next unit, 1024 of the one before, without rounding.
fn amount(text: &str) -> Option<(u64, f64)> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let step: f64 = match unit {
        "" => 1.0,
        "k" => 1024.0,
        "M" => 1_048_576.0,
        "G" => 1_073_741_824.0,
        "T" => 1_099_511_627_776.0,
        _ => return None,
    };
    let value = number.parse::<f64>().ok().filter(|value| (0.0..1e6).contains(value))? * step;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    Some((value as u64, 2.0 * half_digit(number) * step))
}
