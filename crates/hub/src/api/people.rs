//! What people and scripts ask for.

use serde::{Deserialize, Serialize};
use units::WallTime;

use super::work::AgentHealth;
use crate::store::rows::AgentRow;

/// Whether the hub works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// `ok` where it does.
    pub status: String,
    /// Version of linerate that the hub runs.
    pub version: String,
}

/// All agents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentList {
    /// By name.
    pub agents: Vec<AgentInfo>,
}

impl AgentList {
    /// What a person may see of stored agents.
    #[must_use]
    pub fn of(rows: Vec<AgentRow>) -> Self {
        let info = |row: AgentRow| AgentInfo {
            name: row.name,
            address: row.address,
            joined: row.joined,
            heard: row.heard,
            version: row.version,
            health: row.health,
        };
        Self { agents: rows.into_iter().map(info).collect() }
    }
}

/// What the hub knows of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentInfo {
    /// Name of the agent, unique at the hub.
    pub name: String,
    /// By what other hosts reach it, where it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// When it joined.
    #[serde(rename = "joined_unix_ns")]
    pub joined: WallTime,
    /// When it was heard last.
    #[serde(rename = "heard_unix_ns", default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<WallTime>,
    /// Its version of linerate then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How it was then.
    pub health: AgentHealth,
}
