//! `ping` of iputils, BSD and busybox.

use std::net::IpAddr;
use std::time::Duration;

use model::measurement::RttSummary;
use model::probe::echo::{EchoAnswer, EchoFate, EchoProbe, EchoSeries, EchoSpec, EchoSummary, Fragments, Stamp};
use model::probe::{Report, ReportKind, Subject};
use model::run::Outcome;
use units::{PacketCount, WallTime};

use super::shown::{Found, Shown, command_above, command_near};
use crate::quantity::milliseconds;

/// Reads from `PING host (192.0.2.1) 56(84) bytes of data.` to the line of `rtt min/avg/max/mdev`.
pub(crate) fn read(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let (subject, payload) = header(lines.first()?)?;
    let mut series = Series::default();
    let mut used = 1;
    for line in lines.iter().skip(1).take(MAX_LINES) {
        let more = series.line(line.trim());
        if !more {
            break;
        }
        used += 1;
        if series.ended {
            break;
        }
    }
    // A header alone, as prose has it, is no measurement.
    let echoes = series.finish(subject, payload, fragments(before), complaints)?;
    Some(Found { shows: vec![Shown::Echo(echoes)], lines: used })
}

/// Reads answers whose header is not there: a middle of an output that people copied.
pub(crate) fn answers(lines: &[&str], _: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    answer(first)?;
    let (size, from) = first.split_once(" bytes from ")?;
    let host = from.split([' ', '(']).next()?.trim_end_matches(':');
    let mut series = Series::default();
    let used = lines.iter().take(MAX_LINES).take_while(|line| !series.ended && series.line(line.trim())).count();
    (series.probes.len() >= FEWEST).then_some(())?;
    let subject =
        Subject { target: host.to_owned(), address: host.parse().ok(), started: WallTime::from_unix_nanos(0) };
    let payload = size.parse::<u16>().ok()?.saturating_sub(ICMP_HEADER);
    let echoes = series.finish(subject, payload, Fragments::Allowed, complaints)?;
    Some(Found { shows: vec![Shown::Echo(echoes)], lines: used })
}

/// Reads statistics whose answers are not there: from `--- host ping statistics ---` on, also in German.
pub(crate) fn statistics(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    let host = first.strip_prefix("--- ")?.strip_suffix(" ---")?;
    let host = host.strip_suffix(" ping statistics").or_else(|| host.strip_suffix(GERMAN))?;
    // Answers that were read and did not fit their statistics leave them behind.
    let are_above = before.iter().rev().take(NEAR_ANSWERS).any(|line| {
        let line = line.trim_start();
        line.starts_with("PING ") || answer(line).is_some() || report(line).is_some()
    });
    (!are_above).then_some(())?;
    let mut series = Series { statistics: true, ..Series::default() };
    let own = lines[1..].iter().take(MOST_STATISTICS);
    let used = own.take_while(|line| !series.ended && series.line(line.trim())).count();
    let subject =
        Subject { target: host.to_owned(), address: host.parse().ok(), started: WallTime::from_unix_nanos(0) };
    let words = command_near(before, "ping").unwrap_or_default();
    let size = words.iter().position(|word| *word == "-s").and_then(|at| words.get(at + 1)?.parse().ok());
    let echoes = series.finish(subject, size.unwrap_or(DEFAULT_PAYLOAD), fragments(before), complaints)?;
    Some(Found { shows: vec![Shown::Echo(echoes)], lines: 1 + used })
}

/// The title of iputils' German statistics.
const GERMAN: &str = " ping-Statistik";
/// Lines between answers and their statistics.
const NEAR_ANSWERS: usize = 4;
/// Counts, and times.
const MOST_STATISTICS: usize = 3;
/// Data of an echo where nothing is asked for: iputils, BSD and busybox.
const DEFAULT_PAYLOAD: u16 = 56;

/// Fewer answers are an example in prose.
const FEWEST: usize = 3;
/// What an answer counts and a header does not (RFC 792).
const ICMP_HEADER: u16 = 8;

/// A day of one echo a second.
const MAX_LINES: usize = 100_000;

fn header(line: &str) -> Option<(Subject, u16)> {
    let rest = line.trim().strip_prefix("PING ")?;
    let (target, rest) = rest.split_once([' ', '('])?;
    let address = rest.trim_start_matches(['(', ' ']).split([')', ' ']).next()?;
    let address: Option<IpAddr> = address.parse().ok().or_else(|| target.parse().ok());
    let words: Vec<&str> = rest.split_whitespace().collect();
    let at = words.iter().position(|word| matches!(*word, "bytes" | "data"))?;
    let size = words.get(at.checked_sub(1)?)?;
    let payload = size.split('(').next()?.parse().ok()?;
    let subject = Subject { target: target.to_owned(), address, started: WallTime::from_unix_nanos(0) };
    Some((subject, payload))
}

/// `-M do` of iputils and `-D` of BSD forbid fragments; without the command nobody knows.
fn fragments(before: &[&str]) -> Fragments {
    let forbids = command_above(before, "ping").is_some_and(|words| {
        words.windows(2).any(|pair| pair == ["-M", "do"]) || words.contains(&"-D") && !words.contains(&"-M")
    });
    if forbids { Fragments::Forbidden } else { Fragments::Allowed }
}

/// What the lines have said so far.
#[derive(Default)]
struct Series {
    probes: Vec<EchoProbe>,
    duplicated: u64,
    counted: Option<(u64, u64)>,
    least_and_most: Option<(Duration, Duration)>,
    statistics: bool,
    ended: bool,
}

impl Series {
    /// Whether the line belongs to the series.
    fn line(&mut self, line: &str) -> bool {
        if line.is_empty() {
            // Between the answers and the statistics.
            return !self.statistics || self.counted.is_none();
        }
        if line.contains("ping statistics ---") || line.ends_with("ping-Statistik ---") {
            self.statistics = true;
            return true;
        }
        if self.statistics {
            return self.summary(line);
        }
        if let Some(probe) = answer(line) {
            // An answer that came too late is printed beside the next one of the same number.
            let comes_again = self.probes.last().is_some_and(|last| last.sequence == probe.sequence);
            if line.ends_with("(DUP!)") || comes_again {
                self.duplicated += 1;
            } else {
                self.probes.push(probe);
            }
            return true;
        }
        if let Some(probe) = report(line) {
            self.probes.push(probe);
            return true;
        }
        if let Some(mtu) = too_long(line) {
            let sequence = self.probes.last().map_or(1, |last| last.sequence.saturating_add(1));
            let kind = ReportKind::TooBig { mtu_bytes: Some(mtu) };
            self.probes.push(probe(sequence, EchoFate::Reported(Report { kind, reporter: None })));
            return true;
        }
        line.starts_with("Request timeout")
            || line.starts_with("no answer yet")
            || line.starts_with("WARNING: ")
            || line.starts_with('^')
            || is_flood(line)
    }

    fn summary(&mut self, line: &str) -> bool {
        let words = [["packets transmitted", "received"], ["Pakete übertragen", "empfangen"]];
        if let Some([sent, received]) = words.into_iter().find(|[sent, _]| line.contains(sent)) {
            let number = |unit: &str| {
                let part = line.split(", ").find(|part| part.contains(unit))?;
                part.split_whitespace().next()?.parse::<u64>().ok()
            };
            self.counted = number(sent).zip(number(received));
            // Without an answer there are no times.
            self.ended = self.counted.is_none_or(|(_, received)| received == 0);
            return true;
        }
        if self.counted.is_some() && is_rest(line) {
            return true;
        }
        let Some((_, times)) = line.split_once(" = ").filter(|_| line.contains("min/avg/max")) else { return false };
        let mut times = times.trim_end_matches(" ms").split(['/', ' ']).map(milliseconds);
        let least = times.next().flatten();
        let most = times.nth(1).flatten();
        self.least_and_most = least.zip(most);
        self.ended = true;
        true
    }

    fn finish(
        mut self,
        subject: Subject,
        payload_bytes: u16,
        fragments: Fragments,
        complaints: &mut Vec<String>,
    ) -> Option<EchoSeries> {
        if self.probes.is_empty() && self.counted.is_none() {
            return None;
        }
        let first = self.probes.iter().map(|probe| probe.sequence).min().unwrap_or(0);
        let mut rtts: Vec<u64> = self.probes.iter().filter_map(rtt_us).collect();
        rtts.sort_unstable();
        let answered = u64::try_from(rtts.len()).unwrap_or(u64::MAX);
        let seen = self.probes.iter().map(|probe| u64::from(probe.sequence - first) + 1).max().unwrap_or(0);
        let (sent, received) = self.counted.unwrap_or((seen, answered));
        // Some count what came twice as received.
        let received = if self.duplicated > 0 { received.min(sent) } else { received };
        if received < answered || sent < received {
            complaints.push(format!("statistics of ping that count at least the {answered} answers above them"));
            return None;
        }
        // Quantiles only where every answer is printed: not with -q, not where lines are left out.
        let whole = (answered == received).then_some(&rtts);
        let quantile = |part: usize| {
            let rtts = whole.filter(|rtts| !rtts.is_empty())?;
            rtts.get((rtts.len() * part / 100).min(rtts.len() - 1)).copied()
        };
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let printed = self.least_and_most.map(|(least, most)| (micros(least), micros(most)));
        let rtt = RttSummary {
            sent: PacketCount::new(sent),
            lost: PacketCount::new(sent - received),
            min_us: printed.map(|(least, _)| least).or_else(|| rtts.first().copied()),
            median_us: quantile(50),
            p95_us: quantile(95),
            p99_us: quantile(99),
            max_us: printed.map(|(_, most)| most).or_else(|| rtts.last().copied()),
        };
        let reported = self.probes.iter().filter(|probe| matches!(probe.fate, EchoFate::Reported(_))).count();
        self.probes.iter_mut().for_each(|probe| probe.sequence -= first);
        Some(EchoSeries {
            subject,
            spec: EchoSpec {
                count: u32::try_from(sent).unwrap_or(u32::MAX),
                interval: Duration::from_secs(1),
                payload_bytes,
                fragments,
                ..EchoSpec::default()
            },
            outcome: Outcome::Complete,
            access: None,
            summary: EchoSummary {
                rtt,
                duplicated: PacketCount::new(self.duplicated),
                reported: PacketCount::new(u64::try_from(reported).unwrap_or(u64::MAX)),
                ..EchoSummary::default()
            },
            probes: self.probes,
        })
    }
}

/// A dot for each echo of `ping -f` that was not answered.
fn is_flood(line: &str) -> bool {
    line.starts_with('.') && line.trim_end_matches("^C").bytes().all(|byte| matches!(byte, b'.' | b'E'))
}

/// The end of a line that a mail program broke: `5550ms`.
fn is_rest(line: &str) -> bool {
    line.strip_suffix("ms").is_some_and(|time| !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit()))
}

fn rtt_us(probe: &EchoProbe) -> Option<u64> {
    match &probe.fate {
        EchoFate::Answered(answer) => u64::try_from(answer.rtt.as_micros()).ok(),
        _ => None,
    }
}

/// `64 bytes from host (192.0.2.1): icmp_seq=1 ttl=64 time=0.045 ms`.
fn answer(line: &str) -> Option<EchoProbe> {
    // `ping -D` puts the time of day before it.
    let line = line.split_once("] ").filter(|(stamp, _)| stamp.starts_with('[')).map_or(line, |(_, rest)| rest);
    let (size, rest) = line.split_once(" bytes from ")?;
    size.parse::<u32>().ok()?;
    let rtt = milliseconds(value(rest, "time=").or_else(|| value(rest, "time<"))?)?;
    let answer = EchoAnswer {
        rtt,
        stamped_by: Stamp::Process,
        hop_limit: value(rest, "ttl=").and_then(|ttl| ttl.parse().ok()),
        other_address: None,
        reordered: false,
        duplicates: 0,
    };
    Some(probe(sequence(rest)?, EchoFate::Answered(answer)))
}

/// `From 10.0.0.1 icmp_seq=1 Frag needed and DF set (mtu = 1490)`, `… Destination Host Unreachable`.
fn report(line: &str) -> Option<EchoProbe> {
    let rest = line.strip_prefix("From ")?;
    let reporter = rest.split([' ', ':']).find_map(|word| word.trim_matches(['(', ')']).parse::<IpAddr>().ok());
    let mtu_bytes = rest
        .split_once("mtu")
        .and_then(|(_, mtu)| mtu.trim_start_matches([' ', '=']).trim_end_matches(')').parse::<u32>().ok());
    let kind = if rest.contains("Frag needed") || rest.contains("Packet too big") {
        ReportKind::TooBig { mtu_bytes }
    } else if rest.contains("Time to live exceeded") || rest.contains("Time exceeded") {
        ReportKind::TimeExceeded
    } else if rest.contains("Unreachable") || rest.contains("prohibited") {
        // The words differ from system to system: the host itself is meant most often.
        ReportKind::Unreachable { code: 1 }
    } else {
        return None;
    };
    Some(probe(sequence(rest)?, EchoFate::Reported(Report { kind, reporter })))
}

/// `ping: local error: message too long, mtu=1420`, of the sending host itself.
fn too_long(line: &str) -> Option<u32> {
    let (_, mtu) = line.split_once("message too long, mtu")?;
    mtu.trim_start_matches([':', '=', ' ']).trim().parse().ok()
}

fn probe(sequence: u32, fate: EchoFate) -> EchoProbe {
    EchoProbe { sequence, sent: Duration::from_secs(u64::from(sequence)), fate }
}

fn sequence(text: &str) -> Option<u32> {
    value(text, "icmp_seq=").or_else(|| value(text, "seq="))?.parse().ok()
}

/// What follows `key` up to the next blank.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_once(key)?.1.split([' ', '\t']).next()
}
