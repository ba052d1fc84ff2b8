//! One line and a code for monitoring systems, by the Nagios plugin guidelines.

use std::fmt::Write;

use model::run::{Outcome, Run};
use units::DataRate;

use super::expectation::percent;

/// Goodputs below which to raise the alarm.
#[derive(Debug, Clone, Copy, Default)]
pub struct Thresholds {
    pub warning: Option<DataRate>,
    pub critical: Option<DataRate>,
}

/// A goodput beside its target.
struct Judged {
    /// What that is for a monitoring system; only where the user gives no threshold.
    state: (&'static str, u8),
    words: String,
}

impl Judged {
    fn of(run: &Run, goodput: DataRate) -> Self {
        let Ok(target) = predict::target::of_run(run) else {
            return Self { state: ("OK", 0), words: "not judged: no expected rate".to_owned() };
        };
        let part = target.part(goodput, None).unwrap_or(1.0);
        let slow = target.source.slow_below();
        let state = match part {
            part if part < slow / 2.0 => ("CRITICAL", 2),
            part if part < slow => ("WARNING", 1),
            _ => ("OK", 0),
        };
        Self { state, words: format!("{} of {}: {}", percent(part), target.rate, target.source.words()) }
    }
}

/// The line where nothing is known, and its code.
pub fn unknown(why: &str) -> (String, u8) {
    (format!("LINERATE UNKNOWN - {}\n", one_line(why)), 3)
}

/// A text as it may stand in the line: a bar would begin the performance data, a line break would end the line.
pub fn one_line(text: &str) -> String {
    text.replace(['|', '\n'], "/")
}

/// The line, and the code: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. Of a test both ways the slower one counts.
pub fn line(run: &Run, thresholds: Thresholds) -> (String, u8) {
    if let Outcome::Failed(failure) = &run.outcome {
        return unknown(&failure.detail);
    }
    let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
    let Some(slowest) = totals.min_by_key(|total| total.goodput) else {
        return unknown("nothing was measured");
    };
    let below = |threshold: Option<DataRate>| threshold.is_some_and(|threshold| slowest.goodput < threshold);
    let judged = Judged::of(run, slowest.goodput);
    let is_judged = thresholds.warning.is_none() && thresholds.critical.is_none();
    let (word, code) = match (below(thresholds.critical), below(thresholds.warning)) {
        (true, _) => ("CRITICAL", 2),
        (false, true) => ("WARNING", 1),
        (false, false) if is_judged => judged.state,
        (false, false) => ("OK", 0),
    };
    let range = |threshold: Option<DataRate>| threshold.map(|rate| format!("{}:", rate.bps())).unwrap_or_default();
    let mut line = format!(
        "LINERATE {word} - {} to {}, {} | goodput={};{};{};0",
        slowest.goodput,
        run.peer.target,
        one_line(&judged.words),
        slowest.goodput.bps(),
        range(thresholds.warning),
        range(thresholds.critical),
    );
    if let Some(retransmits) = slowest.retransmits {
        // Writing to a text cannot fail.
        let _ = write!(line, " retransmits={}c;;;0", retransmits.get());
    }
    let loaded = run.measurement.as_ref().and_then(|measurement| measurement.latency.as_ref()?.loaded);
    if let Some(median) = loaded.and_then(|loaded| loaded.median_us) {
        let _ = write!(line, " rtt={median}us;;;0");
    }
    line.push('\n');
    (line, code)
}
