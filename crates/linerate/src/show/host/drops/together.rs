//! Hosts side by side.

use std::fmt::Write;

use comfy_table::Table;
use host::drops::series::Series;
use host::drops::together::{align, ties};

use super::{MOST_ROWS, frames, right};
use crate::show::table;

/// Adds what several hosts have in common.
pub(super) fn add(text: &mut String, all: &[Series]) {
    if all.len() < 2 {
        return;
    }
    let ties = ties(all);
    let _ = writeln!(text, "\ntogether: {} pairs of counters in {} common intervals", ties.tried, ties.common);
    if ties.common == 0 {
        text.push_str("  the hosts were not watched at the same time: nothing can be compared\n");
        return;
    }
    side_by_side(text, all);
    if ties.found.is_empty() {
        text.push_str("  no two counters of different hosts rise and fall together beyond chance\n");
        return;
    }
    let mut rows = Table::new();
    rows.set_header(["  ONE", "ANOTHER", "RANK CORRELATION", "IN PROPORTION", "P"]);
    for tie in ties.found.iter().take(MOST_ROWS) {
        rows.add_row([
            format!("  {} {}", tie.one.0, tie.one.1),
            format!("{} {}", tie.other.0, tie.other.1),
            format!("{:.2}", tie.correlation.spearman),
            format!("{:.2}", tie.correlation.pearson),
            frames::chance(tie.p),
        ]);
    }
    right(&mut rows, &[2, 3, 4]);
    text.push_str(&table::text(rows));
    text.push_str(
        "  What rises and falls together on several hosts comes to them from outside: look at what they share.\n",
    );
}

/// Lost packets of each host, interval by interval: the last ones.
fn side_by_side(text: &mut String, all: &[Series]) {
    let Some((first, others)) = all.split_first() else { return };
    let aligned: Vec<_> = others.iter().map(|other| align(&first.intervals, &other.intervals)).collect();
    let mut rows = Table::new();
    rows.set_header(["  LOST IN THE INTERVAL FROM"].into_iter().chain(all.iter().map(|each| each.place.as_str())));
    let skipped = first.intervals.len().saturating_sub(MOST_ROWS);
    for interval in &first.intervals[skipped..] {
        let mut row = vec![format!("  {}", crate::show::when::local(interval.start)), lost(interval)];
        for pairs in &aligned {
            let other = pairs.iter().find(|(one, _)| one.start == interval.start);
            row.push(other.map_or_else(|| "?".to_owned(), |(_, other)| lost(other)));
        }
        rows.add_row(row);
    }
    right(&mut rows, &(1..=all.len()).collect::<Vec<_>>());
    text.push_str(&table::text(rows));
}

/// Devices count a packet once; what is lost above them is counted elsewhere.
fn lost(interval: &model::host::drops::DropInterval) -> String {
    let of_devices = interval.counters.iter().filter(|each| {
        each.counter.layer == model::host::drops::Layer::Device
            && matches!(each.counter.name.as_str(), "rx_dropped" | "tx_dropped" | "rx_missed_errors")
    });
    of_devices.map(|each| each.increase).sum::<u64>().to_string()
}
