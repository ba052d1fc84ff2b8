//! Telemetry of switches, for people.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::{CellAlignment, Table};
use model::int::{HopTelemetry, IntInterval};
use units::ByteCount;
use units::duration::show;

use crate::show::{table, when};

/// One interval: what came, what is missing, the fullest queues.
pub fn text(interval: &IntInterval) -> String {
    let mut text =
        format!("{}  {} reports in {} datagrams", when::local(interval.start), interval.reports, interval.datagrams);
    let lost: u64 = interval.senders.iter().map(|sender| sender.lost).sum();
    let parts = [
        (lost, "lost by sequence number"),
        (interval.dropped_at_socket.unwrap_or(0), "dropped at this socket"),
        (interval.malformed, "malformed"),
        (interval.incomplete, "without every hop"),
        (interval.not_kept, "beyond the most that are kept"),
    ];
    for (count, what) in parts.iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, ", {count} {what}");
    }
    text.push('\n');
    if interval.hops.is_empty() {
        return text;
    }
    let mut hops: Vec<&HopTelemetry> = interval.hops.iter().collect();
    hops.sort_by_key(|hop| (std::cmp::Reverse(hop.most_occupancy), hop.node));
    let mut rows = Table::new();
    rows.set_header(["  SWITCH", "PORT", "QUEUE", "REPORTS", "QUEUE MEAN", "MOST", "LATENCY MEAN", "MOST"]);
    for hop in hops.into_iter().take(MOST_SHOWN) {
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let depth = |value: Option<u64>| match interval.cell_bytes {
            Some(cell) => {
                value.map(|value| ByteCount::new(value.saturating_mul(cell.into())).to_string()).unwrap_or_default()
            }
            None => number(value),
        };
        let time = |value: Option<u64>| value.map(|value| show(Duration::from_nanos(value))).unwrap_or_default();
        rows.add_row([
            format!("  {}", hop.node),
            number(hop.egress_port.map(u64::from)),
            number(hop.queue.map(u64::from)),
            hop.reports.to_string(),
            depth(hop.mean_occupancy),
            depth(hop.most_occupancy),
            time(hop.mean_latency_ns),
            time(hop.most_latency_ns),
        ]);
    }
    for column in 1..8 {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    text + &table::text(rows)
}

const MOST_SHOWN: usize = 10;
