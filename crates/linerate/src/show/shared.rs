//! Simulated transfers that share a path, for people.

use std::fmt::Write;

use comfy_table::Table;
use sim::flow::Outcome;
use sim::shared::{Shared, Transfer};
use units::DataRate;

use super::table;

pub fn text(shared: &Shared, outcomes: &[Outcome]) -> String {
    let mut text = format!("{} transfers over one path\n\n", outcomes.len());
    text.push_str(&each(shared, outcomes));
    text.push('\n');
    text.push_str(&together(shared, outcomes));
    text
}

/// A row for each transfer.
fn each(shared: &Shared, outcomes: &[Outcome]) -> String {
    let mut table = Table::new();
    let heads = ["", "BY", "BEGINS", "LASTS", "DELIVERED", "GOODPUT", "WHILE ALL SENT", "RETRANSMITS", "MIN RTT"];
    table.set_header(heads);
    let rates = shared.together(outcomes).map(|together| together.rates);
    for (index, (transfer, outcome)) in shared.transfers.iter().zip(outcomes).enumerate() {
        let rate = rates.as_ref().and_then(|rates| rates.get(index)).copied();
        table.add_row(row(index + 1, transfer, outcome, rate));
    }
    table::text(table)
}

fn row(number: usize, transfer: &Transfer, outcome: &Outcome, rate: Option<DataRate>) -> [String; 9] {
    let shown = |rate: Option<DataRate>| rate.map_or_else(|| "-".to_owned(), |rate| rate.to_string());
    [
        number.to_string(),
        transfer.sender.algorithm.name().to_owned(),
        units::duration::show(transfer.start),
        units::duration::show(outcome.duration) + if outcome.finished { "" } else { ", given up" },
        outcome.delivered.to_string(),
        shown(outcome.goodput()),
        shown(rate),
        outcome.retransmits.to_string(),
        units::duration::show(outcome.min_rtt),
    ]
}

fn together(shared: &Shared, outcomes: &[Outcome]) -> String {
    let Some(together) = shared.together(outcomes) else {
        return "There was no time in which all of them sent.\n".to_owned();
    };
    let sum = together.rates.iter().fold(DataRate::ZERO, |sum, rate| DataRate::from_bps(sum.bps() + rate.bps()));
    let mut text = String::new();
    let _ = writeln!(
        text,
        "All sent from {} to {}: {sum} together, fairness {:.3} (1: equal shares, {:.2}: one has all)",
        units::duration::show(together.from),
        units::duration::show(together.to),
        together.fairness(),
        1.0 / f64::from(u32::try_from(outcomes.len()).unwrap_or(u32::MAX)),
    );
    text
}
