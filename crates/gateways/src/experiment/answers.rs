//! What an experiment answers: up to where each policy holds, the best settings of each, and how often a day passes without a restart.

use serde::Serialize;

use super::cell::Cell;
use super::summary::{CellSummary, Interval, Share};

/// What an experiment answers.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answers {
    /// Up to where each policy holds, for each number that varies and makes it harder: load, gateways that leave.
    pub limits: Vec<Limits>,
    /// The best combination of report settings for each policy.
    pub best_reports: Vec<BestReports>,
}

/// How far a policy holds along a number that varies.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limits {
    /// The setting that varies.
    pub along: String,
    /// Balancing policy, by the name that experiments have for it.
    pub policy: &'static str,
    /// The variant, and what else varies.
    pub settings: String,
    /// A limit for each claim.
    pub claims: Vec<ClaimLimit>,
}

/// Up to where a claim holds.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimLimit {
    /// What is promised of the policy, as a condition of a number.
    pub claim: &'static str,
    /// The last value up to which it holds at each value; absent where it does not even at the first.
    pub holds_to: Option<Point>,
    /// The next value, at which it does not; absent where it holds at all of them.
    pub fails_at: Option<Point>,
}

/// What was measured at a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// The value of the setting.
    pub at: f64,
    /// The mean of the measure that decides; absent where no run could measure it.
    pub measured: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// The best report settings of a policy, of those that were tried.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BestReports {
    /// Balancing policy, by the name that experiments have for it.
    pub policy: &'static str,
    /// Settings that were varied, as `name=value`.
    pub settings: String,
    /// Runs of it without a restart.
    pub without_restart: Share,
    /// Its spread of in flight per capacity.
    pub spread: Option<Interval>,
    /// How many combinations were tried.
    pub of: usize,
    /// Those that the intervals do not separate from it.
    pub not_separated: Vec<String>,
    /// The worst combination, and its spread.
    pub worst: String,
    /// Runs of the worst without a restart.
    pub worst_without_restart: Share,
    /// Spread of the worst.
    pub worst_spread: Option<Interval>,
}

/// A claim that a policy holds, and what decides.
struct Claim {
    says: &'static str,
    measure: fn(&CellSummary) -> Option<Interval>,
    holds: fn(&CellSummary) -> bool,
}

/// What is claimed. Where a measure has an interval, all of it is to be within the limit.
const CLAIMS: [Claim; 4] = [
    Claim {
        says: "no restart in any run",
        measure: |line| Some(Interval::of_share(line.without_restart)),
        holds: |line| line.without_restart.share >= 1.0,
    },
    Claim {
        says: "deletion p95 at most 1.2 times idle",
        measure: |line| line.estimate("deletion_p95_ratio"),
        holds: |line| is_below(line, "deletion_p95_ratio", 1.2),
    },
    Claim {
        says: "at most 1 % of deletions fail",
        measure: |line| line.estimate("deletions_failed_share"),
        holds: |line| is_below(line, "deletions_failed_share", 0.01),
    },
    Claim {
        says: "memory below 85 % of its limit in each run",
        measure: |line| line.estimate("largest_memory_share"),
        holds: |line| line.estimate("largest_memory_share").is_some_and(|share| share.largest < 0.85),
    },
];

fn is_below(line: &CellSummary, measure: &str, limit: f64) -> bool {
    line.estimate(measure).is_some_and(|value| value.high.unwrap_or(value.mean) <= limit)
}

impl Answers {
    /// What lines answer, each with the combination that it is of.
    #[must_use]
    pub fn of(lines: &[(&Cell, &CellSummary)]) -> Self {
        Self { limits: limits(lines), best_reports: best_reports(lines) }
    }
}

/// Lines that differ in one harder setting only, in the order of its values.
fn limits(lines: &[(&Cell, &CellSummary)]) -> Vec<Limits> {
    let mut found: Vec<(Limits, Vec<(f64, &CellSummary)>)> = Vec::new();
    for &(cell, line) in lines {
        for (name, value) in cell.varied.iter().filter(|(name, _)| HARDER.contains(&name.as_str())) {
            let Ok(value) = value.parse::<f64>() else { continue };
            let settings = others(cell, name);
            let is_it = |(limits, _): &&mut (Limits, Vec<_>)| {
                limits.along == *name && limits.policy == cell.policy && limits.settings == settings
            };
            match found.iter_mut().find(is_it) {
                Some((_, points)) => points.push((value, line)),
                None => {
                    let limits = Limits { along: name.clone(), policy: cell.policy, settings, claims: Vec::new() };
                    found.push((limits, vec![(value, line)]));
                }
            }
        }
    }
    let with_claims = |(mut limits, mut points): (Limits, Vec<(f64, &CellSummary)>)| {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        limits.claims = CLAIMS.iter().map(|claim| claim.limit(&points)).collect();
        limits
    };
    found.into_iter().filter(|(_, points)| points.len() > 1).map(with_claims).collect()
}

/// Settings whose larger values are harder for every policy.
const HARDER: [&str; 3] = ["utilisation", "removed", "transfers.offered-gbit-s"];

impl Claim {
    fn limit(&self, points: &[(f64, &CellSummary)]) -> ClaimLimit {
        let held = points.iter().take_while(|(_, line)| (self.holds)(line)).count();
        let point = |(at, line): &(f64, &CellSummary)| {
            let measured = (self.measure)(line);
            Point {
                at: *at,
                measured: measured.map(|interval| interval.mean),
                low: measured.and_then(|interval| interval.low),
                high: measured.and_then(|interval| interval.high),
            }
        };
        let last = held.checked_sub(1).and_then(|at| points.get(at));
        ClaimLimit { claim: self.says, holds_to: last.map(point), fails_at: points.get(held).map(point) }
    }
}

/// For each policy the best of the combinations of `fuzz`, `ping` and so on, in one variant.
fn best_reports(lines: &[(&Cell, &CellSummary)]) -> Vec<BestReports> {
    let varies = |cell: &Cell| cell.varied.iter().any(|(name, _)| name.starts_with("reports."));
    let mut policies: Vec<&'static str> = Vec::new();
    for (cell, _) in lines.iter().filter(|(cell, _)| varies(cell)) {
        if !policies.contains(&cell.policy) {
            policies.push(cell.policy);
        }
    }
    let of_policy = |policy: &&'static str| {
        let mut of: Vec<&CellSummary> =
            lines.iter().filter(|(cell, _)| cell.policy == *policy && varies(cell)).map(|(_, line)| *line).collect();
        of.sort_by(|one, other| {
            rank(one)
                .into_iter()
                .zip(rank(other))
                .fold(std::cmp::Ordering::Equal, |order, (one, other)| order.then(one.total_cmp(&other)))
        });
        let (best, worst) = (of.first()?, of.last()?);
        let spread = |line: &CellSummary| line.estimate("spread_in_flight");
        Some(BestReports {
            policy,
            settings: best.settings.clone(),
            without_restart: best.without_restart,
            spread: spread(best),
            of: of.len(),
            not_separated: of
                .iter()
                .skip(1)
                .filter(|other| overlaps(best, other))
                .map(|line| line.settings.clone())
                .collect(),
            worst: worst.settings.clone(),
            worst_without_restart: worst.without_restart,
            worst_spread: spread(worst),
        })
    };
    policies.iter().filter_map(of_policy).collect()
}

/// Fewest runs with a restart, then the smallest spread.
fn rank(line: &CellSummary) -> [f64; 2] {
    let spread = line.estimate("spread_in_flight").map_or(f64::INFINITY, |interval| interval.mean);
    [1.0 - line.without_restart.share, spread]
}

/// Whether both have as many calm runs, as far as is known, and spreads whose intervals meet.
fn overlaps(one: &CellSummary, other: &CellSummary) -> bool {
    let calm =
        one.without_restart.low <= other.without_restart.high && other.without_restart.low <= one.without_restart.high;
    let ends = |line: &CellSummary| {
        line.estimate("spread_in_flight").and_then(|interval| Some((interval.low?, interval.high?)))
    };
    let meet = ends(one).zip(ends(other)).is_some_and(|(one, other)| one.0 <= other.1 && other.0 <= one.1);
    calm && meet
}

/// The variant and what varies besides a setting.
fn others(cell: &Cell, name: &str) -> String {
    let varied = cell.varied.iter().filter(|(other, _)| other != name).map(|(name, value)| format!("{name} {value}"));
    cell.variant.iter().cloned().chain(varied).collect::<Vec<_>>().join(", ")
}
