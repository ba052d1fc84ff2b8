//! `wget`: one file over HTTP, by its two stamped lines.

use std::net::IpAddr;
use std::time::Duration;

use model::probe::Subject;
use model::probe::download::{Download, DownloadSpec, DownloadTimes};
use model::run::{Failure, FailureKind, Outcome};
use units::{ByteCount, DataRate, WallTime};

use super::counted::FailedConnection;
use super::host_fact::HostFact;
use super::shown::{Found, Shown};
use crate::command::after_prompt;
use crate::proof::{Claim, half_digit};
use crate::quantity::{decimal, time_at};
use crate::stamp::calendar;

/// Reads from `--2022-08-19 11:00:00--  http://host/file` to `… (98.1 MB/s) - 'file' saved [268/268]`.
pub(crate) fn read(lines: &[&str], _: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let (stamp, url) = lines.first()?.trim().strip_prefix("--")?.split_once("--")?;
    let started = calendar(stamp)?;
    let url = url.split_whitespace().next().filter(|url| url.contains("://"))?;
    let mut shown: Option<(usize, Progress)> = None;
    for (at, line) in lines.iter().enumerate().skip(1).take(MAX_LINES) {
        let is_next = line.trim().starts_with("--") && at > 1 && line.contains("://") && !line.contains("(try");
        if is_next || after_prompt(line.trim_start()).is_some() {
            break;
        }
        if let Some(progress) = Progress::parse(line) {
            shown = Some((at, progress));
        }
        let Some(end) = last_line(line) else { continue };
        let Some(mut download) = download(url, started, &end) else {
            complaints.push("a download whose bytes over its time are its rate".to_owned());
            return None;
        };
        download.subject.address =
            lines[..at].iter().filter_map(|line| Attempt::parse(line)).next_back().map(|last| last.address);
        return Some(Found { shows: vec![Shown::Download(download)], lines: at + 1 });
    }
    let Some((at, progress)) = shown else { return unconnected(lines) };
    let length = lines[..at].iter().rev().find_map(|line| line.trim().strip_prefix("Length: ")?.split(' ').next());
    let length: Option<u64> = length.and_then(|length| length.parse().ok());
    if !progress.is_part_of(length) {
        complaints.push("an amount that is the printed percentage of the length".to_owned());
        return None;
    }
    let download = progress.download([url, lines.get(at)?], started)?;
    Some(Found { shows: vec![Shown::Download(download)], lines: at + 1 })
}

/// One attempt to connect: `Connecting to mirror.example.org (mirror.example.org)|192.0.2.1|:443... connected.`
struct Attempt<'a> {
    host: &'a str,
    address: IpAddr,
    /// What stands behind the dots: `connected.`, `failed: Connection timed out.`, nothing while it waits.
    result: &'a str,
}

impl<'a> Attempt<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let rest = line.trim().strip_prefix("Connecting to ")?;
        let (host, rest) = rest.split_once('|')?;
        let (address, rest) = rest.split_once('|')?;
        let (_, result) = rest.split_once("...")?;
        let host = host.split([' ', ':']).next()?;
        Some(Self { host, address: address.parse().ok()?, result: result.trim() })
    }
}

/// A host whose last address gave no connection, down to the next command.
fn unconnected(lines: &[&str]) -> Option<Found> {
    let own =
        1 + lines[1..].iter().take(MOST_ATTEMPTS).take_while(|line| after_prompt(line.trim_start()).is_none()).count();
    let last = lines[..own].iter().filter_map(|line| Attempt::parse(line)).next_back()?;
    let failed = last.result.strip_prefix("failed: ").map(|why| why.trim_end_matches('.').to_owned());
    (failed.is_some() || last.result.is_empty() || last.result == "^C").then_some(())?;
    let is_stopped = lines[..own].iter().any(|line| line.trim_end().ends_with("^C"));
    let why = failed.unwrap_or_else(|| if is_stopped { "stopped by hand" } else { "no answer" }.to_owned());
    let fact = FailedConnection { host: last.host.to_owned(), address: last.address, why };
    Some(Found { shows: vec![Shown::Host(HostFact::FailedConnection(fact))], lines: own })
}

/// Lines of attempts before somebody gives up.
const MOST_ATTEMPTS: usize = 200;

/// How far a download had come when it was stopped: `file  31%[=====>    ]   1.17G  11.2MB/s    eta 3m 53s ^C`.
struct Progress {
    percent: u64,
    bytes: u64,
    bytes_within: f64,
    /// Of the last seconds; `None` where nothing came (`--.-KB/s`).
    rate: Option<DataRate>,
}

impl Progress {
    fn parse(line: &str) -> Option<Self> {
        let (before, rest) = line.split_once("%[").or_else(|| line.split_once("% ["))?;
        let percent = before.split_whitespace().last()?.parse().ok().filter(|percent| *percent <= 100)?;
        let mut words = rest.split_once(']')?.1.split_whitespace();
        let (bytes, bytes_within) = amount(words.next()?)?;
        let rate = words.next()?.strip_suffix("B/s")?;
        let rate = if rate.starts_with("--.-") { None } else { Some(DataRate::from_bytes_per_second(amount(rate)?.0)) };
        (bytes > 0).then_some(Self { percent, bytes, bytes_within, rate })
    }

    /// Whether the amount is the percentage of the length, as far as both are rounded.
    fn is_part_of(&self, length: Option<u64>) -> bool {
        let Some(length) = length else { return true };
        #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
        let (part, one) = (self.bytes as f64, length as f64 / 100.0);
        #[expect(clippy::cast_precision_loss, reason = "at most 100")]
        let least = one * self.percent as f64;
        (least - self.bytes_within..=least + one + self.bytes_within).contains(&part)
    }

    fn download(&self, [url, line]: [&str; 2], started: WallTime) -> Option<Download> {
        let host = url.split_once("://")?.1.split(['/', ':']).next()?.to_owned();
        let is_whole = self.percent == 100 && self.rate.is_some();
        let how = if line.contains("^C") { "by hand" } else { "before its end" };
        let (kind, detail) = match self.rate {
            Some(_) => (FailureKind::Interrupted, format!("stopped {how} at {} %", self.percent)),
            None => {
                (FailureKind::Lost, format!("no data came any more, the transfer stood still at {} %", self.percent))
            }
        };
        Some(Download {
            subject: Subject { target: host, address: None, started },
            spec: DownloadSpec::of(url),
            outcome: if is_whole { Outcome::Complete } else { Outcome::Failed(Failure { kind, detail }) },
            local_address: None,
            peer_address: None,
            answer: None,
            times: DownloadTimes::default(),
            body: ByteCount::new(self.bytes),
            goodput: self.rate,
            overall: None,
            tcp: Vec::new(),
            congestion_control: None,
        })
    }
}

/// An amount as wget prints it in powers of 1024, and half of its last digit: `1.17G`, `11.2M`, `512K`, `4,096`.
fn amount(text: &str) -> Option<(u64, f64)> {
    let (number, step) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 1_u64 << 10),
        'M' => (&text[..text.len() - 1], 1 << 20),
        'G' => (&text[..text.len() - 1], 1 << 30),
        _ => return Some((text.replace(',', "").parse().ok()?, 0.5)),
    };
    #[expect(clippy::cast_precision_loss, reason = "a power of two")]
    let within = half_digit(number) * step as f64;
    Some((decimal(number)?.times(step)?, within))
}

/// Reads the last line where it stands alone: people cut the others out, and the time is that of the body.
pub(crate) fn last(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let end = last_line(lines.first()?)?;
    let command = before.iter().rev().take(8).find_map(|line| line.split_once("wget ")).map(|(_, rest)| rest);
    let mut words = command.unwrap_or_default().split_whitespace();
    let url = words.find(|word| word.contains("://")).unwrap_or("http://unknown/");
    let took = time_at(ByteCount::new(end.bytes), end.rate)?;
    let began = end.at.unix_nanos().checked_sub(units::duration::nanos(took))?;
    let found = download(url, WallTime::from_unix_nanos(began), &end)?;
    Some(Found { shows: vec![Shown::Download(found)], lines: 1 })
}

/// A dot for each 50 KB: a file of 26 GB has half a million lines of them.
const MAX_LINES: usize = 1_000_000;

/// What the last line says.
struct End {
    at: WallTime,
    rate: DataRate,
    rate_within: f64,
    bytes: u64,
    closed: bool,
}

/// `2022-08-19 11:00:03 (98.1 MB/s) - 'file' saved [268435456/268435456]`, `… - Connection closed at byte 1234. Retrying.`
fn last_line(line: &str) -> Option<End> {
    let (stamp, rest) = line.trim().split_once(" (")?;
    let at = calendar(stamp)?;
    let (rate, rest) = rest.split_once(") - ")?;
    let (number, unit) = rate.split_once(' ')?;
    let number = number.replace(',', ".");
    let step: f64 = match unit {
        "B/s" => 1.0,
        "KB/s" => 1024.0,
        "MB/s" => 1_048_576.0,
        "GB/s" => 1_073_741_824.0,
        _ => return None,
    };
    let bytes_per_second = number.parse::<f64>().ok().filter(|rate| (0.0..1e7).contains(rate))? * step;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    let rate = DataRate::from_bps((bytes_per_second * 8.0).round() as u64);
    let closed = rest.contains("losed at byte");
    let bytes = if closed {
        rest.split_once("at byte ")?.1.split('.').next()?.parse().ok()?
    } else {
        saved(rest)?.split(['/', ']']).next()?.parse().ok()?
    };
    Some(End { at, rate, rate_within: half_digit(&number) * step * 8.0, bytes, closed })
}

/// What stands in brackets at the end: `… saved [268/268]`, in the language of the user.
fn saved(rest: &str) -> Option<&str> {
    let inside = rest.trim_end().strip_suffix(']')?.rsplit_once('[')?.1;
    let is_count = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    inside.split('/').all(is_count).then_some(inside)
}

fn download(url: &str, started: WallTime, end: &End) -> Option<Download> {
    let total = Duration::from_nanos(end.at.unix_nanos().checked_sub(started.unix_nanos())?);
    let body = ByteCount::new(end.bytes);
    // The two stamps are whole seconds, and the first is before the name was resolved.
    let claim = Claim {
        bytes: body,
        bytes_within: 0.5,
        elapsed: total,
        elapsed_within: Duration::from_secs(2),
        rate: end.rate,
        rate_within: end.rate_within,
    };
    #[expect(clippy::cast_precision_loss, reason = "compared roughly")]
    let transfer = end.bytes as f64 * 8.0 / end.rate.bps().max(1) as f64;
    (claim.holds() || transfer <= total.as_secs_f64() + 2.0).then_some(())?;
    // Stamps of whole seconds make nothing of a short time.
    let total = Duration::try_from_secs_f64(transfer).map_or(total, |transfer| transfer.max(total));
    let host = url.split_once("://")?.1.split(['/', ':']).next()?.to_owned();
    let outcome = if end.closed {
        Outcome::Failed(Failure {
            kind: FailureKind::Lost,
            detail: format!("the server closed the connection at byte {}", end.bytes),
        })
    } else {
        Outcome::Complete
    };
    Some(Download {
        subject: Subject { target: host, address: None, started },
        spec: DownloadSpec::of(url),
        outcome,
        local_address: None,
        peer_address: None,
        answer: None,
        times: DownloadTimes { total, ..DownloadTimes::default() },
        body,
        goodput: Some(end.rate),
        overall: DataRate::of(body, total),
        tcp: Vec::new(),
        congestion_control: None,
    })
}
