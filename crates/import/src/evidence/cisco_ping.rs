//! `ping` of Cisco's IOS: a letter for each echo, and their sum.

use std::net::IpAddr;
use std::time::Duration;

use model::measurement::RttSummary;
use model::probe::echo::{EchoSeries, EchoSpec, EchoSummary, Fragments};
use model::probe::path_mtu::{MtuLimit, PathMtu, PathMtuSpec};
use model::probe::{Subject, path_mtu::TriedSize};
use model::run::Outcome;
use units::{Mtu, PacketCount, WallTime};

use super::prompt::router_of_prompt;
use super::shown::{Found, Shown};
use crate::quantity::milliseconds;

/// Reads from `Sending 10, 1500-byte ICMP Echos to 192.0.2.1, timeout is 2 seconds:`, or the command above it, to `Success rate is
/// 100 percent (10/10), …`.
pub(crate) fn read(lines: &[&str], _: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let titles = lines.iter().take(2).take_while(|line| is_title(line)).count();
    let asked = Asked::parse(lines.get(titles)?.trim())?;
    let asks_whole = lines[..titles].iter().any(|line| line.contains(" df-bit"));
    let mut fragments = if asks_whole { Fragments::Forbidden } else { Fragments::Allowed };
    let mut letters = String::new();
    for (at, line) in lines.iter().enumerate().skip(titles + 1).take(MAX_LINES) {
        let text = line.trim();
        if text.starts_with("Packet sent with the DF bit set") {
            fragments = Fragments::Forbidden;
        } else if let Some(sum) = Sum::parse(text) {
            let counted = u64::try_from(letters.len()).ok()?;
            if sum.answered > sum.sent || (counted > 0 && !sum.is_of(&letters)) {
                complaints.push(format!("a success rate of the {counted} letters above it"));
                return None;
            }
            return Some(Found { shows: asked.shows(&letters, &sum, fragments), lines: at + 1 });
        } else if !text.is_empty() && text.bytes().all(|byte| b"!.UMQC?&".contains(&byte)) {
            letters.push_str(text);
        } else if !text.starts_with("Packet sent with") && !text.starts_with("Sweep ") && !text.is_empty() {
            return None;
        }
    }
    None
}

/// 70 letters stand in a line; a day of echoes.
const MAX_LINES: usize = 20_000;

/// `R1#ping 192.0.2.1 size 1500 df-bit`, `Type escape sequence to abort.`
fn is_title(line: &str) -> bool {
    line.trim().starts_with("Type escape sequence to abort")
        || (line.contains("ping ") && router_of_prompt(line).is_some())
}

/// What was asked for.
struct Asked {
    target: String,
    /// Bytes of the whole IP packet: the least and the most.
    least: u16,
    most: u16,
}

impl Asked {
    fn parse(line: &str) -> Option<Self> {
        let (count, rest) = line.strip_prefix("Sending ")?.split_once(", ")?;
        count.parse::<u32>().ok()?;
        let (size, rest) = rest.split_once("-byte ICMP Echos to ")?;
        let target = rest.split(',').next()?.trim().to_owned();
        let (least, most) = match size.strip_prefix('[').and_then(|sizes| sizes.strip_suffix(']')) {
            Some(sizes) => sizes.split_once("..")?,
            None => (size, size),
        };
        let (least, most) = (least.parse().ok()?, most.parse().ok()?);
        (least >= HEADERS && least <= most && !target.is_empty()).then_some(Self { target, least, most })
    }

    fn subject(&self) -> Subject {
        let address: Option<IpAddr> = self.target.parse().ok();
        Subject { target: self.target.clone(), address, started: WallTime::from_unix_nanos(0) }
    }

    fn shows(&self, letters: &str, sum: &Sum, fragments: Fragments) -> Vec<Shown> {
        if self.least < self.most {
            return self.sweep(letters, fragments).map(Shown::PathMtu).into_iter().collect();
        }
        let micros = |time: Duration| u64::try_from(time.as_micros()).ok();
        let rtt = RttSummary {
            sent: PacketCount::new(sum.sent),
            lost: PacketCount::new(sum.sent - sum.answered),
            min_us: sum.times.and_then(|(least, _)| micros(least)),
            max_us: sum.times.and_then(|(_, most)| micros(most)),
            ..RttSummary::default()
        };
        let reported = letters.bytes().filter(|letter| *letter == b'M').count();
        let summary = EchoSummary {
            rtt,
            reported: PacketCount::new(u64::try_from(reported).unwrap_or(u64::MAX)),
            ..EchoSummary::default()
        };
        let spec = EchoSpec {
            count: u32::try_from(sum.sent).unwrap_or(u32::MAX),
            interval: Duration::from_secs(1),
            payload_bytes: self.least - HEADERS,
            fragments,
            ..EchoSpec::default()
        };
        let (subject, outcome) = (self.subject(), Outcome::Complete);
        vec![Shown::Echo(EchoSeries { subject, spec, outcome, access: None, summary, probes: Vec::new() })]
    }

    /// One echo of each size: what was answered up to a size, and nothing beyond it.
    fn sweep(&self, letters: &str, fragments: Fragments) -> Option<PathMtu> {
        let sizes = usize::from(self.most - self.least) + 1;
        let passed = letters.bytes().take_while(|letter| *letter == b'!').count();
        let beyond = &letters[passed..];
        let is_edge = passed > 0 && !beyond.is_empty() && !beyond.contains('!');
        (letters.len() == sizes && is_edge && fragments == Fragments::Forbidden).then_some(())?;
        let path = u32::from(self.least) + u32::try_from(passed).ok()? - 1;
        let is_reported = beyond.contains('M');
        let limit = if is_reported { MtuLimit::Told { reporter: None, told: None } } else { MtuLimit::Silent };
        Some(search(self.subject(), path, limit, Vec::new()))
    }
}

/// A search for the path MTU that ended at `path`.
pub(crate) fn search(subject: Subject, path: u32, limit: MtuLimit, sizes: Vec<TriedSize>) -> PathMtu {
    PathMtu {
        subject,
        spec: PathMtuSpec::default(),
        outcome: Outcome::Complete,
        access: None,
        interface_mtu: None,
        path_mtu: Mtu::new(path).ok(),
        limit: Some(limit),
        sizes,
    }
}

/// IPv4 and ICMP, which the size of IOS counts.
const HEADERS: u16 = 28;

/// `Success rate is 100 percent (10/10), round-trip min/avg/max = 11/12/14 ms`.
struct Sum {
    answered: u64,
    sent: u64,
    times: Option<(Duration, Duration)>,
}

impl Sum {
    fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("Success rate is ")?;
        let (counts, rest) = rest.split_once('(')?.1.split_once(')')?;
        let (answered, sent) = counts.split_once('/')?;
        let times = rest.split_once(" = ").and_then(|(_, times)| {
            let times: Vec<Duration> = times.trim().strip_suffix(" ms")?.split('/').map_while(milliseconds).collect();
            let [least, _, most] = *times.as_slice() else { return None };
            Some((least, most))
        });
        Some(Self { answered: answered.parse().ok()?, sent: sent.parse().ok().filter(|sent| *sent > 0)?, times })
    }

    /// Whether the letters are those of the sum.
    fn is_of(&self, letters: &str) -> bool {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        count(letters.len()) == self.sent && count(letters.matches('!').count()) == self.answered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<Shown> {
        let lines: Vec<&str> = text.lines().collect();
        read(&lines, &[], &mut Vec::new())?.shows.pop()
    }

    #[test]
    fn a_sweep_has_an_edge_only_where_each_size_has_its_letter() {
        let sweep = "Sending 6, [1450..1455]-byte ICMP Echos to 192.0.2.1, timeout is 2 seconds:\nPacket sent with the DF bit set\n";
        let Some(Shown::PathMtu(found)) = shown(&format!("{sweep}!!!MMM\nSuccess rate is 50 percent (3/6)\n")) else {
            panic!("no search")
        };
        assert_eq!(found.path_mtu.map(Mtu::get), Some(1452));
        assert_eq!(found.limit, Some(MtuLimit::Told { reporter: None, told: None }));
        assert!(shown(&format!("{sweep}!!.!..\nSuccess rate is 50 percent (3/6)\n")).is_none());
    }

    #[test]
    fn a_sum_that_is_not_that_of_the_letters_is_none() {
        let text = "Sending 5, 100-byte ICMP Echos to 192.0.2.1, timeout is 2 seconds:\n";
        assert!(shown(&format!("{text}!!!!!\nSuccess rate is 80 percent (4/5)\n")).is_none());
        assert!(shown(&format!("{text}!!!!!\n")).is_none());
        let Some(Shown::Echo(found)) =
            shown(&format!("{text}!!.!!\nSuccess rate is 80 percent (4/5), round-trip min/avg/max = 1/2/4 ms\n"))
        else {
            panic!("no echoes")
        };
        let rtt = found.summary.rtt;
        assert_eq!((rtt.sent.get(), rtt.lost.get(), rtt.min_us, rtt.max_us), (5, 1, Some(1000), Some(4000)));
        assert_eq!(found.spec.payload_bytes, 72);
    }
}
