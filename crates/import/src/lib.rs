//! What other tools have printed, read into our own nouns. Nothing here does I/O.
//!
//! * [`read`]: from the bytes of a file to the tests in it
//! * [`anomaly`]: what was not as it should be, by line
//! * [`observations`]: what the numbers of a test say, with the numbers
//! * [`limits`]: how much is read
//! * [`evidence`]: what stands beside the logs of tests: echoes, hops, sockets, counters, downloads
//! * [`signatures`]: lines that say something by themselves, by a table
//! * [`figures`]: numbers wherever a text has them, with what they are of
//! * [`round`]: files together as the round that a diagnosis works on
//! * [`perfsonar`]: results that perfSONAR archives
//! * `own`: documents that linerate prints itself: probes, runs, what was watched
//! * `iperf2`, `iperf3`, `nuttcp`: the grammars; `transcript`: a text in which they may stand one after the other
//! * `parsed`: what a tool has printed of one test, before it becomes a measurement in `assemble` and samples in `samples`
//!
//! The grammars are strict: a line that is none of theirs is an anomaly of the result. `docs/formats/import.md` says
//! which formats and versions are read, and what they cannot tell.

pub mod anomaly;
mod assemble;
mod command;
mod consistency;
mod counter_kinds;
mod declared;
pub mod evidence;
mod failure;
pub mod figures;
mod format;
mod imported;
mod iperf2;
mod iperf3;
pub mod limits;
mod merge;
mod nuttcp;
pub mod observations;
mod one_way;
mod options;
mod own;
mod parsed;
pub mod perfsonar;
mod proof;
mod pscheduler;
mod quantity;
mod readings;
pub mod round;
mod router_test;
mod rtt;
mod samples;
mod seen;
mod segments;
pub mod signatures;
mod sizes;
mod skipped;
mod so_far;
mod sockets;
mod source;
mod stamp;
mod stated_rate;
mod summed_test;
mod totals;
mod transcript;
mod transfers;

use std::collections::HashMap;

use anomaly::Anomalies;

pub use format::Format;
pub use imported::{Import, Imported};
pub use one_way::one_way_tool;
pub use quantity::time_at;
pub use rtt::StatedRtt;
pub use skipped::SkippedLines;
pub use stated_rate::{StatedKind, StatedRate};

/// Reads what other tools have printed. Which tools and which forms is found out; a text may hold several tests of
/// several tools, with the commands and prose between them, in UTF-8 or UTF-16, compressed by gzip or not.
#[must_use]
pub fn read(bytes: &[u8]) -> Import {
    let mut outside = Anomalies::default();
    let text = source::text(bytes, &mut outside);
    let (mut parsed, mut evidence, rest) = iperf3::documents::read(&text, &mut outside);
    let rest = source::unescaped(rest.as_deref().unwrap_or(&text));
    let (tasks, without) = pscheduler::extract(&rest);
    parsed.extend(tasks);
    let rest = without.as_deref().unwrap_or(&rest);
    let (found, without) = evidence::extract(rest, &mut outside);
    evidence.extend(found);
    let rows = signatures::beside(rest);
    evidence.extend(rows.into_iter().map(|(line, fact)| evidence::of_signature(line, fact)));
    evidence.sort_by_key(|item| item.line);
    let rest = without.as_deref().unwrap_or(rest);
    let mut prose = transcript::Prose::default();
    parsed.extend(transcript::read(rest, &mut outside, &mut prose));
    parsed.sort_by_key(|test| test.line);
    let mut tests: Vec<Imported> = parsed.into_iter().map(assemble::assemble).collect();
    leave_out_copies(&mut tests, &mut outside);
    Import {
        observations: observations::between(&tests),
        figures: figures::gather(&prose.lines, &tests, &evidence),
        tests,
        evidence,
        skipped: prose.skipped,
        stated_rtts: prose.stated_rtts,
        stated_rates: prose.stated_rates,
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
