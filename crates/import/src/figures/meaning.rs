//! Which quantity a number is, by the words beside it.

use std::time::Duration;

use units::{ByteCount, DataRate};

use super::FigureValue;
use super::amount::Amount;
use crate::stated_rate::{StatedKind, kind};

/// Whose limit of bytes under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowOf {
    /// The receiver's window or buffer.
    Receiver,
    /// The sender's buffer, or what it has under way.
    Sender,
    /// Which is not said.
    Unknown,
}

/// What became of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostKind {
    /// They did not arrive.
    Lost,
    /// They were sent again.
    Retransmitted,
}

/// What a CPU does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuWork {
    /// Packets: softirq, `ksoftirqd`.
    Packets,
    /// Another guest runs on it.
    Stolen,
    /// A program, or all together.
    Any,
}

/// A number among words: those of its clause, and where it stands among them.
pub(super) struct Place<'a> {
    /// The clause's, in small letters.
    pub(super) words: &'a [String],
    /// Where the number is.
    pub(super) at: std::ops::Range<usize>,
    /// Of its label, its column, and its line.
    pub(super) beside: &'a [String],
}

/// What an amount is.
pub(super) fn of(amount: Amount, place: &Place<'_>) -> Option<FigureValue> {
    match amount {
        Amount::Rate(rate) => {
            let said = kind(place.words, &place.at);
            let near = place.near(Reach::Close);
            if place.is_of_disk() {
                return Some(FigureValue::Disk(rate));
            }
            if said.is_none() && near.clone().chain(place.beside).any(|word| NO_RATE_OF_NOW.contains(&word.as_str())) {
                return None;
            }
            if said.is_none() && is_nominal(rate) && !place.is_labelled_measurement() {
                return None;
            }
            let is_link = place.beside.iter().any(|word| LINK_LABELS.contains(&word.as_str()));
            Some(match said {
                Some(StatedKind::Expected | StatedKind::Link) => FigureValue::Expected(rate),
                None if is_link => FigureValue::Expected(rate),
                Some(StatedKind::Measured) | None => FigureValue::Reached(rate),
            })
        }
        Amount::Time(time) => rtt(time, place),
        Amount::Bytes(bytes) => window(bytes, place),
        Amount::Number(number) => {
            // `Bytes in flight 65700`, `Win=17520`.
            let is_near = place.near(Reach::Close).any(|word| WINDOW_BYTES.contains(&word.as_str()))
                || place.near(Reach::Wide).any(|word| matches!(word.as_str(), "flight" | "in-flight" | "inflight"));
            (is_near && (4_096..=1 << 30).contains(&number)).then_some(())?;
            window(ByteCount::new(number), place)
        }
        Amount::Percent(hundredths) => part(hundredths, place),
    }
}

/// A rate that links and contracts have: round in Gbit/s, or in hundreds of Mbit/s.
fn is_nominal(rate: DataRate) -> bool {
    let bps = rate.bps();
    let step = if bps >= 1_000_000_000 { 500_000_000 } else { 50_000_000 };
    bps >= step && bps.is_multiple_of(step)
}

/// How far from a number a word may stand that says what it is.
#[derive(Debug, Clone, Copy)]
enum Reach {
    /// Where the word has to belong to this number.
    Close,
    /// Where it may belong to the sentence.
    Wide,
}

impl Reach {
    const fn before(self) -> usize {
        match self {
            Self::Close => 6,
            Self::Wide => 8,
        }
    }

    const fn behind(self) -> usize {
        match self {
            Self::Close => 3,
            Self::Wide => 5,
        }
    }
}

impl Place<'_> {
    /// Whether the words beside say that it was measured.
    fn is_labelled_measurement(&self) -> bool {
        let known = [
            "iperf",
            "iperf3",
            "iperf2",
            "nuttcp",
            "measured",
            // allow(speedtest): people write it
            "speedtest",
            "download",
            "upload",
            "result",
            "goodput",
            "throughput",
        ];
        self.beside.iter().any(|word| known.contains(&word.as_str()))
    }

    /// Whether the words before it are of a disk that writes or reads, and of nothing else.
    fn is_of_disk(&self) -> bool {
        let before = &self.words[self.at.start.saturating_sub(Reach::Wide.before())..self.at.start];
        let has = |known: &[&str]| before.iter().any(|word| known.contains(&word.as_str()));
        let is_disk = has(&[
            "disk", "disks", "hdd", "ssd", "nvme", "raid", "array", "zpool", "drive", "drives", "platte", "platten",
            "disque", "disco",
        ]);
        let works = has(&[
            "write", "writes", "writing", "read", "reads", "dd", "does", "manages", "sustains", "takes", "schreibt",
            "liest", "fio",
        ]);
        is_disk && works && !has(&["iperf", "iperf3", "network", "copy", "rsync", "scp"])
    }

    /// The words before and behind the number.
    fn near(&self, reach: Reach) -> impl Iterator<Item = &String> + Clone {
        let first = self.at.start.saturating_sub(reach.before());
        let last = self.words.len().min(self.at.end + reach.behind());
        self.words[first..self.at.start].iter().chain(&self.words[self.at.end..last])
    }

    fn says(&self, known: &[&str]) -> bool {
        self.near(Reach::Wide).chain(self.beside).any(|word| known.contains(&word.as_str()))
    }
}

fn rtt(time: Duration, place: &Place<'_>) -> Option<FigureValue> {
    // `ping during the first test stayed at 23.4 .. 23.9 ms`.
    let is_of_clause = place.words.iter().any(|word| matches!(word.as_str(), "ping" | "pings" | "rtt"));
    let is_said = (is_of_clause || place.says(&RTT_WORDS))
        && !place.says(&["jitter", "timeout", "interval", "every", "rto", "mdev"]);
    (is_said && (Duration::from_micros(20)..=Duration::from_secs(3)).contains(&time)).then_some(FigureValue::Rtt(time))
}

fn window(bytes: ByteCount, place: &Place<'_>) -> Option<FigureValue> {
    let is_window = place.says(&WINDOW_BYTES) || place.says(&OF_WINDOWS);
    (is_window && (1_000..=1 << 31).contains(&bytes.get())).then_some(())?;
    // A read or a write of so much is no window.
    (!place.says(&["block", "blocksize", "chunk", "chunks", "file", "files", "cache", "ring"])).then_some(())?;
    let receiver =
        place.says(&["receive", "receiver", "rwnd", "rcvbuf", "rmem", "tcp_rmem", "advertised", "so_rcvbuf", "win"]);
    let sender = place.says(&[
        "send",
        "sender",
        "sndbuf",
        "wmem",
        "tcp_wmem",
        "flight",
        "so_sndbuf",
        "in-flight",
        "cwnd",
        "inflight",
    ]);
    let of = match (receiver, sender) {
        (true, false) => WindowOf::Receiver,
        (false, true) => WindowOf::Sender,
        _ => WindowOf::Unknown,
    };
    Some(FigureValue::Window(of, bytes))
}

fn part(hundredths: u32, place: &Place<'_>) -> Option<FigureValue> {
    (hundredths <= 10_000).then_some(())?;
    if place.says(&[
        "loss", "lost", "dropped", "missing", "verlust", "verloren", "perte", "pertes", "perda", "perdida", "drop",
    ]) {
        return Some(FigureValue::Lost(LostKind::Lost, hundredths * 100));
    }
    if place.says(&["retransmitted", "retransmits", "retransmissions", "retransmission", "retrans", "resent", "retr"]) {
        return Some(FigureValue::Lost(LostKind::Retransmitted, hundredths * 100));
    }
    if place
        .says(&["idle", "free", "iowait", "wa", "id", "memory", "ram", "disk", "util", "signal", "progress", "battery"])
    {
        return None;
    }
    if place.says(&["steal", "st", "stolen", "%steal", "%st"]) {
        return Some(FigureValue::Cpu(CpuWork::Stolen, hundredths));
    }
    let packets = ["softirq", "ksoftirqd", "si", "%soft", "%si", "softirqs", "interrupt", "interrupts", "soft", "hi"];
    if place.says(&packets) || place.near(Reach::Wide).any(|word| word.starts_with("ksoftirqd")) {
        return Some(FigureValue::Cpu(CpuWork::Packets, hundredths));
    }
    place
        .says(&["cpu", "core", "cores", "thread", "cpus", "cpu0", "kern", "%cpu"])
        .then_some(FigureValue::Cpu(CpuWork::Any, hundredths))
}

const RTT_WORDS: [&str; 24] = [
    "rtt",
    "ping",
    "pings",
    "latency",
    "round",
    "round-trip",
    "roundtrip",
    "trip",
    "away",
    "delay",
    "distance",
    "apart",
    "icmp",
    "echo",
    "latenz",
    "laufzeit",
    "latence",
    "minrtt",
    "srtt",
    "lat",
    "latencia",
    "lat\u{ea}ncia",
    "path",
    "avg",
];
const WINDOW_BYTES: [&str; 16] = [
    "window",
    "win",
    "flight",
    "rwnd",
    "cwnd",
    "inflight",
    "in-flight",
    "sndbuf",
    "rcvbuf",
    "so_sndbuf",
    "so_rcvbuf",
    "rmem",
    "wmem",
    "snd_wnd",
    "rcv_wnd",
    "rcvspace",
];
/// The same of a clause, where a word may be farther off.
const OF_WINDOWS: [&str; 9] =
    ["-w", "windows", "tcp_rmem", "tcp_wmem", "buffer", "buffers", "outstanding", "unacked", "puffer"];
/// A rate that is a limit, a wish, a sum over others, or of another time.
const NO_RATE_OF_NOW: [&str; 18] = [
    "min",
    "max",
    "mean",
    "panel",
    "if_out",
    "limit",
    "limited",
    "shaped",
    "throttled",
    "policed",
    "capped",
    "target",
    "-b",
    "rate-limit",
    "burst",
    "would",
    "could",
    "cir",
];
const LINK_LABELS: [&str; 14] = [
    "link",
    "line",
    "contract",
    "plan",
    "port",
    "nic",
    "uplink",
    "circuit",
    "speed",
    "linkspeed",
    "subscribed",
    "bitrate",
    "phy",
    "sync",
];
