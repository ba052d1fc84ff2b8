//! What other tools have printed, read into our own nouns. Nothing here does I/O.
//!
//! * [`read`]: from the bytes of a file to the tests in it
//! * [`anomaly`]: what was not as it should be, by line
//! * [`observations`]: what the numbers of a test say, with the numbers
//! * [`limits`]: how much is read
//! * [`evidence`]: what stands beside the logs of tests: echoes, hops, sockets, counters, downloads
//! * [`round`]: files together as the round that a diagnosis works on
//! * `iperf2`, `iperf3`, `nuttcp`: the grammars; `transcript`: a text in which they may stand one after the other
//! * `parsed`: what a tool has printed of one test, before it becomes a measurement in `assemble` and samples in `samples`
//!
//! The grammars are strict: a line that is none of theirs is an anomaly of the result. `docs/formats/import.md` says
//! which formats and versions are read, and what they cannot tell.

pub mod anomaly;
mod assemble;
mod command;
mod consistency;
pub mod evidence;
mod failure;
mod iperf2;
mod iperf3;
pub mod limits;
mod merge;
mod nuttcp;
pub mod observations;
mod options;
mod parsed;
mod proof;
mod quantity;
pub mod round;
mod rtt;
mod samples;
mod seen;
mod segments;
mod skipped;
mod sockets;
mod source;
mod stamp;
mod totals;
mod transcript;
mod transfers;

use std::collections::HashMap;
use std::fmt;

use model::host::HostIdentity;
use model::measurement::Measurement;
use model::run::{Outcome, Peer, Role};
use model::series::RunSamples;
use model::spec::TestSpec;
use units::WallTime;

use anomaly::{Anomalies, Anomaly};
use evidence::Evidence;
use observations::Observation;

pub use rtt::StatedRtt;
pub use skipped::SkippedLines;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Import {
    /// The tests, in the order of the file.
    pub tests: Vec<Imported>,
    /// What other tools beside those tests show, in the order of the file.
    pub evidence: Vec<Evidence>,
    /// RTTs that the text around the logs states.
    pub stated_rtts: Vec<StatedRtt>,
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

/// How a test was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// What `iperf3 -J` prints.
    Iperf3Json,
    /// What `iperf3 --json-stream` prints.
    Iperf3JsonStream,
    /// What `iperf3` prints for people.
    Iperf3Text,
    /// What `iperf` 2 prints for people or with `-y C`.
    Iperf2Text,
    /// What `nuttcp` prints for people.
    NuttcpText,
    /// What `nuttcp -fparse` prints.
    NuttcpPairs,
}

impl Format {
    /// Whether people were to read it, so that a line may have been cut or broken on its way.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Iperf3Text | Self::Iperf2Text | Self::NuttcpText | Self::NuttcpPairs)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Iperf3Json => "iperf3 JSON",
            Self::Iperf3JsonStream => "iperf3 JSON, one event a line",
            Self::Iperf3Text => "iperf3 text",
            Self::Iperf2Text => "iperf 2 text",
            Self::NuttcpText => "nuttcp text",
            Self::NuttcpPairs => "nuttcp key=value",
        })
    }
}

/// Reads what other tools have printed. Which tools and which forms is found out; a text may hold several tests of
/// several tools, with the commands and prose between them, in UTF-8 or UTF-16, compressed by gzip or not.
#[must_use]
pub fn read(bytes: &[u8]) -> Import {
    let mut outside = Anomalies::default();
    let text = source::text(bytes, &mut outside);
    let (mut parsed, mut evidence, rest) = iperf3::documents::read(&text, &mut outside);
    let rest = rest.as_deref().unwrap_or(&text);
    let (found, without) = evidence::extract(rest, &mut outside);
    evidence.extend(found);
    evidence.sort_by_key(|item| item.line);
    let rest = without.as_deref().unwrap_or(rest);
    let mut prose = transcript::Prose { skipped: SkippedLines::default(), stated_rtts: Vec::new() };
    parsed.extend(transcript::read(rest, &mut outside, &mut prose));
    parsed.sort_by_key(|test| test.line);
    let mut tests: Vec<Imported> = parsed.into_iter().map(assemble::assemble).collect();
    leave_out_copies(&mut tests, &mut outside);
    Import {
        observations: observations::between(&tests),
        tests,
        evidence,
        skipped: prose.skipped,
        stated_rtts: prose.stated_rtts,
        anomalies: outside.into_list(),
    }
}

/// A page may print one log twice. Two tests whose every number is the same are one.
fn leave_out_copies(tests: &mut Vec<Imported>, outside: &mut Anomalies) {
    let mut kept: Vec<Imported> = Vec::new();
    let mut last: HashMap<String, usize> = HashMap::new();
    for test in tests.drain(..) {
        let digest = test.measurement.as_ref().map(|found| format!("{:?} {:?}", found.totals, test.started));
        let earlier = digest.as_ref().and_then(|digest| last.get(digest)).and_then(|at| kept.get(*at));
        let copy = earlier.filter(|earlier| {
            earlier.measurement.as_ref().map(|found| &found.intervals)
                == test.measurement.as_ref().map(|found| &found.intervals)
                && test.samples == earlier.samples
                && !test.samples.streams.is_empty()
        });
        if let Some(copy) = copy {
            outside.add(test.line, "a test that was not printed before", &format!("that of line {} again", copy.line));
            continue;
        }
        if let Some(digest) = digest {
            last.insert(digest, kept.len());
        }
        kept.push(test);
    }
    *tests = kept;
}
