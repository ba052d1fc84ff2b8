//! What an experiment with gateways answers, for people.

use comfy_table::Table;
use gateways::experiment::answers::{Answers, BestReports, ClaimLimit, Limits, Point};
use gateways::experiment::report::{Interval, Share};

use super::table;

/// All answers; nothing where nothing varies that has one.
pub fn text(answers: &Answers) -> String {
    let mut text = String::new();
    let mut along: Vec<&str> = Vec::new();
    for limits in &answers.limits {
        if !along.contains(&limits.along.as_str()) {
            along.push(&limits.along);
        }
    }
    for along in along {
        text.push_str(&limits(along, &answers.limits));
    }
    if !answers.best_reports.is_empty() {
        text.push_str("\nwhich fuzz and which ping, by policy:\n");
        answers.best_reports.iter().for_each(|best| text.push_str(&best_reports(best)));
    }
    text
}

/// Up to where each policy holds along one number.
fn limits(along: &str, all: &[Limits]) -> String {
    let mut out = Table::new();
    let of: Vec<&Limits> = all.iter().filter(|limits| limits.along == along).collect();
    let mut header = vec!["POLICY".to_owned(), "HOLDS".to_owned()];
    header.extend(["UP TO", "THERE", "NO MORE AT", "THERE"].map(str::to_owned));
    out.set_header(header);
    for limits in of {
        for claim in &limits.claims {
            let policy = [limits.policy, &limits.settings].join(" ").trim().to_owned();
            let [holds, held, fails, failed] = cells(claim);
            out.add_row([policy, claim.claim.to_owned(), holds, held, fails, failed]);
        }
    }
    format!("\nup to which {along} each policy holds:\n{}", table::text(out))
}

fn cells(claim: &ClaimLimit) -> [String; 4] {
    let at = |point: Option<Point>, without: &str| point.map_or(without.to_owned(), |point| point.at.to_string());
    let there = |point: Option<Point>| point.map_or(String::new(), measured);
    [
        at(claim.holds_to, "nowhere"),
        there(claim.holds_to),
        at(claim.fails_at, "holds to the end"),
        there(claim.fails_at),
    ]
}

/// `0.98 (0.95 to 1.00)`.
fn measured(point: Point) -> String {
    match (point.measured, point.low.zip(point.high)) {
        (Some(mean), Some((low, high))) => format!("{mean:.3} ({low:.3} to {high:.3})"),
        (Some(mean), None) => format!("{mean:.3}"),
        (None, _) => "not measured".to_owned(),
    }
}

fn best_reports(best: &BestReports) -> String {
    let mut text = format!("  {}: {}, {}", best.policy, best.settings, runs(best.without_restart, best.spread));
    text.push_str(&format!("\n    of {} combinations", best.of));
    if !best.not_separated.is_empty() {
        text.push_str(&format!("; not separated from it: {}", best.not_separated.join(" | ")));
    }
    let worst = runs(best.worst_without_restart, best.worst_spread);
    text.push_str(&format!("\n    worst: {}, {worst}\n", best.worst));
    text
}

fn runs(calm: Share, spread: Option<Interval>) -> String {
    let percent = |part: f64| 100.0 * part;
    let spread = spread.map_or("not measured".to_owned(), |spread| match spread.high {
        Some(high) => format!("{:.3} ±{:.3}", spread.mean, high - spread.mean),
        None => format!("{:.3}", spread.mean),
    });
    format!(
        "{:.0} % of runs without a restart ({:.0} to {:.0}), spread {spread}",
        percent(calm.share),
        percent(calm.low),
        percent(calm.high)
    )
}
