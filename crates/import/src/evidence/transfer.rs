//! Programs that move files: `scp`, `rsync`, `xrdcp`, `globus-url-copy`, `globus task show`.
//!
//! What they print last is an amount and a mean rate; the time follows from both, or is proved by them.

use std::time::Duration;

use model::measurement::Heading;
use units::{ByteCount, DataRate};

use super::host_fact::HostFact;
use super::shown::{FileTransfer, Found, Shown, command_above, command_near};
use crate::quantity::{clock, time_at};

/// Reads the lines of one transfer.
pub(crate) fn read(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let (transfer, used) = scp(lines, before)
        .or_else(|| rsync(lines, before, complaints))
        .or_else(|| rsync_progress(lines))
        .or_else(|| xrdcp(lines, before))
        .or_else(|| url_copy(lines, before))
        .or_else(|| globus(lines))?;
    let shows = if transfer.tool == "rsync" && is_delta(lines) {
        Shown::Host(HostFact::DeltaTransfer { tool: transfer.tool, moved: transfer.moved })
    } else {
        Shown::Transfer(transfer)
    };
    Some(Found { shows: vec![shows], lines: used })
}

/// `big.tar    100%   10GB   2.1MB/s 1:21:16`, with `ETA` behind the time while it runs.
fn scp(lines: &[&str], before: &[&str]) -> Option<(FileTransfer, usize)> {
    let words: Vec<&str> = lines.first()?.split_whitespace().collect();
    let (words, runs) = match words.as_slice() {
        [words @ .., "ETA"] => (words, true),
        words => (words, false),
    };
    let [.., percent, amount, rate, time] = *words else { return None };
    (words.len() >= 5).then_some(())?;
    let percent: u32 = percent.strip_suffix('%')?.parse().ok()?;
    let moved = binary(amount)?;
    let rate = binary(rate.strip_suffix("/s")?)?;
    let left = took(time)?;
    // While it runs the time is what is left.
    let elapsed = if runs || percent < 100 { over(moved, bits(rate))? } else { left };
    let target = command_near(before, "scp").and_then(|words| remote(&words));
    let rate = if percent == 100 { DataRate::of(ByteCount::new(moved), elapsed)? } else { bits(rate) };
    transfer("scp", target, moved, elapsed, rate).map(|found| (FileTransfer { is_whole: percent == 100, ..found }, 1))
}

/// `sent 10,740,040,041 bytes  received 35 bytes  2,202,001.24 bytes/sec`.
fn rsync(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<(FileTransfer, usize)> {
    let words: Vec<&str> = lines.first()?.split_whitespace().collect();
    // Some people's rsync says the rate in megabytes as well: `(8.39MB/sec)`.
    let ["sent", sent, "bytes", "received", received, "bytes", rate, "bytes/sec", ..] = *words.as_slice() else {
        return None;
    };
    let (sent, received) = (grouped(sent)?, grouped(received)?);
    let (moved, rate) = (sent.max(received), grouped(rate)?);
    let target = before.iter().rev().take(NEAR).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "rsync")?;
        remote(&words[at + 1..])
    });
    let sums = lines.get(1).filter(|line| line.starts_with("total size is "));
    // The second line proves the first: the size of all files is so many times what went over the path.
    let is_proved = sums.is_none_or(|sums| proves(sums, sent.saturating_add(received)));
    if !is_proved {
        complaints.push("sums of rsync whose speedup is the size over what was sent and received".to_owned());
        return None;
    }
    let found = transfer("rsync", target, moved, over(moved, bits(rate))?, bits(rate))?;
    // Without the command its direction is seen by what was received.
    let heading = if found.target.is_none() && received > sent { Heading::Inbound } else { found.heading };
    Some((FileTransfer { heading, ..found }, 1 + usize::from(sums.is_some())))
}

/// `total size is 21.474.836.480  speedup is 1,00`, beside what went over the path.
fn proves(sums: &str, moved: u64) -> bool {
    let Some((size, speedup)) = sums.trim_start_matches("total size is ").split_once("speedup is ") else {
        return true;
    };
    let size = grouped(size.trim());
    let speedup = speedup.split_whitespace().next().and_then(|text| {
        let hundredths = text.rsplit_once(['.', ',']).filter(|(_, behind)| behind.len() == 2)?.1.parse::<u64>().ok()?;
        grouped(text)?.checked_mul(100)?.checked_add(hundredths)
    });
    let Some((size, hundredths)) = size.zip(speedup) else { return false };
    let printed = u128::from(moved) * u128::from(hundredths);
    // Half of the last digit of the speedup, on either side.
    printed.abs_diff(u128::from(size) * 100) <= u128::from(moved)
}

/// `total size is 3103784960  speedup is 5046.54`: files that were mostly there already, of which the differences were sent.
fn is_delta(lines: &[&str]) -> bool {
    let speedup = lines
        .get(1)
        .and_then(|line| line.split_once("speedup is "))
        .and_then(|(_, speedup)| grouped(speedup.split_whitespace().next()?));
    speedup.is_some_and(|speedup| speedup >= MOSTLY_THERE)
}

/// From here on more than half of the files was there.
const MOSTLY_THERE: u64 = 2;

/// `8,589,934,592 100%  313.20MB/s    0:00:26 (xfr#1, to-chk=0/1)` of one file, where the sums were left out.
fn rsync_progress(lines: &[&str]) -> Option<(FileTransfer, usize)> {
    let words: Vec<&str> = lines.first()?.split_whitespace().collect();
    let [amount, "100%", rate, time, number, ..] = *words.as_slice() else { return None };
    (number.starts_with("(xfr#") || number.starts_with("(xfer#")).then_some(())?;
    let has_sums = lines[1..].iter().take(3).any(|line| line.trim_start().starts_with("sent "));
    let (moved, rate) = (grouped(amount)?, bits(binary(rate.strip_suffix("/s")?)?));
    let elapsed = over(moved, rate)?;
    // The clock has whole seconds.
    let is_proved = elapsed.abs_diff(took(time)?) <= Duration::from_secs(2);
    // Of less than a few seconds a clock of whole ones proves nothing, and a list of small files has a rate for each.
    (is_proved && !has_sums && elapsed >= PROVABLE).then_some(())?;
    let found = transfer("rsync", None, moved, elapsed, rate)?;
    Some((FileTransfer { heading: Heading::Inbound, ..found }, 1))
}

/// Four times the two seconds by which the clock may be off.
const PROVABLE: Duration = Duration::from_secs(8);

/// A list of files stands between the command and its sums.
const NEAR: usize = 100;

/// `[1.0GB/1.0GB][100%][=====][12.4MB/s]`.
fn xrdcp(lines: &[&str], before: &[&str]) -> Option<(FileTransfer, usize)> {
    // A key that ended it is echoed behind it.
    let line = lines.first()?.trim().trim_end_matches("^C").trim_end();
    let parts: Vec<&str> = line.strip_prefix('[')?.trim_end_matches(']').split("][").collect();
    let [amounts, percent, _, rate] = *parts.as_slice() else { return None };
    let (moved, _) = amounts.split_once('/')?;
    let percent: u32 = percent.trim_start().strip_suffix('%')?.parse().ok()?;
    let (moved, rate) = (binary(moved)?, binary(rate.strip_suffix("/s")?)?);
    let target = command_above(before, "xrdcp").and_then(|words| remote(&words));
    let found = transfer("xrdcp", target, moved, over(moved, bits(rate))?, bits(rate))?;
    Some((FileTransfer { is_whole: percent == 100, ..found }, 1))
}

/// `  10737418240 bytes       112.05 MB/sec avg       114.20 MB/sec inst`.
fn url_copy(lines: &[&str], before: &[&str]) -> Option<(FileTransfer, usize)> {
    let words: Vec<&str> = lines.first()?.split_whitespace().collect();
    let [bytes, "bytes", rate, "MB/sec", "avg", ..] = *words.as_slice() else { return None };
    let (moved, rate) = (bytes.parse().ok()?, binary(&format!("{rate}MB"))?);
    let command = before.iter().rev().take(NEAR).find_map(|line| line.split_once("globus-url-copy "));
    let target = command.and_then(|(_, rest)| remote(&rest.split_whitespace().collect::<Vec<_>>()));
    transfer("globus-url-copy", target, moved, over(moved, bits(rate))?, bits(rate)).map(|found| (found, 1))
}

/// `Bytes Transferred: 1283918273912`, `Bytes/sec: 44580495` or `Bytes Per Second: …`, `Faults: 12` of `globus task show`.
fn globus(lines: &[&str]) -> Option<(FileTransfer, usize)> {
    let titles = usize::from(lines.first()?.trim().starts_with("Label:"));
    lines.get(titles)?.trim().starts_with("Task ID:").then_some(())?;
    let used = lines.iter().take(60).take_while(|line| line.contains(':')).count();
    let value = |key: &str| {
        lines[..used].iter().find_map(|line| Some(line.trim().strip_prefix(key)?.strip_prefix(':')?.trim()))
    };
    let moved: u64 = value("Bytes Transferred")?.parse().ok()?;
    let rate = ["Bytes/sec", "Effective Bytes/sec", "Bytes Per Second"].into_iter().find_map(value)?;
    let rate: u64 = rate.parse().ok()?;
    let source = value("Source Endpoint").map(str::to_owned);
    let target = source.map(|host| Remote { host, heading: Heading::Inbound });
    let found = transfer("globus", target, moved, over(moved, bits(rate))?, bits(rate))?;
    let count = |key: &str| value(key).and_then(|count| count.parse::<u64>().ok());
    let is_whole = value("Status") == Some("SUCCEEDED");
    let (faults, files) = (count("Faults").unwrap_or(0), count("Files"));
    let local = value("Destination Endpoint").map(str::to_owned);
    Some((FileTransfer { is_whole, faults, files, local, ..found }, used))
}

fn transfer(
    tool: &'static str,
    target: Option<Remote>,
    moved: u64,
    elapsed: Duration,
    rate: DataRate,
) -> Option<FileTransfer> {
    let moved = ByteCount::new(moved);
    (!elapsed.is_zero() && !rate.is_zero()).then_some(FileTransfer {
        tool,
        moved,
        elapsed,
        rate,
        is_whole: true,
        heading: target.as_ref().map_or(Heading::Outbound, |remote| remote.heading),
        target: target.map(|remote| remote.host),
        retransmits: None,
        faults: 0,
        files: None,
        local: None,
    })
}

/// The other host of a transfer.
pub(super) struct Remote {
    pub(super) host: String,
    pub(super) heading: Heading,
}

/// The host of `host:path`, `user@host:path` or of an address with a scheme; what stands last is where files go.
pub(super) fn remote(words: &[&str]) -> Option<Remote> {
    // `--transfers 4` behind the two ends is no end.
    let is_value = |at: usize| {
        let is_option =
            at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|before| before.starts_with('-'));
        is_option && words[at].starts_with(|letter: char| letter.is_ascii_digit()) && !words[at].contains([':', '/'])
    };
    let last = (0..words.len()).rev().find(|at| !words[*at].starts_with('-') && !is_value(*at))?;
    words.iter().enumerate().filter(|(_, word)| !word.starts_with('-')).find_map(|(at, word)| {
        let host = match word.split_once("://") {
            Some(("file", _)) => return None,
            Some((_, rest)) => rest.split(['/', ':']).next()?,
            None => word.split_once(':')?.0,
        };
        let host = host.rsplit('@').next().filter(|host| !host.is_empty())?;
        let heading = if at == last { Heading::Outbound } else { Heading::Inbound };
        Some(Remote { host: host.to_owned(), heading })
    })
}

/// An amount with a unit of 1024: `10GB`, `1229MB`, `2.1MB`, `512KB`.
fn binary(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let step: f64 = match unit {
        "B" => 1.0,
        "KB" | "KiB" | "kB" => 1024.0,
        "MB" | "MiB" => 1_048_576.0,
        "GB" | "GiB" => 1_073_741_824.0,
        "TB" | "TiB" => 1_099_511_627_776.0,
        _ => return None,
    };
    let value = number.replace(',', ".").parse::<f64>().ok().filter(|value| (0.0..1e7).contains(value))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    Some((value * step) as u64)
}

/// `10,740,040,041`, `2,202,001.24`, in other countries `10.740.040.041`, `2.202.001,24`: rsync groups thousands, and what stands behind its
/// decimal mark has two digits.
fn grouped(text: &str) -> Option<u64> {
    let is_mark = |letter: char| matches!(letter, ',' | '.');
    let (whole, behind) = match text.rsplit_once(is_mark) {
        Some((whole, behind)) if behind.len() == 2 => (whole, behind),
        _ => (text, ""),
    };
    let mut groups = whole.split(is_mark);
    let is_grouped = groups.next().is_some_and(|first| (1..=3).contains(&first.len()) || !whole.contains(is_mark))
        && groups.all(|group| group.len() == 3);
    (is_grouped && behind.bytes().all(|digit| digit.is_ascii_digit())).then_some(())?;
    whole.replace(is_mark, "").parse().ok()
}

/// `1:21:16`, `01:16`; a transfer within the first second prints zero.
fn took(text: &str) -> Option<Duration> {
    clock(text, 2..=3).map(|time| time.max(Duration::from_secs(1)))
}

fn over(moved: u64, rate: DataRate) -> Option<Duration> {
    time_at(ByteCount::new(moved), rate)
}

fn bits(bytes_per_second: u64) -> DataRate {
    DataRate::from_bytes_per_second(bytes_per_second)
}
