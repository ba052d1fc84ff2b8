//! One execution of a test.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{DataRate, WallTime};

use crate::host::HostIdentity;
use crate::measurement::Measurement;
use crate::spec::TestSpec;

/// One execution of a test, finished or failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Version of this format; a reader refuses a newer one.
    pub format: u32,
    /// Its name in the archive.
    pub id: RunId,
    /// When it started, by this host's calendar.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// Which side of the test this host was.
    pub role: Role,
    /// The exact command, argument by argument.
    pub command: Vec<String>,
    /// What was asked for.
    pub spec: TestSpec,
    /// The line rate that the user declared, where the devices cannot tell it or tell too much.
    #[serde(rename = "declared_line_rate_bps", default, skip_serializing_if = "Option::is_none")]
    pub declared_line_rate: Option<DataRate>,
    /// What else the user declared of a run whose output does not say it.
    #[serde(default, skip_serializing_if = "Declared::is_empty")]
    pub declared: Declared,
    /// The first of the runs that repeated one test, of which this is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<RunId>,
    /// This host.
    pub local: HostIdentity,
    /// The other host.
    pub peer: Peer,
    /// Whether it worked.
    pub outcome: Outcome,
    /// What was found; of a failed run, what was found until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measurement: Option<Measurement>,
}

impl Run {
    /// The version of this format that this program writes.
    pub const FORMAT: u32 = 1;

    /// What the host that stored it is called: by its name, or `this host`.
    #[must_use]
    pub fn local_name(&self) -> String {
        self.local.name.clone().unwrap_or_else(|| "this host".to_owned())
    }

    /// What the other host is called: by its name, or as it was typed where it has none, and where both have one name though they are
    /// two, as network namespaces of one machine and hosts made from one image are.
    #[must_use]
    pub fn peer_name(&self) -> String {
        let target = &self.peer.target;
        let is_own_name = |name: &&String| Some(*name) == self.local.name.as_ref() && !is_loopback(target);
        self.peer.host.name.as_ref().filter(|name| !is_own_name(name)).unwrap_or(target).clone()
    }
}

/// Whether a target is this host, whatever its network namespace.
fn is_loopback(target: &str) -> bool {
    target == "localhost" || target.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What a user declares of an imported run: facts of its path that the tool did not print. They stand beside what was
/// measured, never in its place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Declared {
    /// RTT of the idle path.
    #[serde(
        rename = "rtt_us",
        default,
        with = "units::duration::as_us::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub rtt: Option<Duration>,
    /// Goodput that the test should have reached.
    #[serde(rename = "expected_bps", default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<DataRate>,
    /// Payload of a full segment.
    #[serde(rename = "mss_bytes", default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// The sender's congestion control, by its kernel name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
}

impl Declared {
    /// Whether nothing was declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Which side of a test a host was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It started the test.
    Client,
    /// It answered.
    Server,
}

/// The other side of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Peer {
    /// What the user typed, or the address that called.
    pub target: String,
    /// The address reached, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What it said of itself.
    #[serde(flatten)]
    pub host: HostIdentity,
}

/// Whether a run worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Outcome {
    /// It ran to its end.
    Complete,
    /// It did not.
    Failed(Failure),
}

/// Why a run did not end as it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The kind, from which the exit code follows.
    pub kind: FailureKind,
    /// One line for a person.
    pub detail: String,
}

/// Kinds of failure, told apart by what a person would do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No answer, or the name does not resolve.
    Unreachable,
    /// The peer answered and does not want this test.
    Refused,
    /// The peer is running another test.
    Busy,
    /// The connection broke or fell silent mid-test.
    Lost,
    /// The peer broke the protocol.
    Protocol,
    /// This host could not do it: a missing right, device, namespace or kernel feature.
    Local,
    /// The user stopped it.
    Interrupted,
}

impl FailureKind {
    /// In a word or two.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
            Self::Busy => "busy",
            Self::Lost => "lost",
            Self::Protocol => "protocol",
            Self::Local => "this host",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A run's name: sortable by time, unique everywhere (a ULID).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct RunId(ulid::Ulid);

impl RunId {
    /// The name of a run that started at `time`, made unique by `random` bits.
    #[must_use]
    pub fn new(time: WallTime, random: u128) -> Self {
        Self(ulid::Ulid::from_parts(time.unix_nanos() / 1_000_000, random))
    }

    /// When it started, to a millisecond.
    #[must_use]
    pub const fn time(&self) -> WallTime {
        WallTime::from_unix_nanos(self.0.timestamp_ms().saturating_mul(1_000_000))
    }
}

/// A text that is no run id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a run id: 26 letters and digits, as `linerate runs list` prints them")]
pub struct RunIdError(String);

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, RunIdError> {
        ulid::Ulid::from_string(text).map(Self).map_err(|_| RunIdError(text.to_owned()))
    }
}

impl TryFrom<String> for RunId {
    type Error = RunIdError;

    fn try_from(text: String) -> Result<Self, RunIdError> {
        text.parse()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0.to_string()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}
