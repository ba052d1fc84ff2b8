//! What programs are told of runs in an archive: `linerate runs export`, and `list`, `compare` and `check` with `--json`.

use serde::{Deserialize, Serialize};
use units::{DataRate, PacketCount, WallTime};

use crate::run::{Outcome, Role, Run, RunId};
use crate::series::RunSamples;
use crate::spec::{Direction, Protocol};

/// A run with its samples, as one document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunExport {
    /// All of it but its samples.
    pub run: Run,
    /// Samples of its streams at both ends, and its probes.
    pub samples: RunSamples,
}

/// A line of a list of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedRun {
    /// What `linerate runs show` finds it by.
    pub id: RunId,
    /// When it started, by the calendar of the host that stored it.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// Which side of the test that host was.
    pub role: Role,
    /// The other side, as it was named.
    pub peer: String,
    /// Who tested whom, by the names of a hub's plan; absent where the list is one host's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<ListedHosts>,
    /// Which protocol carried the payload.
    pub protocol: Protocol,
    /// Who sent, seen from the host that started the test.
    pub direction: Direction,
    /// Whether it worked, and why not.
    pub outcome: Outcome,
    /// Goodput of all directions together; `null` where nothing was measured.
    #[serde(rename = "goodput_bps")]
    pub goodput: Option<DataRate>,
    /// TCP segments retransmitted, in all directions together; `null` where nobody counted.
    pub retransmits: Option<PacketCount>,
}

/// The two hosts of a run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedHosts {
    /// The one that sends, or that asks.
    pub from: String,
    /// The one that receives, or that answers.
    pub to: String,
}

/// Two sets of runs beside each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunComparison {
    /// The runs that are the measure.
    pub a: ComparedRuns,
    /// Those that are held against them.
    pub b: ComparedRuns,
    /// What differs in what was asked for, in the hosts and in the first result of each set.
    pub differences: Vec<RunDifference>,
    /// Median goodput of B over that of A, less 1, in hundredths; absent where one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_percent: Option<f64>,
    /// Two-sided p of a Mann-Whitney test; absent with fewer than four runs on a side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_two_sided: Option<f64>,
    /// The same as a sentence.
    pub judgement: String,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRuns {
    /// Ids of its runs; the first stands for what was asked for and for the hosts.
    pub runs: Vec<RunId>,
    /// Median over its runs; absent where none has a goodput.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_goodput_bps: Option<f64>,
}

/// A fact that differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunDifference {
    /// What the fact is about: `test`, `this host`, `peer` or `result`.
    pub subject: String,
    /// Its name in a run's JSON, or that of the result's line.
    pub fact: String,
    /// Its value in A; `null` where A lacks it.
    pub a: Option<String>,
    /// Its value in B; `null` where B lacks it.
    pub b: Option<String>,
}

/// What a check of a whole archive found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArchiveCheck {
    /// Rows that are what was stored.
    pub sound: u64,
    /// Rows that an older version stored, without a checksum.
    pub without_checksum: u64,
    /// Rows that are not what was stored.
    pub damaged: Vec<DamagedRow>,
}

/// A row of the archive that is not what was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamagedRow {
    /// The table of the SQLite file.
    pub table: String,
    /// What `linerate` calls the row: the id of a run or round, the number of a change, where it can still be read.
    pub name: String,
}
