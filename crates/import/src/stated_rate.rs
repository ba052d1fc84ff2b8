//! Rates that the text around a log states: what a link carries (`a 1 Gbit/s circuit`, `Internet: 200/20 Mbit/s`), or what is expected of
//! a transfer (`it should do about 110 MB/s`).
//!
//! What people say that they measured (`we only get 40 Mbit/s`) is kept apart: no flow is held against it. A rate whose unit is not certain
//! (`mb/s`) is none.

use model::measurement::Heading;
use units::DataRate;

use super::quantity::decimal;

/// A rate that a line of prose states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedRate {
    /// The line, from 1.
    pub line: usize,
    /// What the rate is of.
    pub kind: StatedKind,
    /// Towards the host that wrote it, or in both directions.
    pub down: DataRate,
    /// From that host.
    pub up: DataRate,
}

/// What a stated rate is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatedKind {
    /// A transfer should reach it.
    Expected,
    /// A link, a line or a NIC carries it.
    Link,
    /// Somebody says that a transfer has it, whose output is not printed.
    Measured,
}

/// What the text of a file states that its transfers should reach, where it does not contradict itself or them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StatedTargets {
    /// The only rate that is expected.
    pub(crate) expected: Option<StatedRate>,
    /// The slowest link of those that are named.
    pub(crate) link: Option<StatedRate>,
    /// The slowest rate that somebody has measured, where no transfer is printed.
    pub(crate) measured: Option<StatedRate>,
}

impl StatedTargets {
    /// Those of a file whose fastest transfer had a rate: what is faster than a link did not pass it, and which of several expected rates
    /// is meant cannot be known.
    pub(crate) fn of(stated: &[StatedRate], fastest: Option<DataRate>) -> Self {
        let of = |kind: StatedKind| stated.iter().filter(move |rate| rate.kind == kind).copied();
        let expected = of(StatedKind::Expected).next();
        let is_only = |first: &StatedRate| of(StatedKind::Expected).all(|other| other.rates() == first.rates());
        let slowest = of(StatedKind::Link).min_by_key(|rate| rate.down.min(rate.up));
        let carries = |link: &StatedRate| {
            fastest.is_none_or(|fastest| {
                fastest.bps().saturating_mul(10) <= link.down.max(link.up).bps().saturating_mul(11)
            })
        };
        let measured = of(StatedKind::Measured).min_by_key(|rate| rate.down).filter(|_| fastest.is_none());
        Self { expected: expected.filter(is_only), link: slowest.filter(carries), measured }
    }

    /// All of them.
    pub(crate) fn all(self) -> impl Iterator<Item = StatedRate> {
        self.expected.into_iter().chain(self.link).chain(self.measured)
    }
}

impl StatedRate {
    fn rates(&self) -> [DataRate; 2] {
        [self.down, self.up]
    }

    /// That of one direction, seen from the host that wrote it.
    #[must_use]
    pub fn towards(&self, heading: Heading) -> DataRate {
        if heading == Heading::Inbound { self.down } else { self.up }
    }
}

/// The rates that a line of prose states.
pub(crate) fn stated(line: usize, text: &str) -> Vec<StatedRate> {
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) && !text.contains("igabit") {
        return Vec::new();
    }
    clauses(text).flat_map(|clause| of_clause(line, clause)).take(MOST).collect()
}

/// Parts of a line that say one thing each: what is said before `but` is not said of what stands behind it.
pub(crate) fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let ends = [". ", "; ", "? ", "! ", " but ", ", but", " while ", " whereas ", ", and ", " however"];
    let mut parts = vec![text];
    for end in ends {
        parts = parts.into_iter().flat_map(|part| part.split(end)).collect();
    }
    parts.into_iter()
}

/// A rate at its place among the words.
struct Found {
    /// Of its first word and behind its last.
    words: std::ops::Range<usize>,
    rates: [DataRate; 2],
}

fn of_clause(line: usize, clause: &str) -> Vec<StatedRate> {
    let words: Vec<&str> = clause.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match rates_at(&words[at..]).or_else(|| pair_at(&words, at)) {
            Some((rates, used)) => {
                found.push(Found { words: at..at + used, rates });
                at += used;
            }
            None => at += 1,
        }
    }
    // What is said before one rate is not said of the next.
    let mut begins = 0;
    let of = |one: &Found| {
        let kind = kind(&lower[begins..], &(one.words.start - begins..one.words.end - begins));
        begins = one.words.end;
        let [down, up] = one.rates;
        Some(StatedRate { line, kind: kind?, down, up })
    };
    found.iter().filter_map(of).collect()
}

/// What the words around a rate say that it is.
pub(crate) fn kind(words: &[String], rate: &std::ops::Range<usize>) -> Option<StatedKind> {
    let before = &words[rate.start.saturating_sub(WORDS_BEFORE)..rate.start];
    let behind = &words[rate.end..words.len().min(rate.end + WORDS_BEHIND)];
    let has = |words: &[String], known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let near = &before[before.len().saturating_sub(WORDS_NEAR)..];
    // `30 MB/s instead of 110 MB/s`: the first was measured.
    let is_instead = has(behind, &["instead"]);
    let expects = before.iter().rposition(|word| EXPECTED.contains(&word.as_str()));
    let measures = before.iter().rposition(|word| MEASURED.contains(&word.as_str()));
    if measures > expects && !has(near, &LIMITS) {
        return Some(StatedKind::Measured);
    }
    // A limit that is to be kept, or what somebody wishes or did before, is nothing that the path carries now.
    if has(before, &NEGATIONS) || has(near, &LIMITS) {
        return None;
    }
    if expects > measures && !is_instead {
        return Some(StatedKind::Expected);
    }
    if has(behind, &["expected"])
        || behind.first().is_some_and(|word| word == "as") && has(behind, &["ordered", "promised"])
    {
        return Some(StatedKind::Expected);
    }
    // `(100 down / 100 up)`: only lines are named so.
    if rate.len() >= 4 {
        return Some(StatedKind::Link);
    }
    // What somebody says of the link of his own server is no rate of the path to it: `their words: 10G uplink`.
    if has(before, &["their", "theirs"]) {
        return None;
    }
    let is_of_link = behind
        .iter()
        .map(String::as_str)
        .take_while(|word| !MEASURED.contains(word) && !PREPOSITIONS.contains(word))
        .any(|word| LINKS.contains(&word));
    if is_of_link && !is_measured(near) {
        return Some(StatedKind::Link);
    }
    // `the circuit is 1G`, `Internet: 200/20 Mbit/s`, `uplink of 10 Gbit/s`.
    let joined = before.iter().rev().take_while(|word| JOINING.contains(&word.as_str())).count();
    let noun = before.len().checked_sub(joined + 1).map(|at| before[at].as_str());
    (noun.is_some_and(|noun| LINKS.contains(&noun)) && !is_measured(before)).then_some(StatedKind::Link)
}

fn is_measured(words: &[String]) -> bool {
    words.iter().any(|word| MEASURED.contains(&word.as_str()))
}

/// `1G`, `10 Gbit/s`, `200/20 Mbit/s`, `gigabit`, at the first word.
pub(crate) fn rates_at(words: &[&str]) -> Option<([DataRate; 2], usize)> {
    let first = *words.first()?;
    if matches!(first.to_lowercase().as_str(), "gigabit" | "gbit" | "gige") {
        return Some(([GIGABIT; 2], 1));
    }
    let end = first
        .find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ',' | '/'))
        .unwrap_or(first.len());
    let (number, unit) = first.split_at(end);
    let (number, unit) = match number.strip_suffix('/') {
        Some(number) if !unit.is_empty() => (number, unit),
        _ => (number, unit),
    };
    let (unit, used) = if unit.is_empty() {
        (words.get(1).copied().filter(|unit| unit.len() > 1)?, 2)
    } else {
        (unit.trim_start_matches('-'), 1)
    };
    let step = step(unit)?;
    let one = |text: &str| decimal(text)?.times(step).map(DataRate::from_bps).filter(|rate| is_credible(*rate));
    let rates = match number.split_once('/') {
        Some((down, up)) => [one(down)?, one(up)?],
        None => [one(number)?; 2],
    };
    Some((rates, used))
}

/// A line as providers name it, in Mbit/s without saying so: `250/40 VDSL`, `sold as 200/200`, `80 down / 8 up`.
fn pair_at(words: &[&str], at: usize) -> Option<([DataRate; 2], usize)> {
    let mbits = |text: &str| {
        let number = text.parse::<u64>().ok().filter(|number| (1..=10_000).contains(number))?;
        Some(DataRate::from_bps(number * 1_000_000))
    };
    if let [down, "down", "/" | "and" | "&", up, "up", ..] = &words[at..] {
        return Some(([mbits(down)?, mbits(up)?], 5));
    }
    if let [down, "down", up, "up", ..] = &words[at..] {
        return Some(([mbits(down)?, mbits(up)?], 4));
    }
    let (down, up) = words[at].split_once('/')?;
    // A port's: `10/100`.
    (down != "10" || up != "100").then_some(())?;
    let rates = [mbits(down)?, mbits(up)?];
    let is_link = |word: &&str| LINKS.contains(&word.to_lowercase().as_str());
    let behind = words.get(at + 1).is_some_and(is_link);
    let before = words[at.saturating_sub(4)..at].iter().any(is_link);
    // A date has no more than 31 days, and no line is as slow and as even.
    let is_date = rates[1].bps() <= 31_000_000 && rates[0].bps() <= 12_000_000;
    ((behind || before) && !is_date).then_some((rates, 1))
}

/// Bits a second of a unit; `None` of one that people write for both bits and bytes.
fn step(unit: &str) -> Option<u64> {
    // `MB/sec`, `Mbits/s`, `Mbps`.
    let bare = unit.trim_end_matches("/sec").trim_end_matches("/s").trim_end_matches("ps");
    // Bytes alone are an amount.
    if bare == unit && AMOUNTS.contains(&unit) {
        return None;
    }
    let unit = bare;
    match unit {
        "G" | "Gb" | "gb" | "Gbit" | "Gbits" | "gbit" | "gbits" | "GBit" | "Gbe" | "GbE" | "GBE" | "gbe" | "GBit/s"
        | "gig" | "Gig" | "gigabit" | "Gigabit" | "GE" => Some(1_000_000_000),
        "Mbit" | "Mbits" | "mbit" | "mbits" | "MBit" | "MBits" | "Mb" | "Mbs" | "megabit" | "M" => Some(1_000_000),
        "MB" | "MByte" | "MBytes" | "Mbyte" | "MBs" => Some(8_000_000),
        "MiB" => Some(8 << 20),
        "GB" | "GByte" | "GBytes" => Some(8_000_000_000),
        "KB" | "kB" | "kByte" | "KBytes" => Some(8_000),
        "kbit" | "Kbit" | "kbits" | "Kbits" => Some(1_000),
        _ => None,
    }
}

const AMOUNTS: [&str; 12] =
    ["MB", "MByte", "MBytes", "Mbyte", "MiB", "GB", "GByte", "GBytes", "KB", "kB", "kByte", "KBytes"];

/// A word without what surrounds it.
pub(crate) fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| {
        matches!(letter, '(' | ')' | '"' | '\'' | '`' | '*' | '~' | ',' | ':' | '?' | '!' | '<' | '=' | '\u{2248}')
    })
    .trim_end_matches('.')
}

/// From the slowest line that is in use to the fastest NIC.
fn is_credible(rate: DataRate) -> bool {
    (100_000..=800_000_000_000).contains(&rate.bps())
}

const GIGABIT: DataRate = DataRate::from_bps(1_000_000_000);
/// Rates of one line: more are a table.
const MOST: usize = 4;
/// A paragraph without breaks.
const LONGEST: usize = 1_000;
const WORDS_BEFORE: usize = 8;
const WORDS_BEHIND: usize = 4;
const WORDS_NEAR: usize = 4;

const EXPECTED: [&str; 21] = [
    "antes",
    "before",
    "previously",
    "sold",
    "expect",
    "expected",
    "expecting",
    "expects",
    "should",
    "supposed",
    "normally",
    "usually",
    "instead",
    "promised",
    "guaranteed",
    "ordered",
    "pay",
    "paying",
    "subscribed",
    "rated",
    "advertised",
];
/// What was measured, whatever link it was measured on.
const MEASURED: [&str; 24] = [
    "get", "gets", "getting", "got", "reach", "reaches", "reached", "see", "seeing", "sees", "only", "achieve",
    "achieves", "measured", "measures", "shows", "showed", "tops", "drops", "dropped", "stuck", "hit", "runs",
    "download",
];
const NEGATIONS: [&str; 10] =
    ["not", "no", "never", "cannot", "can't", "doesn't", "don't", "without", "shouldn't", "old"];
const LIMITS: [&str; 8] = ["limit", "limited", "limiter", "shaped", "shaper", "throttled", "policed", "capped"];
const LINKS: [&str; 33] = [
    "path",
    "contract",
    "handover",
    "link",
    "links",
    "line",
    "uplink",
    "circuit",
    "connection",
    "fibre",
    "fiber",
    "ftth",
    "dsl",
    "vdsl",
    "cable",
    "ethernet",
    "port",
    "ports",
    "nic",
    "nics",
    "network",
    "lan",
    "internet",
    "switch",
    "wan",
    "card",
    "interface",
    "interfaces",
    "wave",
    "plan",
    "both",
    "service",
    "symmetric",
];
const JOINING: [&str; 12] = ["is", "are", "of", "at", "a", "with", "has", "the", "be", "about", "nominally", "-"];
const PREPOSITIONS: [&str; 10] = ["over", "on", "through", "via", "to", "from", "across", "in", "into", "per"];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(StatedKind, u64)> {
        stated(1, text).into_iter().map(|rate| (rate.kind, rate.down.bps() / 1_000)).collect()
    }

    #[test]
    fn what_a_link_carries_is_said_before_it_or_behind_it() {
        for text in [
            "the circuit is 1G",
            "both hosts have a 1 Gbit/s link",
            "we are on a gigabit LAN",
            "1 Gbit/s symmetric fibre, RTT about 140 ms",
            "uplink of 1 Gbps",
        ] {
            assert_eq!(of(text), [(StatedKind::Link, 1_000_000)], "{text}");
        }
        for (text, down, up) in [
            ("The line here is a 250/40 VDSL, and ookla reaches the 40", 250, 40),
            ("Since we moved the site to the new DSL (80 down / 8 up) the calls break", 80, 8),
            ("I have the Fiber 100 contract (100 down / 100 up) since Monday.", 100, 100),
            ("office (600/600 fibre):", 600, 600),
        ] {
            let rates = stated(1, text)
                .iter()
                .map(|rate| (rate.kind, rate.down.bps() / 1_000_000, rate.up.bps() / 1_000_000))
                .collect::<Vec<_>>();
            assert_eq!(rates, [(StatedKind::Link, down, up)], "{text}");
        }
        let line = stated(3, "Internet: 200/20 MBit/s fiber (about 18 ms to 8.8.8.8)");
        let rates = line.iter().map(|rate| (rate.line, rate.down.bps(), rate.up.bps())).collect::<Vec<_>>();
        assert_eq!(rates, [(3, 200_000_000, 20_000_000)]);
    }

    #[test]
    fn what_is_expected_is_no_link() {
        for (text, expected) in [
            ("it is far from the expected ~600 KB/s", 4_800),
            ("it should do about 110 MB/s.", 880_000),
            ("I expected at least 90MBs, why does this work slower?", 720_000),
            ("what we have is slow, instead of 900 Mbit/s", 900_000),
            ("Antes: 0.9 Gbit/s, RTT 11 ms", 900_000),
        ] {
            assert_eq!(of(text), [(StatedKind::Expected, expected)], "{text}");
        }
    }

    #[test]
    fn what_was_measured_is_kept_apart() {
        let both = |text: &str, measured: u64, other: (StatedKind, u64)| {
            assert_eq!(of(text), [(StatedKind::Measured, measured), other], "{text}");
        };
        let (expected, link) = (StatedKind::Expected, StatedKind::Link);
        both("It never gets above 25 Mbit/s, the circuit is 1G.", 25_000, (link, 1_000_000));
        both("Copying tops out at 11.2 MB/s, it should do about 110 MB/s.", 89_600, (expected, 880_000));
        both("We get 40 Mbit/s instead of 900 Mbit/s", 40_000, (expected, 900_000));
        both("achieving only ~75 KB/s throughput instead of the expected ~600 KB/s", 600, (expected, 4_800));
    }

    #[test]
    fn what_is_no_rate_of_a_path_states_nothing() {
        for text in [
            "it was always at 35mb/s",
            "our artifact server (nginx, their words: \"10G uplink, nobody else complains\") gives me 5 MB/s",
            "iperf over internet 600mbps stables between 2 servers(50ms)",
            "it should not exceed 200 Mbit/s",
            "the shaper is set to 200 Mbit/s",
            "MTU 1500, 10 G of memory, version 3.1",
            "I would have expected it to use the 1.2 MB",
            "it should copy 300 GB",
            "the link went down on 11/12 at noon",
            "[  5]   0.00-1.00   sec   104 MBytes   870 Mbits/sec    2    564 KBytes",
        ] {
            assert_eq!(of(text), [], "{text}");
        }
    }
}
