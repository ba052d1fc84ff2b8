//! A test as a person writes it: a table of a file that may have other keys besides these.

use std::fmt::Debug;
use std::time::Duration;

use document::{Complaints, DocumentError, Entry, Key};
use model::spec::{Direction, Dscp, Family, Limit, Offload, Protocol, ReceiveMethod, SendMethod, TestSpec};
use serde::Deserialize;
use units::{ByteCount, DataRate, Mss};

use super::{Flow, Http, Ping, Task};

/// The tests of a file, besides all else that it has. A file is read twice, once as its own shape and once as this, since
/// serde cannot put one table into two structures and still say where in the file a value stands.
#[derive(Debug, Deserialize)]
pub struct Tables {
    /// `[[tests]]`.
    #[serde(default)]
    pub tests: Vec<TaskText>,
}

/// What a table of `[[tests]]` says of the test itself. Keys that it does not know are for whoever reads the file; what
/// is left over is complained about by [`TaskText::only_keys`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct TaskText {
    kind: TestKind,
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
    count: Option<u32>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    size: Option<ByteCount>,
    file: Option<String>,
}

/// What a test measures, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestKind {
    /// A stream of bytes.
    Tcp,
    /// Datagrams.
    Udp,
    /// Round trips of echoes.
    Ping,
    /// The largest packet that gets through.
    Mtu,
    /// Downloads.
    Http,
    /// The routers on the way.
    Hops,
}

impl TestKind {
    /// What to call one of them.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "a `tcp` test",
            Self::Udp => "a `udp` test",
            Self::Ping => "a `ping` test",
            Self::Mtu => "an `mtu` test",
            Self::Http => "an `http` test",
            Self::Hops => "a `hops` test",
        }
    }

    /// Its keys besides those that every test of a file has.
    #[must_use]
    pub fn keys(self) -> &'static [&'static str] {
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

impl TaskText {
    /// What kind of test it is.
    #[must_use]
    pub fn kind(&self) -> TestKind {
        self.kind
    }

    /// By which of its addresses the host that answers is asked; by its first where it is [`None`].
    #[must_use]
    pub fn family(&self) -> Option<Family> {
        self.family
    }

    /// Complains about keys that are neither those of its kind nor `own` ones of the file.
    pub fn only_keys<P: From<DocumentError> + PartialEq + Debug>(
        &self,
        key: &Key,
        own: &[&str],
        desk: &mut Complaints<'_, P>,
    ) {
        desk.only_keys(key, self.kind.name(), &[own, &["kind"], self.kind.keys()].concat());
    }

    /// The test, where nothing that it needs is missing. `expect` is the line rate of the path, where the file knows it.
    pub fn settle<P: From<DocumentError> + PartialEq + Debug>(
        &self,
        key: &Key,
        expect: Option<DataRate>,
        desk: &mut Complaints<'_, P>,
    ) -> Option<Task> {
        Some(match self.kind {
            TestKind::Tcp => Task::Tcp(Flow { spec: self.flow(Protocol::Tcp, key, desk), expect }),
            TestKind::Udp => Task::Udp(Flow { spec: self.flow(Protocol::Udp, key, desk), expect }),
            TestKind::Ping => {
                let usual = Ping::default();
                Task::Ping(Ping {
                    count: self.count.unwrap_or(usual.count),
                    interval: self.interval.unwrap_or(usual.interval),
                    size: self.size.unwrap_or(usual.size),
                })
            }
            TestKind::Mtu => Task::Mtu,
            TestKind::Http => {
                let file = desk.needed(key, self.kind.name(), Entry { key: "file", value: self.file.clone() })?;
                Task::Http(Http { file, count: self.count.unwrap_or(1) })
            }
            TestKind::Hops => Task::Hops,
        })
    }

    fn flow<P: From<DocumentError> + PartialEq + Debug>(
        &self,
        protocol: Protocol,
        key: &Key,
        desk: &mut Complaints<'_, P>,
    ) -> TestSpec {
        if [self.bytes.is_some(), self.blocks.is_some(), self.time.is_some()].iter().filter(|is| **is).count() > 1 {
            desk.complain(key, DocumentError::Keys("only one of `time`, `bytes` and `blocks` ends a test"));
        }
        if self.reverse && self.bidir {
            desk.complain(&key.at("bidir"), DocumentError::Keys("`reverse` or `bidir`, not both"));
        }
        if self.flood && self.rate.is_some() {
            desk.complain(&key.at("flood"), DocumentError::Keys("`flood` has no `rate`"));
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
            rate: match protocol {
                Protocol::Udp if !self.flood => Some(self.rate.unwrap_or(USUAL_UDP_RATE)),
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
            let problem = DocumentError::Range { value: spec.streams.into(), from: 1.0, to: MOST_STREAMS.into() };
            desk.complain(&key.at("streams"), problem);
        }
        spec
    }
}

/// What `linerate test` takes.
const MOST_STREAMS: u16 = 128;

/// Datagrams start at a rate that harms nobody, as with `linerate test`.
pub(crate) const USUAL_UDP_RATE: DataRate = DataRate::from_bps(1_000_000);
