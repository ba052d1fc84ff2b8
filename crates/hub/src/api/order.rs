//! What an agent is to do.

use std::fmt;
use std::time::Duration;

use model::spec::{Family, TestSpec};
use plan::task::{Flow, Http, Ping, Task};
use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

/// A run by its name, and which attempt at it. A result belongs to an attempt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeaseName {
    /// The run, the same at every hub.
    pub run: String,
    /// Counted from 1.
    pub attempt: u32,
}

impl From<&mesh::run::LeaseName> for LeaseName {
    fn from(name: &mesh::run::LeaseName) -> Self {
        Self { run: name.run.0.clone(), attempt: name.attempt }
    }
}

impl From<&LeaseName> for mesh::run::LeaseName {
    fn from(name: &LeaseName) -> Self {
        Self { run: mesh::run::RunId(name.run.clone()), attempt: name.attempt }
    }
}

impl fmt::Display for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.run, self.attempt)
    }
}

/// What an agent does in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It runs the test and has the result.
    Client,
    /// It answers one test.
    Server,
}

/// The ends of a test, as the plan has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunSide {
    /// The host that should ask.
    From,
    /// The host that should answer.
    To,
}

/// A test between two hosts, as one of them takes part in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assignment {
    /// At which end of the test this agent is.
    pub side: RunSide,
    /// The other host, by its name in the plan.
    pub peer: String,
    /// By what it is reached, or what it comes from.
    pub address: String,
    /// The port of the test partner.
    pub port: u16,
    /// Who answers.
    pub partner: PartnerKind,
    /// The address family, where the plan asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// What is measured.
    pub task: TaskOrder,
    /// When it is ended if it has not ended by itself.
    #[serde(rename = "limit_ms", with = "units::duration::as_ms")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub limit: Duration,
    /// The bytes that it may take, where that is known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<ByteCount>,
}

/// Who answers a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PartnerKind {
    /// The peer's agent, which starts a test partner for this run.
    Agent,
    /// What stands there: `linerate serve`, an iperf3 server, a server of files, a router.
    Standing,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum TaskOrder {
    /// TCP.
    Tcp(FlowOrder),
    /// UDP.
    Udp(FlowOrder),
    /// RTT and loss by ICMP echo.
    Ping {
        /// Echo requests.
        count: u32,
        /// From one to the next.
        #[serde(rename = "interval_us", with = "units::duration::as_us")]
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        interval: Duration,
        /// Payload of each.
        payload_bytes: ByteCount,
    },
    /// Path MTU.
    Mtu,
    /// The hops of the path.
    Hops,
    /// Downloads over HTTP.
    Http {
        /// File by its path at the peer's server.
        file: String,
        /// How many times.
        count: u32,
        /// The server's port.
        port: u16,
    },
}

/// A flow of `linerate test`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowOrder {
    /// What it does.
    pub spec: TestSpec,
    /// The line rate of the path, where the plan says it.
    #[serde(rename = "expect_bps", default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<DataRate>,
}

impl TaskOrder {
    /// A task of a plan, as an agent is to do it. `http_port` is that of the peer's server of files.
    #[must_use]
    pub fn of(task: &Task, http_port: u16) -> Self {
        let order = |flow: &Flow| FlowOrder { spec: flow.spec.clone(), expect: flow.expect };
        match task {
            Task::Tcp(flow) => Self::Tcp(order(flow)),
            Task::Udp(flow) => Self::Udp(order(flow)),
            Task::Ping(ping) => Self::Ping { count: ping.count, interval: ping.interval, payload_bytes: ping.size },
            Task::Mtu => Self::Mtu,
            Task::Hops => Self::Hops,
            Task::Http(http) => Self::Http { file: http.file.clone(), count: http.count, port: http_port },
        }
    }

    /// The same as a task of a plan.
    #[must_use]
    pub fn task(&self) -> Task {
        let flow = |order: &FlowOrder| Flow { spec: order.spec.clone(), expect: order.expect };
        match self {
            Self::Tcp(order) => Task::Tcp(flow(order)),
            Self::Udp(order) => Task::Udp(flow(order)),
            Self::Ping { count, interval, payload_bytes } => {
                Task::Ping(Ping { count: *count, interval: *interval, size: *payload_bytes })
            }
            Self::Mtu => Task::Mtu,
            Self::Hops => Task::Hops,
            Self::Http { file, count, .. } => Task::Http(Http { file: file.clone(), count: *count }),
        }
    }

    /// The port of the peer's server of files.
    #[must_use]
    pub const fn http_port(&self) -> u16 {
        match self {
            Self::Http { port, .. } => *port,
            _ => 80,
        }
    }
}
