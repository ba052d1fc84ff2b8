//! One line and a code for monitoring systems, by the Nagios plugin guidelines.

use std::fmt::Write;

use model::measurement::DirectionTotal;
use model::run::{Outcome, Run};
use units::DataRate;

use super::expectation::percent;

/// Goodputs below which to raise the alarm.
#[derive(Debug, Clone, Copy, Default)]
pub struct Thresholds {
    pub warning: Option<DataRate>,
    pub critical: Option<DataRate>,
}

impl Thresholds {
    /// Thresholds decide where there are any; what is known of the target is said beside them.
    fn judge(self, goodput: DataRate, judged: Judged) -> Judged {
        let Some(least) = self.warning.or(self.critical) else { return judged };
        let below = |threshold: &DataRate| goodput < *threshold;
        let (state, reason) = match (self.critical.filter(below), self.warning.filter(below)) {
            (Some(critical), _) => (("CRITICAL", 2), format!("below {critical}")),
            (None, Some(warning)) => (("WARNING", 1), format!("below {warning}")),
            (None, None) => (("OK", 0), format!("not below {least}")),
        };
        let words = if judged.has_target { format!("{reason}, {}", judged.words) } else { reason };
        Judged { state, words, ..judged }
    }
}

/// What of the datagrams was lost; `None` over TCP, and where the receiver reported nothing.
fn lost_percent(total: &DirectionTotal) -> Option<f64> {
    let counts = total.datagrams.filter(|_| total.received.is_some())?;
    Some(counts.lost.share_of(counts.sent)? * 100.0)
}

/// A goodput beside its target.
struct Judged {
    /// What that is for a monitoring system; only where the user gives no threshold.
    state: (&'static str, u8),
    words: String,
    /// Without one, nothing but thresholds can judge.
    has_target: bool,
}

impl Judged {
    fn of(run: &Run, goodput: DataRate) -> Self {
        let Ok(target) = predict::target::of_run(run) else {
            return Self { state: ("OK", 0), words: "not judged: no expected rate".to_owned(), has_target: false };
        };
        let part = target.part(goodput, None).unwrap_or(1.0);
        let slow = target.source.slow_below();
        let state = match part {
            part if part < slow / 2.0 => ("CRITICAL", 2),
            part if part < slow => ("WARNING", 1),
            _ => ("OK", 0),
        };
        let words = format!("{} of {}: {}", percent(part), target.rate, target.source.words());
        Self { state, words, has_target: true }
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
    let judged = thresholds.judge(slowest.goodput, Judged::of(run, slowest.goodput));
    let (word, code) = judged.state;
    let lost = lost_percent(slowest);
    let range = |threshold: Option<DataRate>| threshold.map(|rate| format!("{}:", rate.bps())).unwrap_or_default();
    let mut line = format!(
        "LINERATE {word} - {} to {}, {}{} | goodput={};{};{};0",
        slowest.goodput,
        run.peer.target,
        lost.map(|lost| format!("{lost:.3} % of the datagrams lost, ")).unwrap_or_default(),
        one_line(&judged.words),
        slowest.goodput.bps(),
        range(thresholds.warning),
        range(thresholds.critical),
    );
    if let Some(retransmits) = slowest.retransmits {
        // Writing to a text cannot fail.
        let _ = write!(line, " retransmits={}c;;;0", retransmits.get());
    }
    if let Some(lost) = lost {
        let _ = write!(line, " loss={lost:.3}%;;;0;100");
    }
    let loaded = run.measurement.as_ref().and_then(|measurement| measurement.latency.as_ref()?.loaded);
    if let Some(median) = loaded.and_then(|loaded| loaded.median_us) {
        let _ = write!(line, " rtt={median}us;;;0");
    }
    line.push('\n');
    (line, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbit(rate: u64) -> DataRate {
        DataRate::from_bps(rate * 1_000_000)
    }

    #[test]
    fn thresholds_judge_what_has_no_target() {
        let of = |goodput: u64, warning: Option<u64>, critical: Option<u64>| {
            let unknown = Judged { state: ("OK", 0), words: "not judged".to_owned(), has_target: false };
            let thresholds = Thresholds { warning: warning.map(mbit), critical: critical.map(mbit) };
            let judged = thresholds.judge(mbit(goodput), unknown);
            format!("{} {}", judged.state.0, judged.words)
        };
        assert_eq!(of(200, None, None), "OK not judged");
        assert_eq!(of(200, Some(300), Some(100)), "WARNING below 300 Mbit/s");
        assert_eq!(of(90, Some(300), Some(100)), "CRITICAL below 100 Mbit/s");
        assert_eq!(of(400, Some(300), Some(100)), "OK not below 300 Mbit/s");
        assert_eq!(of(400, None, Some(100)), "OK not below 100 Mbit/s");
    }

    #[test]
    fn a_target_is_named_beside_a_threshold() {
        let slow = Judged { state: ("CRITICAL", 2), words: "20 % of 1 Gbit/s".to_owned(), has_target: true };
        let judged = Thresholds { warning: Some(mbit(300)), critical: None }.judge(mbit(200), slow);
        assert_eq!((judged.state, judged.words.as_str()), (("WARNING", 1), "below 300 Mbit/s, 20 % of 1 Gbit/s"));
    }
}
