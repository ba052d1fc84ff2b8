//! A round: a whole plan, run once. What diagnosis works on.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::{DataRate, WallTime};

use crate::host::snapshot::Snapshot;
use crate::played::Finding;
use crate::quality::EmulatorConditions;
use crate::run::RunId;
use crate::series::RunSamples;

/// One execution of a plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Round {
    /// Version of this format; readers refuse what is newer than they are.
    pub format: u32,
    /// Its name in the archive.
    pub id: RunId,
    /// What the plan is called.
    pub title: String,
    /// When it started, by the calendar of the host that led it.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// How long it took.
    #[serde(rename = "elapsed_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub elapsed: Duration,
    /// The hosts that the plan names: those that test, and those that only stand on the way.
    pub members: Vec<Member>,
    /// Links between hosts, as far as they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Segment>,
    /// What was tested, in the order in which it began.
    pub tests: Vec<Tested>,
}

/// What a list shows of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundSummary {
    /// Id under which the archive keeps it.
    pub id: RunId,
    /// When it started.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// How long it took.
    #[serde(rename = "elapsed_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub elapsed: Duration,
    /// What its plan is called.
    pub title: String,
    /// Hosts that the plan names.
    pub hosts: u32,
    /// Those that took no part, or ceased to.
    pub hosts_failed: u32,
    /// Tests.
    pub tests: u32,
    /// Those that gave no result.
    pub tests_failed: u32,
}

impl Round {
    /// The version of the format that this program writes.
    pub const FORMAT: u32 = 1;
}

/// A host of a round.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Member {
    /// Its name in the plan.
    pub name: String,
    /// What distinguishes it, by what the plan calls it: `role`, `site`, `vm-host`, `nic`. Where a value is the name of
    /// another member, this host depends on that one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// All its facts before the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<Snapshot>>,
    /// All its facts after the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Box<Snapshot>>,
    /// Why it took no part, or ceased to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What is odd about it, and keeps it from nothing: another version of linerate, a clock that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl Member {
    /// A host of which nothing is known but its name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            attributes: BTreeMap::new(),
            before: None,
            after: None,
            failure: None,
            remarks: Vec::new(),
        }
    }

    /// Why it took no part, or ceased to, in words that stand behind its name: what programs said of it begins with the name as well.
    #[must_use]
    pub fn why_absent(&self) -> Option<&str> {
        let why = self.failure.as_deref()?;
        Some(why.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(why))
    }

    /// Whether it lives in a machine, as a guest does in its host: one of its attributes has that name.
    #[must_use]
    pub fn lives_in(&self, machine: &str) -> bool {
        self.attributes.values().any(|value| value == machine)
    }
}

/// A link between two members, which tests may share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Segment {
    /// Name of the segment, unique in the round.
    pub name: String,
    /// The members at its ends.
    pub between: [String; 2],
    /// Its rate, where the plan knows it.
    #[serde(rename = "rate_bps", default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<DataRate>,
    /// The interfaces of these members that it joins, where they are known. Else they are found by their addresses, where
    /// the two have one network in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<[String; 2]>,
}

/// A test of a round and what it found.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tested {
    /// What it is called.
    pub label: String,
    /// The end that asked.
    pub from: Endpoint,
    /// The end that answered.
    pub to: Endpoint,
    /// When it began, after the start of the round.
    #[serde(rename = "began_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub began: Duration,
    /// The rate that it should reach, where the plan says so.
    #[serde(rename = "expected_bps", default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<DataRate>,
    /// The segments on the way from the one that asked to the one that answered; empty where the way is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<Passage>,
    /// The segments on the way back; empty where it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub way_back: Vec<Passage>,
    /// How well the lab's emulator kept its times meanwhile; absent on real networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulator: Option<EmulatorConditions>,
    /// Which attempt this is, from 1, where earlier ones were disturbed and are left out; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// What was found.
    pub finding: Finding,
    /// The samples of a run; in the archive where they are absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Box<RunSamples>>,
}

/// Where a test begins or ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Endpoint {
    /// Name of a member of the round.
    pub host: String,
    /// The overlay or other network that the member was reached in; its usual address where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
}

/// One segment in one direction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Passage {
    /// The segment's name.
    pub segment: String,
    /// The member at its far end.
    pub towards: String,
}

/// `host`, or `host.network`.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        self.network.iter().try_for_each(|network| write!(f, ".{network}"))
    }
}

impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} towards {}", self.segment, self.towards)
    }
}
