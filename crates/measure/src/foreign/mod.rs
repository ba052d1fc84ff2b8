//! What other tools have printed, read into our own nouns. Nothing here does I/O.
//!
//! * [`read`]: from the bytes of a file to the tests in it
//! * [`anomaly`]: what was not as it should be, by line
//! * [`remarks`]: what the numbers of a test say, with the numbers
//! * [`limits`]: how much is read
//! * `iperf3`, `nuttcp`: the grammars; `transcript`: a text in which they may stand one after the other
//! * `told`: what a tool has told, before it becomes a measurement in `assemble` and samples in `samples`
//!
//! The grammars are strict: a line that is none of theirs is an anomaly of the result. `docs/formats/import.md` says
//! which formats and versions are read, and what they cannot tell.

pub mod anomaly;
mod asked;
mod assemble;
mod command;
mod failure;
mod iperf3;
pub mod limits;
mod nuttcp;
mod quantity;
pub mod remarks;
mod samples;
mod segments;
mod stamp;
mod told;
mod totals;
mod transcript;

use std::fmt;

use model::host::HostIdentity;
use model::measurement::Measurement;
use model::run::{Outcome, Peer, Role};
use model::series::RunSamples;
use model::spec::TestSpec;
use units::WallTime;

use anomaly::{Anomalies, Anomaly};
use remarks::Remark;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Import {
    /// The tests, in the order of the file.
    pub tests: Vec<Imported>,
    /// What was odd outside of any test.
    pub anomalies: Vec<Anomaly>,
    /// What two of its tests say together.
    pub remarks: Vec<Remark>,
}

/// One test that another tool has run, as far as its output tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// How it was written.
    pub format: Format,
    /// The line of the file at which it starts, from 1.
    pub line: usize,
    /// When it started, where that is told.
    pub started: Option<WallTime>,
    /// Which side printed it.
    pub role: Role,
    /// The command, where it is printed as well.
    pub command: Vec<String>,
    /// What was asked for. What is not told is the tool's own default, or what was seen; `assumed` lists those.
    pub spec: TestSpec,
    /// What the output does not tell and the specification must say, one line each.
    pub assumed: Vec<String>,
    /// The host that printed it.
    pub local: HostIdentity,
    /// The other host.
    pub peer: Peer,
    /// Whether it worked.
    pub outcome: Outcome,
    /// What was found.
    pub measurement: Option<Measurement>,
    /// What was told of each stream's state, interval by interval.
    pub samples: RunSamples,
    /// What the numbers say.
    pub remarks: Vec<Remark>,
    /// What was odd in its lines.
    pub anomalies: Vec<Anomaly>,
}

/// How a test was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// What `iperf3 -J` prints.
    Iperf3Json,
    /// What `iperf3 --json-stream` prints.
    Iperf3JsonStream,
    /// What `iperf3` prints for people.
    Iperf3Text,
    /// What `nuttcp` prints for people.
    NuttcpText,
    /// What `nuttcp -fparse` prints.
    NuttcpPairs,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Iperf3Json => "iperf3 JSON",
            Self::Iperf3JsonStream => "iperf3 JSON, one event a line",
            Self::Iperf3Text => "iperf3 text",
            Self::NuttcpText => "nuttcp text",
            Self::NuttcpPairs => "nuttcp key=value",
        })
    }
}

/// Reads what another tool has printed. Which tool and which form is found out; a text may hold several tests of
/// several tools, with the commands between them.
#[must_use]
pub fn read(bytes: &[u8]) -> Import {
    let mut outside = Anomalies::default();
    let kept = bytes.get(..limits::MAX_BYTES).unwrap_or(bytes);
    if kept.len() < bytes.len() {
        outside.add(1, format!("at most {} bytes", limits::MAX_BYTES), &format!("{} bytes", bytes.len()));
    }
    let text = String::from_utf8_lossy(kept);
    // The mark that some editors put before UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let told = if starts_as_json(text) {
        iperf3::documents::read(text, &mut outside)
    } else {
        transcript::read(text, &mut outside)
    };
    let tests: Vec<Imported> = told.into_iter().map(assemble::assemble).collect();
    Import { remarks: remarks::between(&tests), tests, anomalies: outside.into_list() }
}

/// JSON may follow the command that printed it, and a warning or two.
fn starts_as_json(text: &str) -> bool {
    text.lines().take(limits::LINES_BEFORE_JSON).any(|line| line.starts_with('{'))
}
