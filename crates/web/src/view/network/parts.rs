//! Nodes, links and suspects as a page has them.

use model::run::RunId;
use serde::{Deserialize, Serialize};
use units::DataRate;

/// The network of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkView {
    /// The round that it is known from.
    pub round: RunId,
    /// What its plan is called.
    pub title: String,
    /// The incident whose suspect is marked; the diagnosis of the round is, where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident: Option<String>,
    /// What is suspect, the most likely first; empty where nothing is.
    pub suspects: Vec<SuspectPart>,
    /// Hosts and routers.
    pub nodes: Vec<NetworkNode>,
    /// Links between them.
    pub links: Vec<NetworkLink>,
    /// Hosts beyond those that can be drawn.
    pub left_out: usize,
}

/// A part of the network that is suspect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuspectPart {
    /// Which part, in words.
    pub place: String,
    /// Why, in words.
    pub why: String,
    /// How likely it is, 0 to 1; absent where nobody has said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
}

/// A host, a router, or several hosts that stand alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkNode {
    /// Name of the host, address of the router, or how many hosts it stands for.
    pub label: String,
    /// What it is.
    pub kind: NodeKind,
    /// The attribute `site` of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The attribute `role` of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Names of all hosts that it stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Whether it is suspect.
    pub is_suspect: bool,
    /// Where it stands in a picture: the column, from 0.
    pub column: u32,
    /// Where it stands in its column, from 0 in steps of a half.
    pub row: f32,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// A host of the plan.
    Host,
    /// A router, known by its address from hops.
    Router,
    /// Several hosts of one site with the same links.
    Hosts,
    /// All that is between hosts of which no link is known.
    Unknown,
}

/// A link, or what is known to be between two nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkLink {
    /// Its name in the plan; empty where it has none.
    pub name: String,
    /// How it is known.
    pub kind: LinkKind,
    /// The nodes at its ends, by their numbers in `nodes`.
    pub between: [usize; 2],
    /// Its rate, where the plan has it.
    #[serde(rename = "rate_bps", default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<DataRate>,
    /// Tests of the round that cross it.
    pub tests: usize,
    /// Whether it is suspect.
    pub is_suspect: bool,
    /// The node towards which alone it is suspect, by its number; both directions are where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspect_towards: Option<usize>,
}

/// How a link is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// The plan declares it.
    Declared,
    /// Hops of a test showed it.
    Hops,
    /// An attribute of the host names what it runs on.
    DependsOn,
    /// Nobody knows what is there.
    Unknown,
}
