//! What was found: rows with targets, and how they are printed.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::contests::contest::Contest;
use crate::machine::Machine;
use crate::pairs::Spread;

/// One line of the result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// Of linerate; absent where it could not be measured.
    pub(crate) ours: Option<f64>,
    /// Of the peer, where it can do the same.
    pub(crate) peer: Option<f64>,
    /// Unit of both.
    pub(crate) unit: String,
    /// Ours by the peer's, over neighbouring runs.
    pub(crate) ratio: Option<Spread>,
    /// What should be reached.
    pub(crate) target: Option<Target>,
    /// What else there is to say, such as why it could not be measured.
    pub(crate) note: Option<String>,
}

/// What a row should reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// The ratio is at least this.
    RatioAtLeast(f64),
    /// The ratio differs from one by at most so many per cent.
    RatioWithinPercent(f64),
    /// Our value is at least this.
    AtLeast(f64),
    /// Our value is at most this.
    AtMost(f64),
    /// Our value is zero, give or take this.
    Within(f64),
}

impl Row {
    /// A row that says something and has nothing to reach.
    pub(crate) fn new(what: impl Into<String>, ours: f64, unit: &str) -> Self {
        Self {
            what: what.into(),
            ours: Some(ours),
            peer: None,
            unit: unit.to_owned(),
            ratio: None,
            target: None,
            note: None,
        }
    }

    /// A row of what could not be measured.
    pub(crate) fn failed(what: impl Into<String>, error: &anyhow::Error) -> Self {
        Self { ours: None, note: Some(format!("could not run: {error:#}")), ..Self::new(what, 0.0, "") }
    }

    pub(crate) fn against(mut self, peer: f64, ratio: Spread) -> Self {
        (self.peer, self.ratio) = (Some(peer), Some(ratio));
        self
    }

    pub(crate) fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Whether the target is reached; `None` where there is none, or nothing was measured.
    pub(crate) fn reached(&self) -> Option<bool> {
        let ours = self.ours?;
        let ratio = self.ratio.map(|spread| spread.median);
        match self.target? {
            Target::RatioAtLeast(least) => ratio.map(|ratio| ratio >= least),
            Target::RatioWithinPercent(percent) => ratio.map(|ratio| (ratio - 1.0).abs() * 100.0 <= percent),
            Target::AtLeast(least) => Some(ours >= least),
            Target::AtMost(most) => Some(ours <= most),
            Target::Within(distance) => Some(ours.abs() <= distance),
        }
    }

    fn verdict(&self) -> &'static str {
        match (self.ours, self.target, self.reached()) {
            (None, ..) => "not run",
            (_, None, _) => "",
            (.., Some(true)) => "yes",
            (.., Some(false) | None) => "not reached",
        }
    }
}

/// The whole result.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    machine: Machine,
    /// Share of the machine's processors that others used meanwhile.
    pub(crate) others_used: f64,
    contests: Vec<Part>,
}

#[derive(Debug, Serialize)]
struct Part {
    title: &'static str,
    /// Who `peer` is.
    peer: &'static str,
    rows: Vec<Judged>,
}

#[derive(Debug, Serialize)]
struct Judged {
    #[serde(flatten)]
    row: Row,
    reached: Option<bool>,
}

impl Report {
    pub(crate) fn new(machine: Machine) -> Self {
        Self { machine, others_used: 0.0, contests: Vec::new() }
    }

    /// Adds what a contest found.
    pub(crate) fn add(&mut self, contest: Contest, found: anyhow::Result<Vec<Row>>) {
        let (title, peer) = (contest.title(), contest.peer());
        let rows = found.unwrap_or_else(|error| vec![Row::failed(title, &error)]);
        let judged = rows.into_iter().map(|row| Judged { reached: row.reached(), row }).collect();
        self.contests.push(Part { title, peer, rows: judged });
    }

    /// For a terminal.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n", self.machine);
        let _ = writeln!(text, "Other programs used {:.0} % of the CPUs meanwhile.", self.others_used * 100.0);
        for part in &self.contests {
            let width = part.rows.iter().map(|judged| label(&judged.row).chars().count()).fold(LEAST_WIDTH, usize::max);
            let _ = write!(text, "\n{:<1$}", part.title, width + 2);
            let _ = writeln!(text, "{:>10} {:>10}   {:<22} {:<12} reached", "linerate", part.peer, "ratio", "target");
            for Judged { row, .. } in &part.rows {
                text.push_str(line(row, width).trim_end());
                text.push('\n');
            }
        }
        text
    }
}

/// Columns of what was measured, where it takes no more.
const LEAST_WIDTH: usize = 46;

fn label(row: &Row) -> String {
    if row.unit.is_empty() { row.what.clone() } else { format!("{}, {}", row.what, row.unit) }
}

fn line(row: &Row, width: usize) -> String {
    let label = label(row);
    let ratio = row.ratio.map_or_else(String::new, |spread| spread.to_string());
    let target = row.target.map_or_else(String::new, |target| target.to_string());
    let mut line = format!(
        "  {label:<width$}{:>10} {:>10}   {ratio:<22} {target:<12} {}",
        number(row.ours),
        number(row.peer),
        row.verdict()
    );
    if let Some(note) = &row.note {
        let _ = write!(line, "\n      {note}");
    }
    line
}

/// Four digits or so.
fn number(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 1.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.3}"),
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::RatioAtLeast(least) => write!(f, ">= {least:.1} x"),
            Self::RatioWithinPercent(percent) => write!(f, "± {percent} %"),
            Self::AtLeast(least) => write!(f, ">= {least}"),
            Self::AtMost(most) => write!(f, "<= {most}"),
            Self::Within(distance) => write!(f, "± {distance}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(median: f64) -> Spread {
        Spread { low: median, median, high: median }
    }

    #[test]
    fn targets_are_judged_by_what_they_are_about() {
        let row = |target, by| Row::new("x", 3.0, "").against(1.0, ratio(by)).target(target).reached();
        assert_eq!(row(Target::RatioAtLeast(2.0), 1.99), Some(false));
        assert_eq!(row(Target::RatioAtLeast(2.0), 2.0), Some(true));
        assert_eq!(row(Target::RatioWithinPercent(1.0), 0.985), Some(false));
        assert_eq!(row(Target::RatioWithinPercent(1.0), 1.005), Some(true));
        assert_eq!(row(Target::AtLeast(3.1), 1.0), Some(false));
        assert_eq!(row(Target::AtMost(2.9), 1.0), Some(false));
        assert_eq!(row(Target::Within(3.0), 1.0), Some(true));
    }

    #[test]
    fn what_was_not_measured_is_never_reached() {
        let row = Row::failed("x", &anyhow::anyhow!("no iperf3")).target(Target::AtMost(1.0));
        assert_eq!(row.reached(), None);
        assert_eq!(row.verdict(), "not run");
    }
}
