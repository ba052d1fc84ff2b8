//! What a host drops, for people: a line for each interval, a table while it goes on, a summary at the end.

mod flows;
mod frames;
pub mod live;
mod together;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::net::IpAddr;
use std::time::Duration;

use comfy_table::{CellAlignment, Table};
use host::drops::series::{Grown, Series};
use model::host::drops::{DropInterval, Increase, RetransmitWay};
use units::duration;

use crate::show::{table, when};

/// One interval: what grew, the most first.
pub fn line(interval: &DropInterval) -> String {
    let clean = foreign::terminal::lines_of(interval);
    let interval = clean.as_ref().unwrap_or(interval);
    let mut grown: Vec<&Increase> = interval.counters.iter().filter(|each| each.increase > 0).collect();
    grown.sort_by(|one, other| other.increase.cmp(&one.increase).then_with(|| one.counter.cmp(&other.counter)));
    let shown = grown.iter().take(MOST_IN_A_LINE);
    let parts: Vec<String> =
        shown.map(|each| format!("{} {}", each.counter, rate(each.increase, interval.length))).collect();
    let more = grown.len().saturating_sub(MOST_IN_A_LINE);
    let more = if more == 0 { String::new() } else { format!(", {more} more") };
    let what = if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") };
    format!("{}  {}  {what}{more}\n", when::local(interval.start), interval.place())
}

/// What all intervals say.
pub fn summary(all: &[Series]) -> String {
    let mut text = String::new();
    for series in all {
        host(&mut text, series);
    }
    together::add(&mut text, all);
    text
}

fn host(text: &mut String, series: &Series) {
    let intervals = series.intervals.len();
    let counted = if intervals == 1 { "1 interval".to_owned() } else { format!("{intervals} intervals") };
    let _ = writeln!(text, "\n{}: {} in {counted}", series.place, duration::show(series.length()));
    let grown: Vec<Grown> = series.grown().into_iter().filter(|each| each.total > 0).collect();
    if grown.is_empty() {
        let known = series.grown().len();
        let _ = writeln!(text, "  none of {known} counters grew");
    } else {
        text.push_str(&counters(&grown, series));
    }
    reasons(text, series);
    frames::add(text, series);
    sockets(text, series);
    retransmits(text, series);
    unknown(text, series);
}

fn counters(grown: &[Grown], series: &Series) -> String {
    let mut rows = Table::new();
    rows.set_header(["  COUNTER", "GREW BY", "RATE", "IN INTERVALS", "WHICH MEANS"]);
    for each in grown {
        rows.add_row([
            format!("  {}", each.counter),
            each.total.to_string(),
            rate(each.total, series.length()),
            format!("{} of {}", each.active, each.known),
            each.kind.words().to_owned(),
        ]);
    }
    right(&mut rows, &[1, 2, 3]);
    table::text(rows)
}

/// Packets by the kernel's reason; of the whole host.
fn reasons(text: &mut String, series: &Series) {
    let known: Vec<_> = series.intervals.iter().filter_map(|each| each.reasons.as_ref()).collect();
    let Some(first) = known.first() else { return };
    if let Err(missing) = &first.reading {
        let _ = writeln!(text, "  why packets were dropped is not known: {missing} (root of the machine may ask)");
        return;
    }
    let mut sums: BTreeMap<(&str, Option<u16>), u64> = BTreeMap::new();
    let mut missed = 0;
    for reasons in known.iter().filter_map(|each| each.value()) {
        missed += reasons.missed;
        for each in &reasons.packets {
            *sums.entry((&each.reason, each.ethertype)).or_default() += each.packets;
        }
    }
    if sums.is_empty() {
        return;
    }
    let mut rows = Table::new();
    rows.set_header(["  DROPPED BY THE KERNEL, WHOLE HOST", "PROTOCOL", "PACKETS", "RATE"]);
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|&(key, packets)| (std::cmp::Reverse(packets), key));
    for ((reason, ethertype), packets) in sums.into_iter().take(MOST_ROWS) {
        let protocol = ethertype.map(frames::protocol).unwrap_or_default();
        rows.add_row([format!("  {reason}"), protocol, packets.to_string(), rate(packets, series.length())]);
    }
    right(&mut rows, &[2, 3]);
    text.push_str(&table::text(rows));
    if missed > 0 {
        let _ = writeln!(text, "  {missed} more came too fast for their reasons to be read");
    }
}

/// Sockets of UDP whose own counts grew.
fn sockets(text: &mut String, series: &Series) {
    let flows = flows::dropped(series);
    if flows.is_empty() {
        return;
    }
    let mut rows = Table::new();
    rows.set_header(["  DROPPED BY SOCKET (UDP)", "FROM", "DATAGRAMS", "RATE", "IN INTERVALS"]);
    for flow in flows.iter().take(MOST_ROWS) {
        rows.add_row([
            format!("  {}", flow.local),
            flow.remote.map_or_else(|| "all".to_owned(), |remote| remote.to_string()),
            flow.datagrams.to_string(),
            rate(flow.datagrams, series.length()),
            format!("{} of {}", flow.active, flow.known),
        ]);
    }
    right(&mut rows, &[2, 3, 4]);
    text.push_str(&table::text(rows));
}

fn retransmits(text: &mut String, series: &Series) {
    let mut peers: BTreeMap<IpAddr, u64> = BTreeMap::new();
    let mut ways = BTreeSet::new();
    for known in series.intervals.iter().filter_map(|each| each.retransmits.value()) {
        ways.insert(known.way == RetransmitWay::Events);
        for (&peer, &segments) in &known.peers {
            *peers.entry(peer).or_default() += segments;
        }
    }
    if peers.is_empty() {
        return;
    }
    let at_least = if ways.contains(&false) { "AT LEAST" } else { "SEGMENTS" };
    let mut rows = Table::new();
    rows.set_header(["  RETRANSMITTED TO", at_least, "PER HOUR"]);
    let mut peers: Vec<_> = peers.into_iter().collect();
    peers.sort_by_key(|&(peer, segments)| (std::cmp::Reverse(segments), peer));
    for (peer, segments) in peers.into_iter().take(MOST_ROWS) {
        rows.add_row([format!("  {peer}"), segments.to_string(), an_hour(segments, series.length())]);
    }
    right(&mut rows, &[1, 2]);
    text.push_str(&table::text(rows));
}

/// What is not known, once each; counters of one device that came or went are one line.
fn unknown(text: &mut String, series: &Series) {
    let unknown = series.unknown();
    for (what, why) in unknown.iter().take(MOST_ROWS) {
        let _ = writeln!(text, "  not known in some intervals: {what}: {why}");
    }
    if unknown.len() > MOST_ROWS {
        let _ = writeln!(text, "  and {} more that are not known in some intervals", unknown.len() - MOST_ROWS);
    }
}

/// Packets a second, with as many digits as say something.
#[expect(clippy::cast_precision_loss, reason = "no interval has 2^53 packets")]
fn rate(count: u64, time: Duration) -> String {
    if time.is_zero() {
        return String::new();
    }
    let rate = count as f64 / time.as_secs_f64();
    let digits = if rate < 1.0 { 2 } else { usize::from(rate < 10.0) };
    format!("{rate:.digits$}/s")
}

#[expect(clippy::cast_precision_loss, reason = "no interval has 2^53 packets")]
fn an_hour(count: u64, time: Duration) -> String {
    if time.is_zero() {
        return String::new();
    }
    format!("{:.0}", count as f64 / time.as_secs_f64() * 3600.0)
}

fn right(rows: &mut Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

const MOST_IN_A_LINE: usize = 4;
const MOST_ROWS: usize = 12;
