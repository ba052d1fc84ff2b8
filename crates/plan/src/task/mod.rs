//! What a test measures, and how: the part that plans and scenarios of the lab have in common.

pub mod text;
mod written;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use model::spec::{Direction, Family, Limit, TestSpec};
use units::{ByteCount, DataRate};

pub use text::TestKind;
pub use written::keys;
pub(crate) use written::name_of;

/// What a test measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// What it does.
    pub spec: TestSpec,
    /// The line rate of the path, where devices do not tell it.
    pub expect: Option<DataRate>,
}

/// Echoes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ping {
    /// How many.
    pub count: u32,
    /// Time from one to the next.
    pub interval: Duration,
    /// Payload of each, in bytes.
    pub size: ByteCount,
}

impl Default for Ping {
    /// Ten in a second, as large as those of `ping`.
    fn default() -> Self {
        Self { count: 10, interval: Duration::from_millis(100), size: ByteCount::new(56) }
    }
}

/// Downloads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    /// The name of the file.
    pub file: String,
    /// How many times it is fetched.
    pub count: u32,
}

/// What a test does to others that run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// A few packets a second: it disturbs no other light one.
    Light,
    /// As much as the path carries: nothing else may run on its hosts.
    Heavy,
}

impl Task {
    /// In one word.
    #[must_use]
    pub const fn kind(&self) -> TestKind {
        match self {
            Self::Tcp(_) => TestKind::Tcp,
            Self::Udp(_) => TestKind::Udp,
            Self::Ping(_) => TestKind::Ping,
            Self::Mtu => TestKind::Mtu,
            Self::Http(_) => TestKind::Http,
            Self::Hops => TestKind::Hops,
        }
    }

    /// What it does to others.
    #[must_use]
    pub const fn weight(&self) -> Weight {
        match self {
            Self::Tcp(_) | Self::Udp(_) | Self::Http(_) => Weight::Heavy,
            Self::Ping(_) | Self::Mtu | Self::Hops => Weight::Light,
        }
    }

    /// Whether the host that answers may ask in place of the other: it learns nothing of the path towards itself, nor of files
    /// that it has.
    #[must_use]
    pub const fn either_end_may_ask(&self) -> bool {
        match self {
            Self::Tcp(_) | Self::Udp(_) | Self::Ping(_) | Self::Mtu => true,
            Self::Hops | Self::Http(_) => false,
        }
    }

    /// Whether both ends send at once, so that the way back needs no test of its own.
    #[must_use]
    pub fn is_both_ways(&self) -> bool {
        matches!(self, Self::Tcp(flow) | Self::Udp(flow) if flow.spec.direction == Direction::Bidirectional)
    }

    /// The line rate of the path, where whoever asks for a flow knows it.
    #[must_use]
    pub const fn expected(&self) -> Option<DataRate> {
        match self {
            Self::Tcp(flow) | Self::Udp(flow) => flow.expect,
            Self::Ping(_) | Self::Mtu | Self::Http(_) | Self::Hops => None,
        }
    }

    /// The same on a path of this line rate, unless it says itself what that is.
    #[must_use]
    pub fn expecting(&self, rate: Option<DataRate>) -> Self {
        let mut task = self.clone();
        if let Self::Tcp(flow) | Self::Udp(flow) = &mut task {
            flow.expect = flow.expect.or(rate);
        }
        task
    }

    /// How long it takes by itself; not known where it ends with an amount.
    #[must_use]
    pub fn length(&self) -> Option<Duration> {
        match self {
            Self::Tcp(flow) | Self::Udp(flow) => match flow.spec.limit {
                Limit::Time(time) => Some(time.saturating_add(flow.spec.omit)),
                Limit::Bytes(_) | Limit::Blocks(_) => None,
            },
            Self::Ping(ping) => Some(ping.interval.saturating_mul(ping.count)),
            Self::Mtu | Self::Http(_) | Self::Hops => None,
        }
    }

    /// How much time to keep for it where the path carries `rate`.
    #[must_use]
    pub fn time_to_keep(&self, rate: Option<DataRate>) -> Duration {
        let least = Duration::from_secs(1);
        let known = self.length().or_else(|| match self {
            Self::Tcp(flow) | Self::Udp(flow) => match flow.spec.limit {
                Limit::Bytes(bytes) => rate?.time_for(bytes).map(|time| time.saturating_mul(2)),
                Limit::Time(_) | Limit::Blocks(_) => None,
            },
            Self::Mtu => Some(FOR_AN_MTU),
            Self::Hops => Some(FOR_HOPS),
            Self::Http(http) => Some(FOR_A_DOWNLOAD.saturating_mul(http.count)),
            Self::Ping(_) => None,
        });
        known.unwrap_or(FOR_AN_AMOUNT).max(least)
    }

    /// What it moves at most where the path carries `line`; not known where nothing says how fast it is, and of downloads. Both directions
    /// of a test of both count. Light tests move nothing that counts.
    #[must_use]
    pub fn most_bytes(&self, line: Option<DataRate>) -> Option<ByteCount> {
        let (Self::Tcp(flow) | Self::Udp(flow)) = self else {
            return (self.weight() == Weight::Light).then_some(ByteCount::new(0));
        };
        let spec = &flow.spec;
        let in_a_direction = match spec.limit {
            Limit::Bytes(bytes) => bytes.get(),
            Limit::Blocks(_) => return None,
            Limit::Time(time) => {
                // Rates that are asked for are those of one stream.
                let asked = [spec.rate, spec.pace].into_iter().flatten().min();
                let asked = asked.map(|rate| rate.bps().saturating_mul(u64::from(spec.streams.max(1))));
                let line = [line, flow.expect].into_iter().flatten().min().map(DataRate::bps);
                let rate = [asked, line].into_iter().flatten().min()?;
                let bytes = u128::from(rate) * time.saturating_add(spec.omit).as_millis() / 8_000;
                u64::try_from(bytes).unwrap_or(u64::MAX)
            }
        };
        let directions = if self.is_both_ways() { 2 } else { 1 };
        Some(ByteCount::new(in_a_direction.saturating_mul(directions)))
    }

    /// The address family that it asks for.
    #[must_use]
    pub fn family(&self) -> Option<Family> {
        match self {
            Self::Tcp(flow) | Self::Udp(flow) => flow.spec.family,
            Self::Ping(_) | Self::Mtu | Self::Http(_) | Self::Hops => None,
        }
    }
}

/// A search between two sizes asks about a dozen times, and waits for those that stay away.
const FOR_AN_MTU: Duration = Duration::from_secs(10);
/// Thirty hops at most, three questions each, most of them at once.
const FOR_HOPS: Duration = Duration::from_secs(10);
/// What nobody knows before.
const FOR_A_DOWNLOAD: Duration = Duration::from_secs(30);
/// A test that ends after an amount of data, where no rate says how long that takes.
const FOR_AN_AMOUNT: Duration = Duration::from_secs(30);
