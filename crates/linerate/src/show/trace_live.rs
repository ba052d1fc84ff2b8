//! Transfers of a live capture.

use std::fmt::Write as _;
use std::time::Duration;

use capture::live::{LiveInterval, LiveTransfer};
use chart::grid::short;
use comfy_table::{CellAlignment, Table};
use units::{ByteCount, DataRate, WallTime};

use super::plural::counted;
use super::{table, when, wrap};

/// Rows of a screen.
const ROWS: usize = 15;

/// A screen at a terminal: rows are cut where they are too long.
pub fn screen(interval: &LiveInterval) -> String {
    let width = wrap::terminal_width().unwrap_or(80);
    let text = format!("{}\n{}", head(interval), rows(interval));
    let cut = |line: &str| line.chars().take(width).collect::<String>() + "\n";
    foreign::terminal::lines(&text).lines().map(cut).collect()
}

/// The same for a file or a pipe, with its time.
pub fn lines(interval: &LiveInterval) -> String {
    let at = WallTime::from_unix_nanos(interval.at_ns.unsigned_abs());
    let text = format!("{}  {}\n{}", when::local(at), head(interval), rows(interval));
    foreign::terminal::lines(&text).into_owned()
}

fn head(interval: &LiveInterval) -> String {
    let total: u64 = interval.transfers.iter().map(|one| one.goodput_bps).sum();
    let missed = if interval.missed > 0 { format!(", {} missed", interval.missed) } else { String::new() };
    format!(
        "{}: {}, goodput {}, {}{missed}",
        interval.device,
        counted(interval.connections, "connection", "connections"),
        DataRate::from_bps(total),
        counted(interval.packets, "packet", "packets"),
    )
}

fn rows(interval: &LiveInterval) -> String {
    if interval.transfers.is_empty() {
        return "  nothing moves\n".to_owned();
    }
    let mut rows = Table::new();
    rows.set_header(["  FROM", "TO", "RATE", "RTT", "FLIGHT", "RETR", "LIMITED BY"]);
    for one in interval.transfers.iter().take(ROWS) {
        rows.add_row(row(one));
    }
    for column in 2..6 {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = table::text(rows);
    let more = interval.transfers.len().saturating_sub(ROWS) as u64 + interval.left_out;
    if more > 0 {
        let _ = writeln!(text, "  and {more} more (--json has 1000)");
    }
    text
}

fn row(one: &LiveTransfer) -> [String; 7] {
    let rtt = |ns: i64| units::duration::show(Duration::from_nanos(ns.max(0).unsigned_abs()));
    [
        format!("  {}", one.from),
        one.to.to_string(),
        short(DataRate::from_bps(one.goodput_bps)),
        one.rtt_ns.map_or_else(|| "-".to_owned(), rtt),
        ByteCount::new(one.flight_bytes).to_string(),
        one.retransmits.to_string(),
        format!("{} ({:.0} %)", one.limit.name(), one.limit_share * 100.0),
    ]
}
