//! Tests towards every hop of a way, and where it becomes bad.

use std::time::Duration;

use comfy_table::{CellAlignment, Table};
use diagnose::along::{Worse, turns};
use model::probe::along::{Along, HopTests};
use model::probe::hops::TraceEnd;
use model::run::{Outcome, Run};
use units::duration::show;

use super::table;

/// A line for each hop, then what becomes worse at which.
pub fn text(along: &Along) -> String {
    let mut text = hops(along);
    let turns = turns(along);
    if !along.hops.is_empty() {
        text.push('\n');
    }
    for (hop, worse) in &turns {
        let address = along.hops.iter().find(|tests| tests.number == *hop).map(|tests| tests.address);
        let address = address.map(|address| format!(" ({address})")).unwrap_or_default();
        text.push_str(&format!("hop {hop}{address}: {}\n", told(*worse)));
    }
    if turns.is_empty() && along.trace.end == TraceEnd::Destination {
        text.push_str(&no_turn(along));
    }
    match along.trace.end {
        TraceEnd::Destination | TraceEnd::Stopped => {}
        TraceEnd::Unreachable => text.push_str("the last hop says that there is no way on\n"),
        TraceEnd::Limit => text.push_str("the destination has not answered\n"),
    }
    text
}

/// Nothing becomes worse as far as was looked: a flow that reaches the last hop alone has nothing to be compared with.
fn no_turn(along: &Along) -> String {
    let reached = along.hops.iter().filter(|tests| tests.there.is_some() || tests.back.is_some()).count();
    if along.hops.len() > 1 && reached < 2 {
        let what = if reached == 1 { "a flow reached one hop alone" } else { "no flow reached a hop" };
        return format!(
            "loss and MTU become worse at no hop; goodput is not judged: {what}. A partner (`linerate serve` or `iperf3 -s`) on a hop \
             before it would tell\n"
        );
    }
    "nothing becomes worse at any hop\n".to_owned()
}

fn hops(along: &Along) -> String {
    let mut all = Table::new();
    all.set_header(["HOP", "ADDRESS", "RTT", "LOST", "MTU", "TCP FORWARD", "TCP REVERSE"]);
    // Behind the last that answered, silent hops are one line.
    let last = along.trace.hops.iter().rposition(|hop| hop.answers.iter().any(|answer| answer.address.is_some()));
    let (shown, silent) = along.trace.hops.split_at(last.map_or(0, |last| last + 1));
    for hop in shown {
        match along.hops.iter().find(|tests| tests.number == hop.number) {
            Some(tests) => all.add_row(row(tests)),
            None => all.add_row([hop.number.to_string(), "silent".to_owned()]),
        };
    }
    if let (Some(first), Some(last)) = (silent.first(), silent.last()) {
        let numbers = if first.number == last.number {
            first.number.to_string()
        } else {
            format!("{}-{}", first.number, last.number)
        };
        all.add_row([numbers, "silent".to_owned()]);
    }
    for column in [0, 2, 3, 4, 5, 6] {
        if let Some(column) = all.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if along.trace.hops.is_empty() { String::new() } else { table::text(all) }
}

fn row(tests: &HopTests) -> [String; 7] {
    let rtt = &tests.echo.summary.rtt;
    let mtu = tests.path_mtu.path_mtu.map(|mtu| mtu.get().to_string());
    [
        tests.number.to_string(),
        tests.address.to_string(),
        rtt.median_us.map(|us| show(Duration::from_micros(us))).unwrap_or_default(),
        format!("{} of {}", rtt.lost.get(), rtt.sent.get()),
        mtu.unwrap_or_default(),
        flow(tests.there.as_deref()),
        flow(tests.back.as_deref()),
    ]
}

fn flow(run: Option<&Run>) -> String {
    let Some(run) = run else { return "no partner".to_owned() };
    match &run.outcome {
        Outcome::Failed(failure) => format!("failed: {}", failure.kind.words()),
        Outcome::Complete => {
            let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
            totals.map(|total| total.goodput.to_string()).collect::<Vec<_>>().join(" ")
        }
    }
}

fn told(worse: Worse) -> String {
    match worse {
        Worse::Silence => "from here on nobody answers".to_owned(),
        Worse::Loss(part) => format!("from here on at least {:.1} % of echoes are lost", part * 100.0),
        Worse::Mtu { before, now } => {
            format!(
                "packets of more than {} B do not reach it, those of {} B reach the hop before",
                now.get(),
                before.get()
            )
        }
        Worse::There { before, now } => format!("a flow to it has {now}, one to a hop before has {before}"),
        Worse::Back { before, now } => format!("a flow from it has {now}, one from a hop before has {before}"),
    }
}
