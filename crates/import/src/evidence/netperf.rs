//! `netperf`: streams of TCP and UDP, by their title and the numbers below their headings.

use std::time::Duration;

use model::measurement::Heading;
use model::spec::Protocol;
use units::{ByteCount, DataRate};

use super::shown::{Found, Shown, command_near};
use super::summed::SummedTest;
use crate::quantity::{decimal, seconds};

/// Reads from `MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.7 () port 0 AF_INET` to the last line of
/// numbers.
pub(crate) fn read(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let title = lines.first()?.trim();
    let (kind, rest) = title.strip_prefix("MIGRATED ").unwrap_or(title).split_once(" TEST from ")?;
    let (protocol, heading) = match kind {
        "TCP STREAM" | "TCP SENDFILE" => (Protocol::Tcp, Heading::Outbound),
        "TCP MAERTS" => (Protocol::Tcp, Heading::Inbound),
        "UDP STREAM" => (Protocol::Udp, Heading::Outbound),
        _ => return None,
    };
    let target = rest.split_once(" to ")?.1.split([' ', '(']).next().filter(|host| !host.is_empty())?;
    let own = &lines[..lines.len().min(MAX_LINES)];
    let unit = own.iter().find_map(|line| Unit::of(line)).unwrap_or(Unit::MEGABITS);
    let first = own.iter().skip(1).position(|line| numbers(line).is_some()).map(|at| at + 1)?;
    let row = numbers(own.get(first)?)?;
    let is_datagrams = protocol == Protocol::Udp;
    let second = if is_datagrams { own.get(first + 1).and_then(|line| numbers(line)) } else { None };
    let found = if is_datagrams { datagrams([&row, second.as_deref()?], unit) } else { stream(&row, unit) };
    let Some(sums) = found else {
        complaints.push("numbers of netperf that stand below all of its headings".to_owned());
        return None;
    };
    let window = command_near(before, "netperf").and_then(|words| asked(&words));
    let Sums { rate, elapsed, datagrams } = sums;
    let target = target.to_owned();
    let test = SummedTest { tool: "netperf", target, protocol, window, heading, rate, elapsed, datagrams };
    Some(Found { shows: vec![Shown::Summed(test)], lines: first + 1 + usize::from(second.is_some()) })
}

/// A title, headings, and the lines of `-D`, one a second for an hour.
const MAX_LINES: usize = 3_700;

/// The words of a line of numbers; `None` for any other line.
fn numbers(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    (words.len() >= FEWEST && words.iter().all(|word| decimal(word).is_some())).then_some(words)
}

/// What the receiver of datagrams has: buffer, time, count, rate.
const FEWEST: usize = 4;

/// `131072  16384  16384    30.03      92.41`, with the use of CPUs behind where it was asked for.
fn stream(row: &[&str], unit: Unit) -> Option<Sums> {
    let [_, _, _, elapsed, rate, ..] = *row else { return None };
    direction([elapsed, rate], unit)
}

/// `212992    1472   10.00      811532      0     955.66` of the sender, and `212992           10.00      702110            826.80` of the
/// receiver.
fn datagrams(rows: [&[&str]; 2], unit: Unit) -> Option<Sums> {
    let [[_, _, _, sent, _, _, ..], [_, elapsed, received, rate, ..]] = rows else { return None };
    let (sent, received): (u64, u64) = (sent.parse().ok()?, received.parse().ok()?);
    let datagrams = (sent >= received && sent > 0).then_some([sent, received])?;
    Some(Sums { datagrams: Some(datagrams), ..direction([elapsed, rate], unit)? })
}

/// Both numbers have two digits behind the point, unless their line was cut.
fn direction([elapsed, rate]: [&str; 2], unit: Unit) -> Option<Sums> {
    let whole = [elapsed, rate].iter().all(|number| decimal(number).is_some_and(|number| number.fraction.len() == 2));
    let elapsed = seconds(elapsed).filter(|elapsed| whole && *elapsed > Duration::ZERO)?;
    Some(Sums { rate: unit.rate(rate)?, elapsed, datagrams: None })
}

/// What the lines of numbers say.
struct Sums {
    rate: DataRate,
    elapsed: Duration,
    datagrams: Option<[u64; 2]>,
}

/// What rates are printed in: `-f` of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    bits: u64,
}

impl Unit {
    const MEGABITS: Self = Self { bits: 1_000_000 };

    /// The last of the headings.
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let units = [
            ("10^3bits/sec", 1_000),
            ("10^6bits/sec", 1_000_000),
            ("10^9bits/sec", 1_000_000_000),
            ("KBytes/sec", 8 << 10),
            ("KBytes  /sec", 8 << 10),
            ("MBytes/sec", 8 << 20),
            ("MBytes  /sec", 8 << 20),
            ("GBytes/sec", 8 << 30),
            ("GBytes  /sec", 8 << 30),
        ];
        let is_headings = line.trim_start().starts_with("bytes");
        units.into_iter().find(|(unit, _)| is_headings && line.contains(unit)).map(|(_, bits)| Self { bits })
    }

    fn rate(self, number: &str) -> Option<DataRate> {
        decimal(number)?.times(self.bits).map(DataRate::from_bps).filter(|rate| !rate.is_zero())
    }
}

/// The smaller buffer that the options of the test ask for: `-- -s 64K -S 65536`.
fn asked(words: &[&str]) -> Option<ByteCount> {
    let at = words.iter().position(|word| *word == "--")?;
    let own = &words[at + 1..];
    let of = |name: &str| {
        let at = own.iter().position(|word| *word == name)?;
        size(own.get(at + 1)?.split(',').next()?)
    };
    [of("-s"), of("-S")].into_iter().flatten().min()
}

/// `65536`, `64K` of 1024 bytes, `64k` of 1000 (`convert`, src/netsh.c).
fn size(text: &str) -> Option<ByteCount> {
    let steps = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('k', 1_000), ('m', 1_000_000), ('g', 1_000_000_000)];
    let step = steps.into_iter().find(|(letter, _)| text.ends_with(*letter));
    let (number, step) = step.map_or((text, 1), |(letter, step)| (text.trim_end_matches(letter), step));
    decimal(number)?.times(step).filter(|bytes| *bytes > 0).map(ByteCount::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(before: &str, text: &str) -> Option<SummedTest> {
        let lines: Vec<&str> = text.lines().collect();
        match read(&lines, &[before], &mut Vec::new())?.shows.as_slice() {
            [Shown::Summed(test)] => Some(test.clone()),
            other => panic!("{other:?}"),
        }
    }

    const TCP: &str = "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to dtn2.example.org () port 0 AF_INET : demo\n\
                       Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\nbytes  bytes   \
                       bytes    secs.    10^6bits/sec\n\n131072  16384  16384    30.03      92.41\n";

    #[test]
    fn a_stream_has_its_rate_and_the_buffer_that_was_asked_for() {
        let found = test("$ netperf -H dtn2.example.org -l 30 -- -s 1M -S 64K", TCP).expect("a test");
        assert_eq!((found.target.as_str(), found.window.map(ByteCount::get)), ("dtn2.example.org", Some(65_536)));
        assert_eq!((found.rate.bps(), found.elapsed.as_millis()), (92_410_000, 30_030));
        assert_eq!(test("", &TCP.replace("92.41", "92.")), None, "a number that was cut is none");
        assert_eq!(test("", &TCP.replace("      92.41", "")), None);
        let gigabits = test("", &TCP.replace("10^6", "10^9")).expect("a test");
        assert_eq!(gigabits.rate.bps(), 92_410_000_000);
    }

    #[test]
    fn datagrams_are_those_of_both_ends() {
        let text = "MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.7 () port 0 AF_INET\nSocket  Message  \
                    Elapsed      Messages                \nSize    Size     Time         Okay Errors   Throughput\nbytes   bytes    secs   \
                    \x20        #      #   10^6bits/sec\n\n212992    1472   10.00      811532      0     955.66\n212992           10.00      \
                    702110            826.80\nprose";
        let found = test("", text).expect("a test");
        assert_eq!((found.protocol, found.datagrams), (Protocol::Udp, Some([811_532, 702_110])));
        assert_eq!(found.rate.bps(), 826_800_000, "what arrived");
    }
}
