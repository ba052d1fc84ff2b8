//! A simulated transfer for people.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::Table;
use path::PathElement;
use path::reason::Drop;
use sim::flow::{Flow, Outcome, Sample};
use sim::sender::{Amount, Limit};
use sim::spread::{Extent, Spread};
use units::{ByteCount, DataRate, PacketCount};

use super::plural::counted;
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
    let took = units::duration::show(outcome.duration);
    let rate = outcome.goodput().map_or_else(|| "nothing".to_owned(), |rate| rate.to_string());
    let algorithm = flow.sender.algorithm.name();
    let mut text = match flow.amount {
        Amount::Bytes(bytes) if !outcome.finished => {
            format!(
                "gave up after {took}: {} of {bytes} delivered, {rate} of goodput ({algorithm})\n",
                outcome.delivered
            )
        }
        _ => format!("{} in {took}: {rate} of goodput ({algorithm})\n", outcome.delivered),
    };
    if outcome.retransmits.get() > 0 {
        let _ = writeln!(
            text,
            "{} of {} segments retransmitted; {}",
            outcome.retransmits,
            outcome.sent,
            [
                counted(outcome.recoveries, "recovery", "recoveries"),
                counted(outcome.timeouts, "timeout", "timeouts"),
                counted(outcome.undone, "reduction undone", "reductions undone"),
            ]
            .join(", ")
        );
    }
    if outcome.mark_reductions > 0 {
        let _ = writeln!(text, "{}", counted(outcome.mark_reductions, "reduction by ECN", "reductions by ECN"));
    }
    text
}

/// What other seeds give: median, minimum and maximum of goodput, time and retransmits.
pub fn over_seeds(spread: &Spread) -> String {
    let mut table = Table::new();
    table.set_header([format!("OVER {} SEEDS", spread.seeds).as_str(), "MEDIAN", "MINIMUM", "MAXIMUM"]);
    let mut row = |name: &str, extent: Extent, show: fn(u64) -> String| {
        let [median, min, max] = [extent.median, extent.min, extent.max].map(show);
        table.add_row([name.to_owned(), median, min, max]);
    };
    row("goodput", spread.goodput_bps, |bps| DataRate::from_bps(bps).to_string());
    row("time", spread.took_us, |us| units::duration::show(Duration::from_micros(us)));
    row("retransmits", spread.retransmits, |count| count.to_string());
    let mut text = format!("\n{}", table::text(table));
    if spread.gave_up > 0 {
        let _ = writeln!(text, "gave up with {} of {} seeds", spread.gave_up, spread.seeds);
    }
    text
}

/// About ten rows.
fn over_time(outcome: &Outcome) -> String {
    let mut table = Table::new();
    table.set_header(["TO", "GOODPUT", "IN FLIGHT", "CWND", "RWND", "RTT", "RETRANSMITS", "LIMITED BY"]);
    let step = step_for(outcome.duration);
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
        before = (sample.at, sample.acked, sample.retransmits);
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
        sample.retransmits.saturating_sub(before.2).to_string(),
        name(sample.limit).to_owned(),
    ]
}

/// A step of 1, 2 or 5 times a power of ten, of which there are about ten.
pub fn step_for(took: Duration) -> Duration {
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
    table.set_header(["LIMITED BY", "TIME", "SHARE"]);
    let mut held: Vec<_> = outcome.limits.iter().filter(|(_, time)| !time.is_zero()).collect();
    held.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    for (limit, time) in held {
        let share = time.as_secs_f64() / outcome.duration.as_secs_f64().max(f64::MIN_POSITIVE);
        table.add_row([name(*limit).to_owned(), units::duration::show(*time), format!("{:.1} %", share * 100.0)]);
    }
    table::text(table)
}

fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::Window => "congestion window",
        Limit::ReceiveWindow => "receive window",
        Limit::SendBuffer => "send buffer",
        Limit::Application => "application",
        Limit::Host => "CPU or NIC",
        Limit::Pacing => "pacing",
    }
}

fn losses(flow: &Flow, outcome: &Outcome) -> String {
    let mut text = String::new();
    let each = [("forward", &flow.forward, &outcome.drops), ("reverse", &flow.reverse, &outcome.drops_back)];
    for (way, stages, drops) in each {
        for (element, reason, packets) in drops {
            let _ = writeln!(text, "dropped on the {way} path: {packets} {}", dropped_by(stages, *element, *reason));
        }
    }
    text
}

fn dropped_by(stages: &[PathElement], element: usize, reason: Drop) -> String {
    let kind = stages.get(element).map_or("element", |stage| stage.spec.kind());
    format!("({}) by element {element}, {kind}", reason.name())
}
