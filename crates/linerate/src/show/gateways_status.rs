//! What gateways report, for people, in 80 columns.

use comfy_table::Table;
use gateways::status::report::{GatewayStatus, StatusReport};

use super::{table, wrap};

/// The whole status.
pub fn text(report: &StatusReport) -> String {
    let mut out = Table::new();
    out.set_header(["GATEWAY", "HEARD", "IN FLIGHT", "Gbit/s", "MEMORY", "REFUSED", "DELETION", "LOAD", "NEXT"]);
    for one in &report.gateways {
        out.add_row(row(one));
    }
    let mut text = table::text(out);
    let spread = report
        .spread_in_flight
        .map_or("not known: too few gateways report it".to_owned(), |spread| format!("{spread:.2}"));
    text.push_str(&format!("\nspread of in flight per capacity: {spread}\n"));
    match (&report.policy_unknown, report.would_wait) {
        (Some(why), _) => text.push_str(&format!("next choices of {}: not known: {why}\n", report.policy)),
        (None, Some(0) | None) => text.push_str(&format!("NEXT: of the next 100 requests by {}\n", report.policy)),
        (None, Some(wait)) => {
            text.push_str(&format!("NEXT: of the next 100 requests by {}; {wait} would wait\n", report.policy));
        }
    }
    let excluded: Vec<String> = report
        .gateways
        .iter()
        .filter_map(|one| Some(format!("  {}: {}\n", one.gateway, one.excluded.as_ref()?)))
        .collect();
    if !excluded.is_empty() {
        text.push_str(&format!("\nexcluded:\n{}", excluded.concat()));
    }
    if report.findings.is_empty() {
        text.push_str("\nno finding in what was reported\n");
    } else {
        text.push_str("\nfindings (linerate why --explain NAME):\n");
        for finding in &report.findings {
            let gateway = finding.gateway.as_ref().map_or(String::new(), |gateway| format!(" {gateway}"));
            text.push_str(&format!("  {}{gateway}:\n    {}\n", finding.cause, finding.evidence));
        }
    }
    report.anomalies.iter().for_each(|anomaly| text.push_str(&wrap::text(&format!("note: {anomaly}"), 0)));
    text
}

fn row(one: &GatewayStatus) -> [String; 9] {
    let shown = |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
    let memory = match (one.memory_share, one.memory_gb) {
        (Some(share), _) => format!("{:.0} %", 100.0 * share),
        (None, Some(gb)) => format!("{gb:.1} GB"),
        (None, None) => "-".to_owned(),
    };
    let name: String = if one.gateway.chars().count() > LONGEST_NAME {
        one.gateway.chars().take(LONGEST_NAME - 1).chain(['~']).collect()
    } else {
        one.gateway.clone()
    };
    [
        name,
        one.heard_s.map_or("never".to_owned(), |age| format!("{:.0} s", age.max(0.0))),
        shown(one.in_flight, 0),
        shown(one.rate_gbit_s, 2),
        memory,
        shown(one.refused, 0),
        one.deletion_s.map_or("-".to_owned(), |seconds| format!("{seconds:.1} s")),
        shown(one.load, 0),
        one.would_get.map_or("-".to_owned(), |count| count.to_string()),
    ]
}

/// What is left of 80 columns for a name.
const LONGEST_NAME: usize = 16;
