//! What can be at fault: a host in one direction, all that share an attribute, a segment, a network.

use std::fmt;

use model::round::Passage;
use serde::{Deserialize, Serialize};

/// A part of the network that paths have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Element {
    /// Which part.
    #[serde(flatten)]
    pub place: FaultLocation,
    /// In which overlay or other network alone, where the others are well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
}

/// One of the networks that the ends of tests stand in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "network", content = "name")]
pub enum Network {
    /// That of the usual addresses.
    Usual,
    /// An overlay or other network by its name.
    Named(String),
}

/// Which part of the network.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FaultLocation {
    /// Hosts in one direction or in both.
    Hosts {
        /// Which hosts.
        who: Selector,
        /// What they do when it is slow.
        does: Doing,
        /// Who stands at the other end.
        other: Other,
    },
    /// Paths from some hosts to others.
    Between {
        /// Who sends.
        from: Selector,
        /// Who receives.
        to: Selector,
    },
    /// A segment in one direction.
    Passage(Passage),
    /// A segment in both directions.
    Segment {
        /// Name of the segment in the plan.
        name: String,
    },
    /// All paths.
    Everything,
}

/// Which hosts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Selector {
    /// One of them.
    Host {
        /// Name of the host in the plan.
        name: String,
    },
    /// All that depend on another member, and that member.
    On {
        /// The attribute that says so.
        attribute: String,
        /// The member on which they depend.
        host: String,
    },
    /// All that share an attribute.
    Having {
        /// Name of the attribute in the plan, such as `site`.
        attribute: String,
        /// Value that all of them have, and no other member.
        value: String,
    },
}

/// What hosts do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// They send payload.
    Sends,
    /// They receive payload.
    Receives,
    /// Either.
    Either,
}

/// Who stands at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Other {
    /// Anybody.
    Anybody,
    /// None of the same hosts: paths between these are exculpated.
    Elsewhere,
    /// One of the same hosts.
    Alike,
}

/// `receiver on naasc-vs-4, sender elsewhere`.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        match &self.network {
            None => Ok(()),
            Some(Network::Usual) => f.write_str(", outside overlays only"),
            Some(Network::Named(name)) => write!(f, ", in {name} only"),
        }
    }
}

impl fmt::Display for FaultLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hosts { who, other: Other::Alike, .. } => write!(f, "both ends {who}"),
            Self::Hosts { who, does, other } => {
                let (end, opposite) = match does {
                    Doing::Sends => ("sender", "receiver"),
                    Doing::Receives => ("receiver", "sender"),
                    Doing::Either => ("either end", "the other"),
                };
                write!(f, "{end} {who}")?;
                if *other == Other::Elsewhere { write!(f, ", {opposite} elsewhere") } else { Ok(()) }
            }
            Self::Between { from, to } => write!(f, "sender {from}, receiver {to}"),
            Self::Passage(passage) => write!(f, "segment {passage}"),
            Self::Segment { name } => write!(f, "segment {name}, both directions"),
            Self::Everything => f.write_str("every path"),
        }
    }
}

/// `na-arc-1`, `on naasc-vs-4`, `with site CERN`.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { name } => f.write_str(name),
            Self::On { host, .. } => write!(f, "on {host}"),
            Self::Having { attribute, value } => write!(f, "with {attribute} {value}"),
        }
    }
}
