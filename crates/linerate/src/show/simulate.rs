//! A simulated transfer for people.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::Table;
use path::Stage;
use path::reason::Drop;
use sim::flow::{Flow, Outcome, Sample};
use sim::sender::Limit;
use units::{ByteCount, DataRate, PacketCount};

use super::table;

pub fn text(flow: &Flow, outcome: &Outcome) -> String {
    let mut text = headline(flow, outcome);
    text.push('\n');
    text.push_str(&over_time(outcome));
    text.push('\n');
    text.push_str(&limits(outcome));
    let losses = losses(flow, outcome);
    if !losses.is_empty() {
        text.push('\n');
        text.push_str(&losses);
    }
    text
}

fn headline(flow: &Flow, outcome: &Outcome) -> String {
    let took = units::duration::show(outcome.took);
    let rate = outcome.goodput().map_or_else(|| "nothing".to_owned(), |rate| rate.to_string());
    let mut text = format!("{} in {took}: {rate} of goodput ({})\n", outcome.delivered, flow.sender.algorithm.name());
    if outcome.resent.get() > 0 {
        let _ = writeln!(
            text,
            "{} of {} segments sent again; {}",
            outcome.resent,
            outcome.sent,
            [
                counted(outcome.recoveries, "recovery", "recoveries"),
                counted(outcome.timeouts, "timeout", "timeouts"),
                counted(outcome.undone, "reduction taken back", "reductions taken back"),
            ]
            .join(", ")
        );
    }
    if outcome.mark_reductions > 0 {
        let _ = writeln!(text, "{}", counted(outcome.mark_reductions, "reduction by marks", "reductions by marks"));
    }
    text
}

fn counted(count: u32, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// About ten rows.
fn over_time(outcome: &Outcome) -> String {
    let mut table = Table::new();
    table.set_header(["TO", "GOODPUT", "IN FLIGHT", "WINDOW", "OFFERED", "ROUND TRIP", "SENT AGAIN", "HELD BY"]);
    let step = step_for(outcome.took);
    let mut before = (Duration::ZERO, ByteCount::ZERO, PacketCount::ZERO);
    let mut due = step;
    for (index, sample) in outcome.samples.iter().enumerate() {
        let is_last = index + 1 == outcome.samples.len();
        if sample.at < due && !is_last {
            continue;
        }
        while due <= sample.at {
            due += step;
        }
        table.add_row(row(sample, before));
        before = (sample.at, sample.acked, sample.resent);
    }
    table::text(table)
}

fn row(sample: &Sample, before: (Duration, ByteCount, PacketCount)) -> [String; 8] {
    let acked = sample.acked.saturating_sub(before.1);
    let rate = DataRate::of(acked, sample.at - before.0).unwrap_or(DataRate::ZERO);
    [
        units::duration::show(sample.at),
        rate.to_string(),
        sample.in_flight.to_string(),
        sample.cwnd.to_string(),
        sample.offered.to_string(),
        units::duration::show(sample.rtt),
        sample.resent.saturating_sub(before.2).to_string(),
        name(sample.limit).to_owned(),
    ]
}

/// A step of 1, 2 or 5 times a power of ten, of which there are about ten.
fn step_for(took: Duration) -> Duration {
    let mut unit = Duration::from_millis(1);
    loop {
        for factor in [1, 2, 5] {
            if unit * factor * MOST_ROWS >= took {
                return unit * factor;
            }
        }
        unit *= 10;
    }
}

const MOST_ROWS: u32 = 14;

fn limits(outcome: &Outcome) -> String {
    let mut table = Table::new();
    table.set_header(["HELD BY", "TIME", "SHARE"]);
    let mut held: Vec<_> = outcome.limits.iter().filter(|(_, time)| !time.is_zero()).collect();
    held.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    for (limit, time) in held {
        let share = time.as_secs_f64() / outcome.took.as_secs_f64().max(f64::MIN_POSITIVE);
        table.add_row([name(*limit).to_owned(), units::duration::show(*time), format!("{:.1} %", share * 100.0)]);
    }
    table::text(table)
}

fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::Window => "congestion window",
        Limit::ReceiveWindow => "receiver's window",
        Limit::SendBuffer => "send buffer",
        Limit::Application => "application",
        Limit::Host => "processor or adapter",
        Limit::Pacing => "pacing",
    }
}

fn losses(flow: &Flow, outcome: &Outcome) -> String {
    let mut text = String::new();
    let each = [("there", &flow.there, &outcome.drops), ("back", &flow.back, &outcome.drops_back)];
    for (way, stages, drops) in each {
        for (element, reason, packets) in drops {
            let _ = writeln!(text, "dropped on the way {way}: {packets} {}", dropped_by(stages, *element, *reason));
        }
    }
    text
}

fn dropped_by(stages: &[Stage], element: usize, reason: Drop) -> String {
    let kind = stages.get(element).map_or("element", |stage| stage.spec.kind());
    format!("({}) by element {element}, {kind}", reason.name())
}
