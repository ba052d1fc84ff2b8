//! What a file holds, in our nouns.

use model::host::HostIdentity;
use model::measurement::Measurement;
use model::run::{Outcome, Peer, Role};
use model::series::RunSamples;
use model::spec::TestSpec;
use units::WallTime;

use super::anomaly::Anomaly;
use super::evidence::Evidence;
use super::figures::Figure;
use super::observations::Observation;
use super::{Format, SkippedLines, StatedRate, StatedRtt};

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Import {
    /// The tests, in the order of the file.
    pub tests: Vec<Imported>,
    /// What other tools beside those tests show, in the order of the file.
    pub evidence: Vec<Evidence>,
    /// RTTs that the text around the logs states.
    pub stated_rtts: Vec<StatedRtt>,
    /// Rates that it states, of links and of what is expected.
    pub stated_rates: Vec<StatedRate>,
    /// Numbers of the text and of all that was measured, in the order of the file.
    pub figures: Vec<Figure>,
    /// What was odd outside of any test.
    pub anomalies: Vec<Anomaly>,
    /// Lines that are no output of a tool: what people write around a log.
    pub skipped: SkippedLines,
    /// What two of its tests say together.
    pub observations: Vec<Observation>,
}

/// One test that another tool has run, as far as its output says.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// How it was written.
    pub format: Format,
    /// The line of the file at which it starts, from 1.
    pub line: usize,
    /// When it started, where that is printed.
    pub started: Option<WallTime>,
    /// Which side printed it.
    pub role: Role,
    /// The command, where it is printed as well.
    pub command: Vec<String>,
    /// What was asked for. What is not printed is the tool's own default, or what was seen; `assumed` lists those.
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
    /// What was printed of each stream's state, interval by interval.
    pub samples: RunSamples,
    /// What the numbers say.
    pub observations: Vec<Observation>,
    /// What was odd in its lines.
    pub anomalies: Vec<Anomaly>,
}
