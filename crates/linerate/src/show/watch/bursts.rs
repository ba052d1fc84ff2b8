//! Bursts of a device, for people.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::{CellAlignment, Table};
use model::bursts::{Burst, BurstFlow, BurstReport, CountedBy, DirectionBursts, DropMoment};
use model::measurement::Heading;
use units::duration::show;
use units::{DataRate, WallTime};

use crate::show::plural::counted;
use crate::show::{table, when};

/// The whole report.
pub fn text(report: &BurstReport) -> String {
    let clean = foreign::terminal::lines_of(report);
    let report = clean.as_ref().unwrap_or(report);
    let line = report.line_rate.map_or_else(|| "line rate unknown".to_owned(), |rate| format!("line rate {rate}"));
    let source = match report.counted_by {
        CountedBy::Program => "each packet counted",
        CountedBy::Counters => "from counters",
    };
    let mut text = format!(
        "{} of {}: {} in buckets of {}, {source}, {line}\n",
        report.device,
        report.host,
        show(Duration::from_millis(units::duration::millis(report.length))),
        show(report.bucket)
    );
    for direction in &report.directions {
        one(&mut text, direction, report);
    }
    around(&mut text, report);
    for note in &report.notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

fn one(text: &mut String, direction: &DirectionBursts, report: &BurstReport) {
    let way = if direction.heading == Heading::Inbound { "in" } else { "out" };
    let marked = direction.marked.filter(|marked| marked.get() > 0);
    let marked = marked.map(|marked| format!(", {marked} marked CE")).unwrap_or_default();
    let retransmitted = direction.retransmissions.filter(|times| *times > 0);
    let retransmitted = retransmitted
        .map(|times| format!(", {}", counted(times, "retransmission", "retransmissions")))
        .unwrap_or_default();
    let packets = counted(direction.packets.get(), "packet", "packets");
    let _ = writeln!(text, "\n{way}: {} in {packets}{marked}{retransmitted}", direction.bytes);
    let of = |rate: DataRate| match report.line_rate.and_then(|line| rate.share_of(line)) {
        Some(share) => format!("{rate} ({:.0} %)", share * 100.0),
        None => rate.to_string(),
    };
    let _ = writeln!(
        text,
        "  mean {}, busiest second {}, busiest bucket {}",
        of(direction.mean),
        of(direction.busiest_second),
        of(direction.busiest_bucket)
    );
    if let Some(queue) = direction.queue {
        let _ = writeln!(text, "  a link of {} behind it would need a queue of {}", queue.rate, queue.most);
    }
    if report.line_rate.is_none() {
        return;
    }
    if direction.bursts == 0 {
        let _ = writeln!(text, "  no bucket above {} % of the line rate", report.threshold_percent);
        return;
    }
    let seconds = report.length.as_secs_f64().max(f64::MIN_POSITIVE);
    #[expect(clippy::cast_precision_loss, reason = "counts are shown, never computed with")]
    let (each_second, part) = (
        direction.bursts as f64 / seconds,
        direction.in_bursts.get() as f64 / (direction.bytes.get() as f64).max(1.0) * 100.0,
    );
    let _ = writeln!(
        text,
        "  {} above {} % of the line rate, {each_second:.2} a second, {part:.0} % of all bytes",
        counted(direction.bursts, "burst", "bursts"),
        report.threshold_percent
    );
    let _ = writeln!(text, "  length  {}", classes(&direction.by_length, |class| length(class, report.bucket)));
    let _ = writeln!(text, "  volume  {}", classes(&direction.by_volume, volume));
    text.push_str(&heat(direction, report));
    text.push_str(&largest(direction));
    text.push_str(&by_flow(&direction.largest));
}

/// `1 ms: 12, 2 ms: 4`: each class by its lower bound.
fn classes(counts: &[u64], bound: impl Fn(u32) -> String) -> String {
    let classes = counts.iter().zip(0_u32..).filter(|(count, _)| **count > 0);
    classes.map(|(count, class)| format!("{}: {count}", bound(class))).collect::<Vec<_>>().join(", ")
}

fn length(class: u32, bucket: Duration) -> String {
    show(bucket.saturating_mul(1_u32.checked_shl(class).unwrap_or(u32::MAX)))
}

fn volume(class: u32) -> String {
    match class {
        0 => "below 2 KiB".to_owned(),
        1..10 => format!("{} KiB", 1_u64 << class),
        10..20 => format!("{} MiB", 1_u64 << (class - 10)),
        _ => format!("{} GiB", 1_u64 << (class - 20).min(43)),
    }
}

/// Bursts over time: a row for each length, a column for each step; none where all of the watch is in one step.
fn heat(direction: &DirectionBursts, report: &BurstReport) -> String {
    let map = &direction.over_time;
    let steps = map.by_length.len();
    if steps < 2 {
        return String::new();
    }
    let joined = steps.div_ceil(MOST_COLUMNS);
    let columns: Vec<Vec<u64>> = map.by_length.chunks(joined).map(together).collect();
    let classes = columns.iter().map(Vec::len).max().unwrap_or(0);
    let column = map.step.saturating_mul(u32::try_from(joined).unwrap_or(u32::MAX));
    let mut text = format!("  bursts over time, from {}, each column {}\n", moment_of(report.start), show(column));
    for class in (0..classes).rev() {
        let cells: String = columns.iter().map(|counts| shade(counts.get(class).copied().unwrap_or(0))).collect();
        let length = length(u32::try_from(class).unwrap_or(u32::MAX), report.bucket);
        let _ = writeln!(text, "  {length:>8} |{}", cells.trim_end());
    }
    text.push_str("            . 1   : 2 to 9   + 10 to 99   # 100 and more\n");
    text
}

/// The sum of some steps.
fn together(steps: &[Vec<u64>]) -> Vec<u64> {
    let classes = steps.iter().map(Vec::len).max().unwrap_or(0);
    let of = |class: usize| steps.iter().filter_map(|step| step.get(class)).sum();
    (0..classes).map(of).collect()
}

const fn shade(count: u64) -> char {
    match count {
        0 => ' ',
        1 => '.',
        2..10 => ':',
        10..100 => '+',
        _ => '#',
    }
}

fn largest(direction: &DirectionBursts) -> String {
    let mut rows = Table::new();
    let mut header = vec!["  LARGEST", "LENGTH", "VOLUME", "PACKETS", "PEAK", "FLOWS", "CE"];
    header.extend(direction.retransmissions.map(|_| "RETR"));
    let columns = header.len();
    rows.set_header(header);
    for burst in direction.largest.iter().take(MOST_SHOWN) {
        let mut row = vec![
            format!("  {}", moment(burst)),
            show(burst.length),
            burst.bytes.to_string(),
            burst.packets.to_string(),
            burst.peak.to_string(),
            burst.flows.map(|flows| flows.to_string()).unwrap_or_default(),
            burst.marked.to_string(),
        ];
        row.extend(burst.retransmissions.map(|times| times.to_string()));
        rows.add_row(row);
    }
    for column in 1..columns {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table::text(rows)
}

/// Whose the largest bursts were: flows with a twentieth of one and more.
fn by_flow(bursts: &[Burst]) -> String {
    let mut text = String::new();
    for burst in bursts.iter().take(MOST_SHOWN) {
        let share = |flow: &BurstFlow| flow.bytes.get().saturating_mul(100) / burst.bytes.get().max(1);
        let parts: Vec<String> = burst
            .busiest
            .iter()
            .take(MOST_FLOWS)
            .filter(|flow| share(flow) >= LEAST_SHARE)
            .map(|flow| {
                let protocol = if flow.protocol == UDP { " UDP" } else { "" };
                format!("{} % {} → {}{protocol}", share(flow), flow.source, flow.destination)
            })
            .collect();
        let parts = if parts.is_empty() { "no flow with 5 % of it".to_owned() } else { parts.join(", ") };
        let is_known = burst.flows.is_some();
        if is_known {
            let _ = writeln!(text, "  {}  {parts}", moment(burst));
        }
    }
    text
}

/// `04:41:07.123`.
fn moment(burst: &Burst) -> String {
    precise(burst.start)
}

fn precise(time: WallTime) -> String {
    format!("{}.{:03}", moment_of(time), time.unix_nanos() / 1_000_000 % 1_000)
}

/// `04:41:07`.
fn moment_of(time: WallTime) -> String {
    let local = when::local(time);
    local.split_once(' ').map_or(local.as_str(), |(_, time)| time).to_owned()
}

fn around(text: &mut String, report: &BurstReport) {
    text.push('\n');
    if let (Some(retransmits), Some(dropped)) = (report.retransmits, report.dropped) {
        let retransmits = counted(retransmits.get(), "segment", "segments");
        let dropped = counted(dropped.get(), "packet", "packets");
        let _ = writeln!(text, "meanwhile {retransmits} retransmitted, {dropped} dropped at the device");
    }
    for drop in &report.drops {
        let _ = writeln!(text, "  {}", dropped(drop, report.bucket));
    }
    if report.more_drops > 0 {
        let _ = writeln!(text, "  and {} with drops", counted(report.more_drops, "more moment", "more moments"));
    }
    for connection in &report.busiest {
        let (sent, received) = (connection.sent, connection.received);
        let _ = writeln!(text, "  TCP {} {}: {sent} out, {received} in", connection.local, connection.peer);
    }
}

/// A moment with drops: what counted them, and the busiest bucket of each direction around it.
fn dropped(drop: &DropMoment, bucket: Duration) -> String {
    let counters: Vec<String> = drop.counters.iter().map(|each| format!("{} {}", each.counter, each.packets)).collect();
    let busiest = drop.directions.iter().filter_map(|direction| {
        let bytes = *direction.wire_bytes.iter().max()?;
        let rate = DataRate::of(units::ByteCount::new(bytes), bucket)?;
        let way = if direction.heading == Heading::Inbound { "in" } else { "out" };
        Some(format!("{way} {rate}"))
    });
    let busiest = busiest.collect::<Vec<_>>().join(", ");
    let after = precise(drop.after);
    format!(
        "dropped within {} of {after}: {}; busiest bucket around it: {busiest}",
        show(drop.within),
        counters.join(", ")
    )
}

const MOST_SHOWN: usize = 5;
const MOST_FLOWS: usize = 3;
/// In percent.
const LEAST_SHARE: u64 = 5;
/// Of the protocols of IP.
const UDP: u8 = 17;
/// A terminal of 80 columns holds them behind the lengths.
const MOST_COLUMNS: usize = 66;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_steps_keep_every_burst_and_each_count_has_its_sign() {
        assert_eq!(together(&[vec![1], vec![2, 3], Vec::new()]), [3, 3]);
        assert_eq!(together(&[]), Vec::<u64>::new());
        assert_eq!([0, 1, 9, 10, 99, 100].map(shade), [' ', '.', ':', '+', '+', '#']);
    }
}
