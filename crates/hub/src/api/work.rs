//! How an agent asks for work, and says how it goes.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::WallTime;

use super::order::{Assignment, LeaseName};
use crate::trust::ticket::Ticket;

/// An agent asks what to do. The hub answers at once where there is something, else within [`LONGEST_WAIT`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkRequest {
    /// How often the agent has started, counted on its disk.
    pub boots: u64,
    /// The number of this request since then.
    pub number: u64,
    /// How many heavy runs it would begin now.
    pub room: u32,
    /// Every lease that it has on its disk: not begun, running, or with a result that is not delivered yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory: Option<Vec<LeaseName>>,
    /// How it is.
    pub health: AgentHealth,
    /// How long it would wait for an answer; as long as the hub lets requests wait where it is absent.
    #[serde(rename = "patience_ms", default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
    /// The light tests that it repeats, by their digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<String>,
}

/// The light tests that an agent repeats by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingOrders {
    /// By this the agent says that it has them.
    pub digest: String,
    /// In no order.
    pub tests: Vec<StandingOrder>,
}

/// A light test that an agent repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingOrder {
    /// The name of its runs, but for the second at which their period begins.
    pub name: String,
    /// What is to be done.
    pub assignment: Assignment,
    /// Time from one to the next.
    #[serde(rename = "every_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub every: Duration,
    /// When in each period.
    #[serde(rename = "phase_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub phase: Duration,
}

/// How an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentHealth {
    /// Records that wait on its disk for delivery.
    pub spooled: u64,
    /// Records that it has dropped since its spool was full.
    pub dropped: u64,
    /// Tickets that it has refused.
    pub refused: u64,
}

/// What the hub has for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkReply {
    /// Runs to carry out.
    pub leases: Vec<LeasedRun>,
    /// Runs of other agents to answer.
    pub serve: Vec<Ticket>,
    /// Leases of the inventory that the hub does not know: dropped by the agent unless begun.
    pub unknown: Vec<LeaseName>,
    /// Whether the request counted.
    pub counted: Counted,
    /// What time it is at the hub. An agent whose clock is off judges tickets by it and dates results by it.
    #[serde(rename = "now_unix_ns", default, skip_serializing_if = "Option::is_none")]
    pub now: Option<WallTime>,
    /// How long the hub let the request wait.
    #[serde(rename = "waited_ms", with = "units::duration::as_ms")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub waited: Duration,
    /// Whether all facts of the host are wanted.
    pub facts: Facts,
    /// The light tests that the agent repeats, where it has others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<StandingOrders>,
    /// How often the rates of the host's transfers are wanted; not at all where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfers_every_ms: Option<u64>,
}

/// Whether all facts of the host are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Facts {
    /// They are: the newest that the hub has are old, or it has none.
    Wanted,
    /// They are not.
    Known,
}

/// Whether a request counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// It did.
    Counted,
    /// It came twice, or after a later one: it changed nothing.
    Old,
}

/// A run that an agent may carry out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeasedRun {
    /// The permission, with all that is to be done.
    pub ticket: Ticket,
    /// For how long it has the run, from the moment at which it sent its request, and what that waited.
    #[serde(rename = "ttl_ms", with = "units::duration::as_ms")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub ttl: Duration,
    /// The run itself, as the hub has it.
    pub row: serde_json::Value,
}

/// How long the hub lets a request wait at most: below what firewalls on the path forget connections after.
pub const LONGEST_WAIT: Duration = Duration::from_secs(20);
