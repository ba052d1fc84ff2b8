//! What a number is of, by the words beside it: the direction, the streams, the moment, and with or without which thing.

use std::time::Duration;

use model::spec::Protocol;
use units::DataRate;

use super::things::{Mark, marks};

/// What a number is of, as far as words say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Aspects {
    /// Which way, seen from the host that measured.
    pub towards: Option<Towards>,
    /// From where to where, as it is written: `A -> B`.
    pub ends: Option<[String; 2]>,
    /// How many streams or connections at once.
    pub streams: Option<u16>,
    /// TCP, or datagrams.
    pub protocol: Option<Protocol>,
    /// How far.
    pub distance: Option<Distance>,
    /// Before or after something.
    pub moment: Option<Moment>,
    /// With what, and without what.
    pub marks: Vec<Mark>,
    /// The MTU that is set.
    pub mtu: Option<u32>,
    /// The RTT of what was measured, where it stands beside it.
    pub rtt: Option<Duration>,
    /// The rate at which datagrams were sent.
    pub offered: Option<DataRate>,
    /// Of an RTT: whether something else was sent meanwhile, where the words say so.
    pub loaded: Option<bool>,
    /// What it is called: the words before its colon, or the first cell of its row.
    pub name: Option<String>,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Towards {
    /// From the host that measured.
    Up,
    /// To it.
    Down,
}

/// How far the other end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// In the same building or city.
    Near,
    /// Beyond a WAN.
    Far,
}

/// When, beside another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before a change.
    Before,
    /// After it.
    After,
    /// When others are not busy.
    Quiet,
    /// When they are.
    Busy,
}

impl Aspects {
    /// What words say.
    pub(super) fn of(words: &[String]) -> Self {
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        let either = |one: bool, other: bool| if one == other { None } else { Some(one) };
        let towards = either(has(&UP), has(&DOWN)).map(|up| if up { Towards::Up } else { Towards::Down });
        let protocol = either(has(&["tcp"]), has(&["udp", "datagrams", "-u"]));
        let distance = either(has(&NEAR), has(&FAR)).map(|near| if near { Distance::Near } else { Distance::Far });
        let times = [
            (Moment::Before, has(&BEFORE)),
            (Moment::After, has(&AFTER)),
            (Moment::Quiet, has(&QUIET)),
            (Moment::Busy, has(&BUSY)),
        ];
        let mut said = times.iter().filter(|(_, is_said)| *is_said).map(|(moment, _)| *moment);
        let moment = said.next().filter(|_| said.next().is_none());
        Self {
            towards,
            ends: ends(words),
            streams: streams(words),
            protocol: protocol.map(|tcp| if tcp { Protocol::Tcp } else { Protocol::Udp }),
            distance,
            moment,
            marks: marks(words),
            mtu: mtu(words),
            loaded: loaded(words),
            ..Self::default()
        }
    }

    /// The same, with what words farther off say of what these leave open.
    pub(super) fn or(mut self, farther: &Self) -> Self {
        self.towards = self.towards.or(farther.towards);
        self.ends = self.ends.or_else(|| farther.ends.clone());
        self.streams = self.streams.or(farther.streams);
        self.protocol = self.protocol.or(farther.protocol);
        self.distance = self.distance.or(farther.distance);
        self.moment = self.moment.or(farther.moment);
        self.rtt = self.rtt.or(farther.rtt);
        self.loaded = self.loaded.or(farther.loaded);
        self.mtu = self.mtu.or(farther.mtu);
        for mark in &farther.marks {
            if self.marks.iter().all(|own| own.thing != mark.thing) {
                self.marks.push(*mark);
            }
        }
        self.name = self.name.or_else(|| farther.name.clone());
        self
    }
}

/// `-P 8`, `8 streams`, `8 parallel connections`, `single stream`.
fn streams(words: &[String]) -> Option<u16> {
    let number = |word: &String| match word.as_str() {
        "one" | "single" | "einem" | "ein" | "una" | "une" => Some(1),
        "two" => Some(2),
        "three" => Some(3),
        "four" => Some(4),
        "five" => Some(5),
        "six" => Some(6),
        "eight" => Some(8),
        "ten" => Some(10),
        "sixteen" => Some(16),
        word => word.trim_end_matches('x').parse::<u16>().ok().filter(|count| (1..=256).contains(count)),
    };
    let is_stream = |word: &String| STREAMS.contains(&word.as_str());
    for (at, word) in words.iter().enumerate() {
        if matches!(word.as_str(), "-p" | "--parallel" | "--transfers" | "parallel") {
            let count = words.get(at + 1).and_then(number);
            if count.is_some() {
                return count;
            }
        }
        if let Some(count) = word.strip_prefix("-p").and_then(|count| count.parse().ok()) {
            return Some(count);
        }
        if is_stream(word) {
            let before = &words[at.saturating_sub(2)..at];
            if let Some(count) = before.iter().rev().find_map(number) {
                return Some(count);
            }
        }
        if let Some(rest) = word.strip_suffix("-stream").or_else(|| word.strip_suffix("-streams")) {
            return number(&rest.to_owned());
        }
    }
    // `single: 300 Mbit/s`.
    words.iter().any(|word| word == "single" || word == "single-stream" || word == "single-thread").then_some(1)
}

/// Whether a word says when something was, beside another time.
pub(super) fn is_moment(word: &str) -> bool {
    BEFORE.contains(&word) || AFTER.contains(&word)
}

/// `ping during the first run`, `(idle)`: the word that comes first says it.
fn loaded(words: &[String]) -> Option<bool> {
    words.iter().find_map(|word| match word.trim_matches(|letter: char| !letter.is_alphanumeric()) {
        "during" | "while" | "loaded" | "load" | "meanwhile" | "middle" | "running" | "next" | "busy" | "full"
        | "beside" | "alongside" | "parallel" | "durante" | "pendant" | "w\u{e4}hrend" | "waehrend" | "unter"
        | "saturated" => Some(true),
        "idle" | "unloaded" | "quiet" | "before" | "leerlauf" | "ohne" | "without" | "empty" | "repos" | "reposo"
        | "vorher" => Some(false),
        _ => None,
    })
}

/// `mtu 1420`, `mtu=1280`.
fn mtu(words: &[String]) -> Option<u32> {
    let at = words.iter().position(|word| word == "mtu" || word == "mtu:" || word.starts_with("mtu="))?;
    let number = match words[at].split_once('=') {
        Some((_, number)) => number,
        None => words.get(at + 1)?.as_str(),
    };
    number.parse::<u32>().ok().filter(|mtu| (576..=65_535).contains(mtu))
}

/// `A -> B`.
fn ends(words: &[String]) -> Option<[String; 2]> {
    let at = words.iter().position(|word| matches!(word.as_str(), "->" | "\u{2192}" | "=>" | "-->" | ">"))?;
    let (from, to) = (words.get(at.checked_sub(1)?)?, words.get(at + 1)?);
    let is_name = |word: &String| word.starts_with(|letter: char| letter.is_alphabetic()) && word.len() <= 40;
    (is_name(from) && is_name(to) && from != to).then(|| [from.clone(), to.clone()])
}

const STREAMS: [&str; 17] = [
    "stream",
    "streams",
    "connection",
    "connections",
    "thread",
    "threads",
    "flow",
    "flows",
    "parallel",
    "transfers",
    "sessions",
    "downloads",
    "uploads",
    "copies",
    "verbindungen",
    "verbindung",
    "conn",
];
const UP: [&str; 17] = [
    "up",
    "upload",
    "uploads",
    "uploading",
    "upstream",
    "outbound",
    "tx",
    "send",
    "sends",
    "sending",
    "put",
    "push",
    "write",
    "writes",
    "writing",
    "upload-rate",
    "hochladen",
];
const DOWN: [&str; 19] = [
    "down",
    "download",
    "downloads",
    "downloading",
    "downstream",
    "inbound",
    "rx",
    "receive",
    "receives",
    "receiving",
    "get",
    "pull",
    "read",
    "reads",
    "reading",
    "-r",
    "reverse",
    "--reverse",
    "herunterladen",
];
const NEAR: [&str; 12] = [
    "local",
    "locally",
    "lan",
    "near",
    "nearby",
    "same-rack",
    "rack",
    "on-site",
    "onsite",
    "lokal",
    "in-house",
    "metro",
];
const FAR: [&str; 11] = [
    "remote",
    "wan",
    "far",
    "remotely",
    "overseas",
    "transatlantic",
    "intercontinental",
    "abroad",
    "offsite",
    "off-site",
    "entfernt",
];
const BEFORE: [&str; 12] = [
    "before",
    "previously",
    "earlier",
    "formerly",
    "old",
    "used",
    "vorher",
    "antes",
    "avant",
    "until",
    "prior",
    "originally",
];
const AFTER: [&str; 13] = [
    "after",
    "now",
    "since",
    "afterwards",
    "new",
    "nachher",
    "seit",
    "jetzt",
    "despues",
    "depois",
    "apr\u{e8}s",
    "ahora",
    "agora",
];
const QUIET: [&str; 9] = ["night", "morning", "nachts", "idle", "quiet", "3am", "off-peak", "weekend", "morgens"];
const BUSY: [&str; 8] = ["evening", "peak", "abends", "busy", "loaded", "afternoon", "evenings", "prime"];
