//! The intervals of a run, as a table and as lines while it goes on.

use comfy_table::{CellAlignment, Table};
use model::measurement::{Heading, Interval};
use model::run::Run;
use units::duration::show;

/// All intervals of a run.
pub fn table(run: &Run) -> String {
    let Some(measurement) = &run.measurement else { return String::new() };
    let mut table = Table::new();
    table.set_header(["SECONDS", "WAY", "RATE", "RETRANSMITS", "RTT", "CWND", "LOST/DATAGRAMS"]);
    for interval in &measurement.intervals {
        table.add_row([
            format!("{:.1}-{:.1}", interval.start.as_secs_f64(), interval.end.as_secs_f64()),
            way(interval.heading).to_owned(),
            interval.rate.to_string(),
            or_empty(interval.retransmits),
            interval.rtt.map(show).unwrap_or_default(),
            or_empty(interval.cwnd),
            datagrams(interval),
        ]);
    }
    for column in 2..=6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("\n{}", super::table::text(table))
}

/// One interval as a line of progress.
pub fn line(interval: &Interval) -> String {
    let mut line =
        format!("{:6.1} s  {:<3} {:>12}", interval.end.as_secs_f64(), way(interval.heading), interval.rate.to_string());
    if let Some(retransmits) = interval.retransmits {
        line.push_str(&format!("  retransmits {:>6}", retransmits.get()));
    }
    if let Some(cwnd) = interval.cwnd {
        line.push_str(&format!("  cwnd {:>8}", cwnd.to_string()));
    }
    if let Some(rtt) = interval.rtt {
        line.push_str(&format!("  rtt {:>8}", show(rtt)));
    }
    let datagrams = datagrams(interval);
    if !datagrams.is_empty() {
        line.push_str(&format!("  datagrams {datagrams}"));
    }
    line
}

/// Which way, as short as it gets.
pub fn way(heading: Heading) -> &'static str {
    match heading {
        Heading::Outbound => "out",
        Heading::Inbound => "in",
    }
}

fn datagrams(interval: &Interval) -> String {
    match (interval.lost, interval.datagrams) {
        (Some(lost), Some(came)) => format!("{lost} lost of {}", came.get() + lost.get()),
        (None, Some(sent)) => sent.to_string(),
        (_, None) => String::new(),
    }
}

fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
