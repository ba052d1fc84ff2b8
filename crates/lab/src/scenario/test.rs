//! Tests: what is measured, from where, to where, when.

use document::{Key, Slip};
use std::collections::BTreeSet;
use std::time::Duration;

use model::spec::{Direction, Dscp, Family, Limit, Offload, Protocol, ReceiveMethod, SendMethod, TestSpec};
use serde::Deserialize;
use units::{ByteCount, DataRate, Mss};

use super::desk::Desk;

/// One test.
#[derive(Debug, Clone)]
pub struct Test {
    /// What it is called where results are shown.
    pub label: String,
    /// The host that asks.
    pub from: Point,
    /// The host that answers.
    pub to: Point,
    /// When it begins, by the clock of the network; when the one before it is over where it is [`None`].
    pub start: Option<Duration>,
    /// By which of its addresses the host that answers is asked; by its first where it is [`None`].
    pub family: Option<Family>,
    /// What is measured.
    pub kind: TestKind,
}

/// A host as a test sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The host.
    pub host: usize,
    /// Its address in this overlay; its own where it is [`None`].
    pub overlay: Option<usize>,
}

/// What a test measures.
#[derive(Debug, Clone)]
pub enum TestKind {
    /// A stream of bytes.
    Tcp(Flow),
    /// Datagrams.
    Udp(Flow),
    /// Round trips of echoes.
    Ping(Ping),
    /// The largest packet that gets through.
    Mtu,
    /// Downloads of a file, one after the other.
    Http(Http),
    /// The routers on the way.
    Hops,
}

/// A test of `linerate test`.
#[derive(Debug, Clone)]
pub struct Flow {
    /// What it does.
    pub spec: TestSpec,
    /// The line rate of the path, where devices do not tell it.
    pub expect: Option<DataRate>,
}

/// Echoes.
#[derive(Debug, Clone, Copy)]
pub struct Ping {
    /// How many.
    pub count: u32,
    /// Time from one to the next.
    pub interval: Duration,
    /// Payload of each, in bytes.
    pub size: ByteCount,
}

/// Downloads.
#[derive(Debug, Clone)]
pub struct Http {
    /// The name of the file.
    pub file: String,
    /// How many times it is fetched.
    pub count: u32,
}

/// `[[tests]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TestText {
    kind: KindText,
    from: String,
    to: String,
    label: Option<String>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    start: Option<Duration>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    time: Option<Duration>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    bytes: Option<ByteCount>,
    blocks: Option<u64>,
    streams: Option<u16>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    omit: Option<Duration>,
    #[serde(default)]
    reverse: bool,
    #[serde(default)]
    bidir: bool,
    family: Option<Family>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    rate: Option<DataRate>,
    #[serde(default)]
    flood: bool,
    #[serde(default, deserialize_with = "units::text::read_some")]
    pace: Option<DataRate>,
    cca: Option<String>,
    mss: Option<Mss>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    window: Option<ByteCount>,
    dscp: Option<Dscp>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    length: Option<ByteCount>,
    send: Option<SendMethod>,
    receive: Option<ReceiveMethod>,
    #[serde(default)]
    no_gso: bool,
    #[serde(default)]
    no_gro: bool,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    interval: Option<Duration>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    sample_every: Option<Duration>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    probe_every: Option<Duration>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    expect: Option<DataRate>,
    count: Option<u32>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    size: Option<ByteCount>,
    file: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindText {
    Tcp,
    Udp,
    Ping,
    Mtu,
    Http,
    Hops,
}

impl KindText {
    fn name(self) -> &'static str {
        match self {
            Self::Tcp => "a `tcp` test",
            Self::Udp => "a `udp` test",
            Self::Ping => "a `ping` test",
            Self::Mtu => "an `mtu` test",
            Self::Http => "an `http` test",
            Self::Hops => "a `hops` test",
        }
    }

    /// Its keys besides those that every test has.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Tcp => &[
                "time",
                "bytes",
                "blocks",
                "streams",
                "omit",
                "reverse",
                "bidir",
                "family",
                "rate",
                "pace",
                "cca",
                "mss",
                "window",
                "dscp",
                "length",
                "send",
                "receive",
                "interval",
                "sample-every",
                "probe-every",
                "expect",
            ],
            Self::Udp => &[
                "time",
                "bytes",
                "blocks",
                "streams",
                "omit",
                "reverse",
                "bidir",
                "family",
                "rate",
                "flood",
                "pace",
                "window",
                "dscp",
                "length",
                "no-gso",
                "no-gro",
                "interval",
                "sample-every",
                "probe-every",
                "expect",
            ],
            Self::Ping => &["family", "count", "interval", "size"],
            Self::Http => &["family", "file", "count"],
            Self::Mtu | Self::Hops => &["family"],
        }
    }
}

const ALWAYS: [&str; 5] = ["kind", "from", "to", "label", "start"];

impl TestText {
    pub(super) fn settle(self, number: usize, families: &BTreeSet<Family>, desk: &mut Desk<'_>) -> Option<Test> {
        let key = Key::top("tests").nth(number);
        let of = self.kind.name();
        desk.only_keys(&key, of, &[&ALWAYS, self.kind.keys()].concat());
        let from = point(&self.from, &key.at("from"), desk);
        let to = point(&self.to, &key.at("to"), desk);
        let kind = match self.kind {
            KindText::Tcp => TestKind::Tcp(self.flow(Protocol::Tcp, &key, desk)),
            KindText::Udp => TestKind::Udp(self.flow(Protocol::Udp, &key, desk)),
            KindText::Ping => TestKind::Ping(Ping {
                count: self.count.unwrap_or(10),
                interval: self.interval.unwrap_or(Duration::from_millis(100)),
                size: self.size.unwrap_or(ByteCount::new(56)),
            }),
            KindText::Mtu => TestKind::Mtu,
            KindText::Http => {
                let file = desk.needed(&key, of, ("file", self.file.clone()))?;
                TestKind::Http(Http { file, count: self.count.unwrap_or(1) })
            }
            KindText::Hops => TestKind::Hops,
        };
        let (from, to) = (from?, to?);
        if from.host == to.host {
            desk.complain(&key.at("to"), Slip::Keys("a test goes to another host"));
        }
        if self.family.is_some_and(|family| !families.contains(&family)) {
            desk.complain(&key.at("family"), Slip::Keys("the network speaks no such family"));
        }
        let label = self.label.unwrap_or_else(|| format!("{} to {}", self.from, self.to));
        Some(Test { label, from, to, start: self.start, family: self.family, kind })
    }

    fn flow(&self, protocol: Protocol, key: &Key, desk: &mut Desk<'_>) -> Flow {
        if [self.bytes.is_some(), self.blocks.is_some(), self.time.is_some()].iter().filter(|is| **is).count() > 1 {
            desk.complain(key, Slip::Keys("only one of `time`, `bytes` and `blocks` ends a test"));
        }
        if self.reverse && self.bidir {
            desk.complain(&key.at("bidir"), Slip::Keys("`reverse` or `bidir`, not both"));
        }
        if self.flood && self.rate.is_some() {
            desk.complain(&key.at("flood"), Slip::Keys("`flood` has no `rate`"));
        }
        let usual = TestSpec::default();
        let spec = TestSpec {
            protocol,
            direction: match (self.reverse, self.bidir) {
                (true, _) => Direction::Reverse,
                (_, true) => Direction::Bidirectional,
                (false, false) => Direction::Forward,
            },
            limit: match (self.bytes, self.blocks, self.time) {
                (Some(bytes), ..) => Limit::Bytes(bytes),
                (_, Some(blocks), _) => Limit::Blocks(blocks),
                (_, _, Some(time)) => Limit::Time(time),
                (None, None, None) => usual.limit,
            },
            omit: self.omit.unwrap_or(usual.omit),
            streams: self.streams.unwrap_or(usual.streams),
            // As `linerate test` has it: datagrams start at a rate that harms nobody.
            rate: match protocol {
                Protocol::Udp if !self.flood => Some(self.rate.unwrap_or(DataRate::from_bps(1_000_000))),
                Protocol::Udp | Protocol::Tcp => self.rate,
            },
            pace: self.pace,
            congestion_control: self.cca.clone(),
            mss: self.mss,
            window: self.window,
            dscp: self.dscp,
            length: self.length,
            send: self.send.unwrap_or_default(),
            receive: self.receive.unwrap_or_default(),
            udp_gso: if self.no_gso { Offload::Off } else { Offload::On },
            udp_gro: if self.no_gro { Offload::Off } else { Offload::On },
            family: self.family,
            interval: self.interval.unwrap_or(usual.interval),
            sample_every: self.sample_every.unwrap_or(usual.sample_every),
            probe_every: self.probe_every.unwrap_or(usual.probe_every),
            ..usual
        };
        if spec.streams == 0 || spec.streams > MOST_STREAMS {
            let problem = Slip::Range { value: spec.streams.into(), from: 1.0, to: MOST_STREAMS.into() };
            desk.complain(&key.at("streams"), problem);
        }
        Flow { spec, expect: self.expect }
    }
}

/// What `linerate test` takes.
const MOST_STREAMS: u16 = 128;

/// Reads `HOST` or `HOST.OVERLAY`.
fn point(text: &str, key: &Key, desk: &mut Desk<'_>) -> Option<Point> {
    let (host, overlay) = match text.split_once('.') {
        Some((host, overlay)) => (host, Some(overlay)),
        None => (text, None),
    };
    let host = desk.host(key, host)?;
    let overlay = match overlay {
        Some(name) => Some(desk.overlay(key, name)?),
        None => None,
    };
    Some(Point { host, overlay })
}

impl Test {
    /// How long it takes by itself; not known where it ends with an amount.
    #[must_use]
    pub fn length(&self) -> Option<Duration> {
        match &self.kind {
            TestKind::Tcp(flow) | TestKind::Udp(flow) => match flow.spec.limit {
                Limit::Time(time) => Some(time + flow.spec.omit),
                Limit::Bytes(_) | Limit::Blocks(_) => None,
            },
            TestKind::Ping(ping) => Some(ping.interval * ping.count),
            TestKind::Mtu | TestKind::Http(_) | TestKind::Hops => None,
        }
    }
}
