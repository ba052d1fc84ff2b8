//! Answers to small questions about a path.

use comfy_table::{CellAlignment, Table};
use model::played::Finding;
use model::probe::download::Download;
use model::probe::echo::EchoSeries;
use model::probe::hops::{Hop, Trace, TraceEnd};
use model::run::Outcome;
use units::duration::show;

use super::{json, played, table};

/// What was found, for people.
pub fn text(finding: &Finding) -> String {
    let mut text = match finding {
        Finding::Hops(trace) => hops(trace),
        Finding::Downloads(downloads) => files(downloads),
        Finding::Echo(series) => echoes(series),
        Finding::PathMtu(_) | Finding::Run(_) | Finding::Nothing { .. } => String::new(),
    };
    if text.is_empty() && failed(finding).is_none() {
        text = played::finding(finding, None).iter().map(|line| format!("{line}\n")).collect();
    }
    text
}

/// A document a line, as the schemas of `docs/formats/probe-*.schema.json` have them.
pub fn documents(finding: &Finding) -> anyhow::Result<Vec<u8>> {
    match finding {
        Finding::Echo(found) => json::document(found),
        Finding::PathMtu(found) => json::document(found),
        Finding::Hops(found) => json::document(found),
        Finding::Run(found) => json::document(found),
        Finding::Downloads(found) => Ok(found.iter().map(json::document).collect::<anyhow::Result<Vec<_>>>()?.concat()),
        Finding::Nothing { .. } => json::document(finding),
    }
}

/// What failed is told as an error.
fn failed(finding: &Finding) -> Option<&Outcome> {
    let outcome = match finding {
        Finding::Echo(found) => &found.outcome,
        Finding::PathMtu(found) => &found.outcome,
        Finding::Hops(found) => &found.outcome,
        Finding::Run(_) | Finding::Downloads(_) | Finding::Nothing { .. } => return None,
    };
    (*outcome != Outcome::Complete).then_some(outcome)
}

fn echoes(series: &EchoSeries) -> String {
    if series.outcome != Outcome::Complete {
        return String::new();
    }
    let summary = &series.summary;
    let rtt = &summary.rtt;
    let (sent, lost) = (rtt.sent.get(), rtt.lost.get());
    let mut text = format!("{} of {sent} echoes answered, {lost} lost", sent.saturating_sub(lost));
    for (count, what) in [
        (summary.duplicated, "answered twice"),
        (summary.reordered, "out of order"),
        (summary.late, "too late"),
        (summary.unsent, "not sent"),
    ] {
        if count.get() > 0 {
            text.push_str(&format!(", {} {what}", count.get()));
        }
    }
    text.push('\n');
    if let (Some(min), Some(median), Some(max)) = (rtt.min_us, rtt.median_us, rtt.max_us) {
        let [min, median, max] = [min, median, max].map(|us| show(std::time::Duration::from_micros(us)));
        text.push_str(&format!("RTT min/median/max {min}/{median}/{max}\n"));
    }
    text
}

fn hops(trace: &Trace) -> String {
    let mut all = Table::new();
    all.set_header(["HOP", "ADDRESS", "RTT", "ANSWERED"]);
    for hop in &trace.hops {
        all.add_row([hop.number.to_string(), addresses(hop), soonest(hop), answered(hop)]);
    }
    for column in [0, 2, 3] {
        if let Some(column) = all.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let end = match trace.end {
        TraceEnd::Destination => "",
        TraceEnd::Unreachable => "the last of them says that there is no way on\n",
        TraceEnd::Limit => "the destination has not answered within as many hops as were looked at\n",
        TraceEnd::Stopped => "stopped\n",
    };
    if trace.hops.is_empty() { String::new() } else { format!("{}{end}", table::text(all)) }
}

/// Several addresses are several ways.
fn addresses(hop: &Hop) -> String {
    let mut all: Vec<String> = hop.answers.iter().filter_map(|answer| Some(answer.address?.to_string())).collect();
    all.dedup();
    if all.is_empty() { "silent".to_owned() } else { all.join(" ") }
}

fn soonest(hop: &Hop) -> String {
    hop.answers.iter().map(|answer| answer.rtt).min().map(show).unwrap_or_default()
}

fn answered(hop: &Hop) -> String {
    format!("{} of {}", hop.answers.len(), hop.sent)
}

fn files(downloads: &[Download]) -> String {
    let mut all = Table::new();
    all.set_header(["CONNECTED", "FIRST BYTE", "IN ALL", "BYTES", "GOODPUT", ""]);
    for found in downloads {
        let time = |time: Option<std::time::Duration>| time.map(show).unwrap_or_default();
        let how = match &found.outcome {
            Outcome::Complete => String::new(),
            Outcome::Failed(failure) => failure.detail.clone(),
        };
        all.add_row([
            time(found.times.connected),
            time(found.times.first_byte),
            show(found.times.total),
            found.body.to_string(),
            found.goodput.map(|goodput| goodput.to_string()).unwrap_or_default(),
            how,
        ]);
    }
    for column in 0..5 {
        if let Some(column) = all.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table::text(all)
}
