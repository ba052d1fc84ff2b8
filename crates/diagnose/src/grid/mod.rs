//! The grid of a round: who sends stands in rows, who receives in columns, and each cell says how much of what it should do
//! a pair does. `docs/rounds.md` tells how to read it.
//!
//! * `mod`: what a grid is
//! * `make`: from a round to its grids, one for each network and each thing that was measured
//! * `rates`: rates of pairs, and what they are judged against
//!
//! Cells are those of [`crate::locate::round`], so that the grid and the diagnosis never disagree about what is bad.

mod make;
mod rates;

use model::expectation::Bound;
use model::run::RunId;
use model::target::TargetSource;
use serde::{Deserialize, Serialize};
use units::{DataRate, PacketCount, WallTime};

use crate::locate::cell::Symptom;

pub use make::grids;

/// All grids of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grids {
    /// Version of this format; readers refuse what is newer than they are.
    pub format: u32,
    /// Round whose tests fill the cells.
    pub round: RunId,
    /// What its plan is called.
    pub title: String,
    /// When it started.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// The grids: goodput first, and the usual network before others.
    pub grids: Vec<Grid>,
}

impl Grids {
    /// The version of the format that this program writes.
    pub const FORMAT: u32 = 1;
}

/// One thing that was measured, between hosts that met in one network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grid {
    /// What was measured.
    pub what: Symptom,
    /// The network; the usual addresses of hosts where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The hosts, in the order of rows and columns.
    pub hosts: Vec<String>,
    /// Hosts that were measured and do not stand in the grid: it has those of the worst pairs where they are more than 1,500.
    #[serde(rename = "hosts_left_out", default, skip_serializing_if = "is_none_left_out")]
    pub left_out: usize,
    /// A row for each host that sends, in it a cell for each that receives.
    pub rows: Vec<Vec<Cell>>,
}

/// Hosts of a grid at most: of so many it has two million cells.
pub const MOST_GRID_HOSTS: usize = 1_500;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_none_left_out(count: &usize) -> bool {
    *count == 0
}

/// What became of one pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Cell {
    /// A host and itself.
    Same,
    /// Nobody asked.
    NotPlanned,
    /// It was to be measured and was not.
    Failed {
        /// Why.
        reason: String,
    },
    /// It was measured, and nothing is known that it could be judged against.
    NotJudged {
        /// The rate; the median where several tests were run.
        #[serde(rename = "goodput_bps")]
        goodput: DataRate,
        /// What is not known, and what would make it known.
        reason: String,
    },
    /// It was measured.
    Measured(Measured),
}

/// What was measured between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measured {
    /// How good that is.
    pub grade: Grade,
    /// The part of what it should be.
    pub part: f64,
    /// The rate; the median where several tests were run.
    #[serde(rename = "goodput_bps", default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<DataRate>,
    /// What was lost in all tests of the pair, in a grid of loss: its `part` is what such loss leaves of the rate to TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// The rate that it should be.
    #[serde(rename = "should_bps", default, skip_serializing_if = "Option::is_none")]
    pub should: Option<DataRate>,
    /// How that is known; absent where the measure is that nothing is lost, and no size vanishes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<TargetSource>,
    /// What the path and the settings of both hosts allow, of transfers over TCP where that can be reckoned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Foreseen>,
}

/// Packets lost, of those sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loss {
    /// Never received.
    #[serde(rename = "lost_packets")]
    pub lost: PacketCount,
    /// Sent; of echoes, asked.
    #[serde(rename = "sent_packets")]
    pub sent: PacketCount,
}

/// What a transfer reaches in simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Foreseen {
    /// Payload a second; the median where several tests were run.
    #[serde(rename = "goodput_bps")]
    pub goodput: DataRate,
    /// What part of it was measured, 0 to 1 and above.
    pub attained: f64,
    /// What holds it.
    pub limit: Bound,
    /// The same in words, with its size.
    pub because: String,
}

/// How good a pair is, as a school would say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Grade {
    /// At least 90 hundredths of what it should be.
    A,
    /// At least 70.
    B,
    /// At least 40.
    C,
    /// At least 10.
    D,
    /// Less.
    F,
}

impl Grade {
    /// All of them, with the least part that each takes.
    pub const ALL: [(Self, f64); 5] = [(Self::A, 0.9), (Self::B, 0.7), (Self::C, 0.4), (Self::D, 0.1), (Self::F, 0.0)];

    /// The grade of a part.
    #[must_use]
    pub fn of(part: f64) -> Self {
        Self::ALL.iter().find(|(_, least)| part >= *least).map_or(Self::F, |(grade, _)| *grade)
    }

    /// One capital letter, as it is shown and stored.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::A => 'A',
            Self::B => 'B',
            Self::C => 'C',
            Self::D => 'D',
            Self::F => 'F',
        }
    }
}

/// The schema of grids, for `docs/formats/`.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Grids)
}
