//! Lines without a rate: what `-v` adds, and errors.

use std::time::Duration;

use model::measurement::End;
use units::{ByteCount, DataRate};

use super::numbers::Numbers;
use crate::quantity::{megabits, milliseconds, nuttcp_megabytes, seconds};
use crate::{nuttcp::pairs, nuttcp::row, parsed::Datagrams};

/// A line that nuttcp prints.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    /// An interval or a summary.
    Numbers(Box<Numbers>, RowForm),
    /// A line of one end, with `-v`.
    EndReport(End, EndReport),
    /// Something went wrong.
    Error(String),
    /// Something to know.
    Note(String),
    /// nuttcp does not understand its arguments and prints how to use it.
    Usage,
    /// Known, and of no use here.
    Ornament,
}

/// In which form numbers were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowForm {
    /// For people.
    Text,
    /// `-fparse`.
    Pairs,
}

/// A line of one end, with `-v`.
#[derive(Debug, Clone)]
pub(crate) enum EndReport {
    /// `v6.1.2: socket`: an end starts to tell.
    Version(String),
    /// `buflen=65536, nstream=1, port=15401 tcp -> 127.0.0.1`.
    Shape { length: ByteCount, streams: u16, udp: bool },
    /// `connect to 127.0.0.1 with mss=32741, RTT=0.046 ms`.
    Connect { mss: u32, rtt: Duration },
    /// `1250.06 MB in 1.00 real seconds = …`.
    Total { bytes: ByteCount, elapsed: Duration, rate: DataRate },
    /// `retrans = 0`.
    Retransmits(u64),
    /// `1085 drops …` of datagrams.
    Datagrams(Datagrams),
}

/// The line, where it is one of nuttcp's.
pub(crate) fn read(line: &str) -> Option<Line> {
    let line = line.trim();
    if let Some(numbers) = row::read(line) {
        return Some(Line::Numbers(Box::new(numbers), RowForm::Text));
    }
    if line.starts_with("megabytes=") {
        return pairs::read(line).map(|numbers| Line::Numbers(Box::new(numbers), RowForm::Pairs));
    }
    let ends = [("nuttcp-t: ", End::Sender), ("nuttcp-r: ", End::Receiver)];
    for (start, end) in ends {
        if let Some(rest) = line.strip_prefix(start) {
            return end_report(end, rest);
        }
    }
    let is = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    if is(&["bad hostname or address", "invalid ", "unknown option", "nuttcp: Error"]) {
        return Some(Line::Error(line.to_owned()));
    }
    if is(&["Usage: nuttcp"]) {
        return Some(Line::Usage);
    }
    if is(&["ignoring interval="]) {
        return Some(Line::Note(line.to_owned()));
    }
    let number = line.strip_prefix("errno=")?;
    number.parse::<u32>().ok().map(|_| Line::Ornament)
}

/// Whether a line of nuttcp may begin with a word.
pub(crate) fn begins_with(word: &str) -> bool {
    ["nuttcp-t:", "nuttcp-r:", "bad", "invalid", "unknown", "nuttcp:", "Usage:", "ignoring"].contains(&word)
        || word.starts_with("megabytes=")
        || word.starts_with("errno=")
}

fn end_report(end: End, rest: &str) -> Option<Line> {
    if let Some((version, what)) = rest.strip_prefix('v').and_then(|rest| rest.split_once(": ")) {
        return Some(match what.split_once(": ") {
            Some(("Error", error)) => Line::Error(error.to_owned()),
            Some((_, note)) => Line::Note(note.to_owned()),
            None => Line::EndReport(end, EndReport::Version(version.to_owned())),
        });
    }
    if let Some((kind, text)) = rest.split_once(": ") {
        match kind {
            "Info" | "Warning" => return Some(Line::Note(text.to_owned())),
            "Error" => return Some(Line::Error(text.to_owned())),
            _ => {}
        }
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    if words.first()?.contains('=') && !words.first()?.ends_with(',') {
        return pairs_of_end(&words).map(|parsed| parsed.map_or(Line::Ornament, |parsed| Line::EndReport(end, parsed)));
    }
    let parsed = match words.as_slice() {
        [amount, "MB", "in", time, "real", "seconds", "=", _, "KB/sec", "=", rate, "Mbps"] => {
            EndReport::Total { bytes: nuttcp_megabytes(amount)?, elapsed: seconds(time)?, rate: megabits(rate)? }
        }
        [_, "MB", "in", _, "CPU", "seconds", ..] | [_, "I/O", "calls,", ..] => return Some(Line::Ornament),
        ["retrans", "=", count] => EndReport::Retransmits(count.parse().ok()?),
        [length, streams, port, protocol @ ("tcp" | "udp"), ..] if length.starts_with("buflen=") => EndReport::Shape {
            length: ByteCount::new(after(length, "buflen=")?),
            streams: u16::try_from(after(streams, "nstream=")?).ok()?,
            udp: *protocol == "udp" && port.starts_with("port="),
        },
        ["connect", "to", _, "with", mss, rtt, "ms"] => EndReport::Connect {
            mss: u32::try_from(after(mss, "mss=")?).ok()?,
            rtt: milliseconds(rtt.strip_prefix("RTT=")?)?,
        },
        [drops, "/", packets, "drop/pkt", ..] | [drops, "/", packets, "dropped", "packets", ..] => {
            EndReport::Datagrams(Datagrams { lost: Some(drops.parse().ok()?), total: packets.parse().ok()? })
        }
        ["time", "limit", "=", ..]
        | ["send" | "receive", "window", "size", "=", ..]
        | ["available", "send" | "receive", "window", "=", ..]
        | ["accept", "from", ..]
        | ["rate", "limit", "=", ..]
        | ["interval", "reporting", ..] => return Some(Line::Ornament),
        [user, system, ..] if user.ends_with("user") && system.ends_with("sys") => return Some(Line::Ornament),
        _ => return None,
    };
    Some(Line::EndReport(end, parsed))
}

/// What `-v` and `-fparse` print together; `Some(None)` where it is of no use here.
fn pairs_of_end(words: &[&str]) -> Option<Option<EndReport>> {
    Some(Some(match words {
        [amount, time, _, rate] if amount.starts_with("megabytes=") => EndReport::Total {
            bytes: nuttcp_megabytes(amount.strip_prefix("megabytes=")?)?,
            elapsed: seconds(time.strip_prefix("real_seconds=")?)?,
            rate: megabits(rate.strip_prefix("rate_Mbps=")?)?,
        },
        [count] if count.starts_with("retrans=") => EndReport::Retransmits(after(count, "retrans=")?),
        [length, streams, _, mode, ..] if length.starts_with("buflen=") => EndReport::Shape {
            length: ByteCount::new(after(length, "buflen=")?),
            streams: u16::try_from(after(streams, "nstream=")?).ok()?,
            udp: *mode == "mode=udp",
        },
        [_, mss, rtt] if words.first()?.starts_with("connect=") => EndReport::Connect {
            mss: u32::try_from(after(mss, "mss=")?).ok()?,
            rtt: milliseconds(rtt.strip_prefix("rtt_ms=")?)?,
        },
        [drops, packets, ..] if drops.starts_with("drop=") => EndReport::Datagrams(Datagrams {
            lost: Some(drops.strip_prefix("drop=")?.parse().ok()?),
            total: after(packets, "pkt=")?,
        }),
        [first, ..] => return NO_USE.iter().any(|key| first.starts_with(key)).then_some(None),
        [] => return None,
    }))
}

const NO_USE: [&str; 8] = [
    "time_limit=",
    "send_window_size=",
    "send_window_avail=",
    "io_calls=",
    "stats=",
    "accept=",
    "rate_limit=",
    "megabytes=",
];

/// The number after `key`, up to a comma.
fn after(word: &str, key: &str) -> Option<u64> {
    word.strip_prefix(key)?.trim_end_matches(',').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kinds_are_known() {
        for line in [
            "nuttcp-t: v6.1.2: socket",
            "nuttcp-t: v6.1.2: Error: connect: Connection refused",
            "nuttcp-t: Info: attempting to switch to deprecated \"classic\" mode",
            "nuttcp-r: 10458 / 267545 drop/pkt 3.91% data loss",
            "nuttcp-r: 0.0user 0.3sys 0:01real 22% 0i+0d 914maxrss 0+0pf 54527+2csw",
            "nuttcp-t: connect=127.0.0.1 mss=32741 rtt_ms=0.082",
            "nuttcp-t: stats=cpu user=0.0 system=0.9",
            "errno=111",
        ] {
            assert!(read(line).is_some(), "{line}");
        }
        for line in ["nuttcp-t: who knows", "nuttcp-t:", "nuttcp-t: ", "errno=x", "nuttcp-t: x=1", "megabytes=1"] {
            assert!(read(line).is_none(), "{line}");
        }
    }
}
