//! `owping`, `powstream` and `twping` of perfSONAR, and the results of pScheduler's latency tests: packets in one direction.
//!
//! The forms are those of `owamp/stats.c` of owamp 4 and 5 and of `latency/result-format` of pScheduler 4 and 5.

use std::time::Duration;

use model::measurement::RttSummary;
use model::probe::Subject;
use model::probe::echo::{EchoSeries, EchoSpec, EchoSummary};
use model::run::Outcome;
use units::{PacketCount, WallTime};

use super::host_fact::{HostFact, OneWayDelays, PacketsAsked};
use super::shown::{Found, OneWaySeries, Shown};
use crate::stamp;

/// Reads from `--- owping statistics from [host]:8991 to [host]:9229 ---` to what it says of reordering, `twping` too.
pub(crate) fn read(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let header = Header::of(lines.first()?)?;
    let mut block = Block::default();
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_LINES) {
        // With `-v` the header stands before the packets and again before their sums.
        let comes_again = block.counts.is_none() && Header::of(line).is_some_and(|again| again == header);
        if !comes_again && (block.ended || !block.line(line.trim())) {
            break;
        }
        used += 1;
    }
    let counts = block.counts?;
    if !counts.holds() {
        complaints.push(format!(
            "{} lost of {} packets sent, as the percentage beside them has it",
            counts.lost, counts.sent
        ));
        return None;
    }
    let command = command_of(before, header.tool);
    let asked = command.as_ref().and_then(|words| value(words, ["-c"])).and_then(|count| count.parse().ok());
    let padding = command.as_ref().and_then(|words| value(words, ["-s"])).and_then(|bytes| bytes.parse().ok());
    let mut shows = match header.tool {
        "twping" => vec![Shown::Echo(block.echoes(&header, counts))],
        tool => vec![Shown::OneWay(OneWaySeries {
            tool,
            from: header.from.to_owned(),
            to: header.to.to_owned(),
            sent: counts.sent,
            lost: counts.lost,
            duplicated: counts.duplicated,
            reordered: block.reordered(counts),
            elapsed: block.elapsed(),
            padding,
        })],
    };
    let ends = [header.from, header.to];
    let delays = block.delays.iter().map(|delay| delay.fact(if delay.is_back { [ends[1], ends[0]] } else { ends }));
    shows.extend(delays.map(|delays| Shown::Host(HostFact::OneWay(delays))));
    let is_short = |asked: &u64| counts.sent < *asked;
    shows.extend(asked.filter(is_short).map(|asked| {
        Shown::Host(HostFact::Asked(PacketsAsked {
            tool: header.tool,
            to: header.to.to_owned(),
            asked,
            sent: counts.sent,
        }))
    }));
    Some(Found { shows, lines: used })
}

/// Reads `Packet Statistics` and `Packets Sent ......... 600 packets` of `pscheduler task latency`, and the delays below.
pub(crate) fn latency(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    (lines.first()?.trim() == "Packet Statistics").then_some(())?;
    let own = lines.iter().take(MAX_LATENCY);
    let number = |name: &str| {
        let line = own.clone().find_map(|line| line.trim().strip_prefix(name))?;
        line.trim_start_matches([' ', '.']).split_whitespace().next()
    };
    let count = |name: &str| number(name).and_then(|count| count.parse::<u64>().ok());
    let (sent, lost) = (count("Packets Sent")?, count("Packets Lost")?);
    (lost <= sent).then_some(())?;
    let is_own = |line: &&&str| {
        let text = line.trim();
        text.is_empty()
            || text.starts_with("---")
            || LATENCY.iter().any(|start| text.starts_with(start))
            || text.ends_with(" packets")
    };
    let used = own.clone().take_while(is_own).count();
    let words = before.iter().rev().take(FAR).find_map(|line| {
        let (_, rest) = line.split_once("latency ").or_else(|| line.split_once("latencybg "))?;
        rest.contains('-').then(|| rest.split_whitespace().collect::<Vec<_>>())
    });
    let of = |names: [&str; 2]| words.as_ref().and_then(|words| value(words, names));
    let from = of(["-s", "--source"]).unwrap_or("this host").to_owned();
    let to = of(["-d", "--dest"]).unwrap_or("the other host").to_owned();
    let interval =
        of(["-i", "--packet-interval"]).and_then(|seconds| seconds.parse::<f64>().ok()).unwrap_or(USUAL_INTERVAL);
    let interval = Duration::try_from_secs_f64(interval).unwrap_or_default().min(Duration::from_secs(1));
    let micros = |name: &str| Delay::micros([number(name)?, "ms"]);
    let delays = micros("Delay Minimum").zip(micros("Delay Maximum")).map(|(least_us, most_us)| OneWayDelays {
        from: from.clone(),
        to: to.clone(),
        least_us,
        median_us: micros("Delay Median"),
        most_us,
        error_us: micros("Max Clock Error").and_then(|error| u64::try_from(error).ok()),
    });
    let series = OneWaySeries {
        tool: "pscheduler",
        from,
        to,
        sent,
        lost,
        duplicated: count("Packets Duplicated").unwrap_or(0),
        reordered: count("Packets Reordered").unwrap_or(0),
        elapsed: interval.saturating_mul(u32::try_from(sent).unwrap_or(u32::MAX)),
        padding: None,
    };
    let facts = delays.map(|delays| Shown::Host(HostFact::OneWay(delays)));
    Some(Found { shows: std::iter::once(Shown::OneWay(series)).chain(facts).collect(), lines: used })
}

/// What lines of a result of pScheduler begin with.
const LATENCY: [&str; 12] = [
    "Packet Statistics",
    "Packets ",
    "One-way Latency Statistics",
    "Delay ",
    "Max Clock Error",
    "Common Jitter",
    "P95 - P50",
    "P75 - P25",
    "Variance",
    "Std Deviation",
    "Histogram:",
    "TTL ",
];

/// A histogram has a line for each hundredth of a millisecond.
const MAX_LATENCY: usize = 20_000;
/// pScheduler's own, where a task says nothing: ten packets a second.
const USUAL_INTERVAL: f64 = 0.1;

/// Both directions of owping stand below one command.
const FAR: usize = 40;
/// A line for each packet.
const MAX_LINES: usize = 100_000;

/// Who sent to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Header<'a> {
    tool: &'static str,
    from: &'a str,
    to: &'a str,
}

impl<'a> Header<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let rest = line.trim().strip_prefix("--- ")?;
        let (tool, rest) = rest.split_once(" statistics from ")?;
        let tool = ["owping", "twping"].into_iter().find(|known| *known == tool)?;
        let (from, to) = rest.trim_end_matches(['-', ' ']).split_once(" to ")?;
        let host = |endpoint: &'a str| {
            let (host, _) = endpoint.strip_prefix('[')?.split_once(']')?;
            (!host.is_empty() && host.len() <= LONGEST_NAME).then_some(host)
        };
        let (from, to) = (host(from)?, host(to)?);
        // twping names who answered first, and then the host that it ran at (`do_stats`, owping/owping.c).
        Some(if tool == "twping" { Self { tool, from: to, to: from } } else { Self { tool, from, to } })
    }
}

const LONGEST_NAME: usize = 253;

/// `10000 sent, 2 lost (0.020%), 0 duplicates`.
#[derive(Debug, Clone, Copy)]
struct Counts {
    sent: u64,
    lost: u64,
    duplicated: u64,
    percent: f64,
}

impl Counts {
    fn of(line: &str) -> Option<Self> {
        let (sent, rest) = line.split_once(" sent, ")?;
        let (lost, rest) = rest.split_once(" lost (")?;
        let (percent, rest) = rest.split_once("%), ")?;
        let duplicated = rest.split(", ").map(|part| part.split(' ').next()?.parse::<u64>().ok());
        Some(Self {
            sent: sent.parse().ok()?,
            lost: lost.parse().ok()?,
            duplicated: duplicated.sum::<Option<u64>>()?,
            percent: percent.replace(',', ".").parse().ok()?,
        })
    }

    /// The percentage has three decimals.
    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
    fn holds(&self) -> bool {
        let share = if self.sent == 0 { 0.0 } else { self.lost as f64 / self.sent as f64 };
        self.lost <= self.sent && (share * 100.0 - self.percent).abs() <= 0.001
    }
}

/// `one-way delay min/median/max = 5.48/5.6/6.75 ms, (err=0.277 ms)`, `… (unsync)`.
#[derive(Debug, Clone, Copy)]
struct Delay {
    /// Of twping: from the host that it sent to.
    is_back: bool,
    least_us: i64,
    median_us: Option<i64>,
    most_us: i64,
    error_us: Option<u64>,
}

impl Delay {
    fn of(line: &str) -> Option<Self> {
        let (title, rest) = line.split_once(" min/median/max = ")?;
        let (times, rest) = rest.split_once(' ')?;
        let (unit, rest) = rest.split_once([',', ' '])?;
        let [least, median, most] = <[&str; 3]>::try_from(times.split('/').collect::<Vec<_>>()).ok()?;
        let error = rest.split_once("(err=").and_then(|(_, error)| error.trim_end_matches(')').split_once(' '));
        Some(Self {
            is_back: title == "reflect time",
            least_us: Self::micros([least, unit])?,
            median_us: Self::micros([median, unit]),
            most_us: Self::micros([most, unit])?,
            error_us: error.and_then(|(error, unit)| u64::try_from(Self::micros([error, unit])?).ok()),
        })
    }

    /// Delays are negative where clocks are further apart than the path is long.
    fn micros([number, unit]: [&str; 2]) -> Option<i64> {
        let step = match unit {
            "s" => 1e6,
            "ms" => 1e3,
            "us" => 1.0,
            "ns" => 1e-3,
            _ => return None,
        };
        let micros = number.replace(',', ".").parse::<f64>().ok()? * step;
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        (micros.abs() < 1e12).then_some(micros.round() as i64)
    }

    fn fact(&self, [from, to]: [&str; 2]) -> OneWayDelays {
        OneWayDelays {
            from: from.to_owned(),
            to: to.to_owned(),
            least_us: self.least_us,
            median_us: self.median_us,
            most_us: self.most_us,
            error_us: self.error_us,
        }
    }
}

/// What the lines below a header have said so far.
#[derive(Debug, Default)]
struct Block {
    counts: Option<Counts>,
    /// Of twping, RTTs.
    round_trip: Option<Delay>,
    delays: Vec<Delay>,
    /// Hundredths of packets that came after one that was sent later.
    overtaken_percent: f64,
    first: Option<WallTime>,
    last: Option<WallTime>,
    ended: bool,
}

impl Block {
    /// Whether the line belongs to the block.
    fn line(&mut self, line: &str) -> bool {
        if let Some(counts) = Counts::of(line) {
            self.counts = Some(counts);
            return true;
        }
        if let Some(time) = line.strip_prefix("first:").or_else(|| line.strip_prefix("last:")) {
            let place = if line.starts_with('f') { &mut self.first } else { &mut self.last };
            *place = instant(time.trim());
            return true;
        }
        if line.contains(" min/median/max = ") {
            // `nan` where nothing arrived.
            match Delay::of(line) {
                Some(delay) if line.starts_with("round-trip time") => self.round_trip = Some(delay),
                Some(delay) if self.delays.len() < 2 => self.delays.push(delay),
                _ => {}
            }
            return true;
        }
        if let Some((order, share)) = line.split_once("-reordering = ") {
            if order == "1" {
                self.overtaken_percent = share.trim_end_matches('%').replace(',', ".").parse().unwrap_or(0.0);
            }
            return true;
        }
        self.ended =
            line.starts_with("no ") && line.ends_with("reordering") || line.ends_with("-reordering not handled");
        self.ended
            || OTHERS.iter().any(|start| line.starts_with(start))
            || line.ends_with("(P95-P50)")
            || is_percentile(line)
            || (line.is_empty() && self.counts.is_none())
    }

    fn elapsed(&self) -> Duration {
        let nanos = self.first.zip(self.last).map(|(first, last)| last.unix_nanos().saturating_sub(first.unix_nanos()));
        nanos.map(Duration::from_nanos).unwrap_or_default()
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a part of a count"
    )]
    fn reordered(&self, counts: Counts) -> u64 {
        let received = counts.sent.saturating_sub(counts.lost).saturating_add(counts.duplicated);
        (self.overtaken_percent.clamp(0.0, 100.0) / 100.0 * received as f64).round() as u64
    }

    /// What twping sent comes back, so that a loss may be in either direction.
    fn echoes(&self, header: &Header<'_>, counts: Counts) -> EchoSeries {
        let micros = |of: fn(&Delay) -> Option<i64>| u64::try_from(of(self.round_trip.as_ref()?)?).ok();
        let rtt = RttSummary {
            sent: PacketCount::new(counts.sent),
            lost: PacketCount::new(counts.lost),
            min_us: micros(|delay| Some(delay.least_us)),
            median_us: micros(|delay| delay.median_us),
            max_us: micros(|delay| Some(delay.most_us)),
            ..RttSummary::default()
        };
        let subject = Subject {
            target: header.to.to_owned(),
            address: header.to.parse().ok(),
            started: WallTime::from_unix_nanos(0),
        };
        EchoSeries {
            subject,
            spec: EchoSpec {
                count: u32::try_from(counts.sent).unwrap_or(u32::MAX),
                payload_bytes: TEST_PACKET,
                ..EchoSpec::default()
            },
            outcome: Outcome::Complete,
            access: None,
            summary: EchoSummary { rtt, duplicated: PacketCount::new(counts.duplicated), ..EchoSummary::default() },
            probes: Vec::new(),
        }
    }
}

/// Bytes of a test packet in open mode without padding (RFC 4656 section 4.1.2, RFC 5357 section 4.1.2).
pub(crate) const TEST_PACKET: u16 = 14;

/// Lines that say nothing of what is kept.
const OTHERS: [&str; 9] = [
    "SID:",
    "seq_no=",
    "reflector processing time",
    "Percentiles:",
    "hops ",
    "send hops",
    "reflect hops",
    "TTL not reported",
    "send TTL",
];

/// `95.0: 5.8 ms`.
fn is_percentile(line: &str) -> bool {
    let Some((part, time)) = line.split_once(": ") else { return false };
    part.parse::<f64>().is_ok() && time.split(' ').count() == 2
}

/// `2018-10-12T16:00:04.610`.
fn instant(text: &str) -> Option<WallTime> {
    let (seconds, millis) = text.split_once('.')?;
    let whole = stamp::calendar(&seconds.replace('T', " "))?;
    let nanos = millis.parse::<u64>().ok().filter(|millis| *millis <= 1_000)?.checked_mul(1_000_000)?;
    Some(WallTime::from_unix_nanos(whole.unix_nanos().checked_add(nanos)?))
}

/// The options of the nearest command above that runs a tool, `powstream` also.
fn command_of<'a>(before: &[&'a str], tool: &str) -> Option<Vec<&'a str>> {
    before.iter().rev().take(FAR).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| word.rsplit('/').next() == Some(tool))?;
        // Prose says what owping does as well.
        words[at + 1..].iter().any(|word| word.starts_with('-')).then(|| words[at + 1..].to_vec())
    })
}

fn value<'a, const N: usize>(words: &[&'a str], names: [&str; N]) -> Option<&'a str> {
    let at = words.iter().position(|word| names.contains(word))?;
    words.get(at + 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(reader: super::super::Reader, before: &str, text: &str) -> Vec<Shown> {
        let lines: Vec<&str> = text.lines().collect();
        reader(&lines, &[before], &mut Vec::new()).map(|found| found.shows).unwrap_or_default()
    }

    #[test]
    fn one_direction_of_owping_has_counts_and_delays() {
        let text = "--- owping statistics from [lat1.example.org]:8831 to [lat2.example.org]:9011 ---\nSID:\t0a\n\
                    first:\t2024-03-01T10:00:00.500\nlast:\t2024-03-01T10:01:00.500\n600 sent, 3 lost (0.500%), 1 duplicates\n\
                    one-way delay min/median/max = -0.21/1.2e+01/13.5 ms, (err=0.4 ms)\none-way jitter = 0.1 ms (P95-P50)\n\
                    Percentiles:\n\t95.0: 12.2 ms\nhops takes 2 values; min hops = 7, max hops = 8\n\
                    1-reordering = 0.167224%\nno 2-reordering\n\nprose";
        let found = shown(read, "$ owping -c 600 lat2", text);
        let [Shown::OneWay(series), Shown::Host(HostFact::OneWay(delays))] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((series.from.as_str(), series.to.as_str()), ("lat1.example.org", "lat2.example.org"));
        assert_eq!((series.sent, series.lost, series.duplicated, series.reordered), (600, 3, 1, 1));
        assert_eq!(series.elapsed, Duration::from_secs(60));
        assert_eq!((delays.least_us, delays.median_us, delays.most_us), (-210, Some(12_000), 13_500));
        assert_eq!(delays.error_us, Some(400));
        let wrong = text.replace("(0.500%)", "(5.000%)");
        assert_eq!(shown(read, "", &wrong), [], "the percentage is another");
        let none = text.replace("-0.21/1.2e+01/13.5 ms, (err=0.4 ms)", "nan/nan/nan ms, (unsync)");
        assert!(matches!(shown(read, "", &none).as_slice(), [Shown::OneWay(_)]));
    }

    #[test]
    fn twping_has_round_trips_and_both_directions() {
        let text = "--- twping statistics from [192.0.2.2]:8831 to [192.0.2.1]:9011 ---\nSID:\t0a\n\
                    40 sent, 0 lost (0.000%), 0 send duplicates, 0 reflect duplicates\n\
                    round-trip time min/median/max = 8.1/8.2/9 ms, (unsync)\nsend time min/median/max = 3/3.1/4 ms, (unsync)\n\
                    reflect time min/median/max = 5.1/5.2/6 ms, (unsync)\nreflector processing time min/max = 0.001/0.1 ms\n";
        let found = shown(read, "$ twping -c 50 192.0.2.2", text);
        let [Shown::Echo(echoes), Shown::Host(HostFact::OneWay(there)), Shown::Host(HostFact::OneWay(back)), asked] =
            found.as_slice()
        else {
            panic!("{found:?}")
        };
        assert_eq!((echoes.summary.rtt.min_us, echoes.summary.rtt.median_us), (Some(8_100), Some(8_200)));
        assert_eq!((there.from.as_str(), there.least_us, there.error_us), ("192.0.2.1", 3_000, None));
        assert_eq!((back.from.as_str(), back.least_us), ("192.0.2.2", 5_100));
        let Shown::Host(HostFact::Asked(asked)) = asked else { panic!("{asked:?}") };
        assert_eq!((asked.asked, asked.sent), (50, 40));
    }

    #[test]
    fn a_latency_test_of_pscheduler_is_one_direction() {
        let text = "Packet Statistics\n-----------------\nPackets Sent ......... 300 packets\nPackets Received ..... 291 packets\n\
                    Packets Lost ......... 9 packets\nPackets Duplicated ... 0 packets\nPackets Reordered .... 2 packets\n\n\
                    One-way Latency Statistics\n--------------------------\nDelay Median ......... 2.60 ms\nDelay Minimum ........ 2.51 ms\n\
                    Delay Maximum ........ 8.21 ms\nMax Clock Error ...... 0.27 ms\nHistogram:\n    2.51 ms: 4 packets\n\n\
                    TTL Statistics\n--------------\nTTL Mode ............. 252.00 \n    252: 600 packets\nprose\n";
        let found = shown(latency, "pscheduler task latency -s lat1 --dest lat2 -i 0.2", text);
        let [Shown::OneWay(series), Shown::Host(HostFact::OneWay(delays))] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((series.from.as_str(), series.to.as_str(), series.sent, series.lost), ("lat1", "lat2", 300, 9));
        assert_eq!((series.elapsed, series.reordered), (Duration::from_secs(60), 2));
        assert_eq!((delays.least_us, delays.error_us), (2_510, Some(270)));
    }
}
