//! Delay and loss of each direction.

use std::time::Duration;

use comfy_table::{CellAlignment, Table};
use model::probe::one_way::{
    ClockQuality, DelayHistogram, DelaySummary, HopCount, OneWayProbe, OneWayResult, PacketTotals, TwoWayProbe,
};
use units::duration::show;

use super::table;

/// Both directions of a one-way measurement; nothing where none was measured.
pub fn one_way(probe: &OneWayProbe) -> String {
    let forward = probe.forward.iter().map(|result| ("forward", result));
    let directions: Vec<(&str, &OneWayResult)> =
        forward.chain(probe.reverse.iter().map(|result| ("reverse", result))).collect();
    let Some((_, first)) = directions.first() else { return String::new() };
    let mut own_first = first.clocks;
    if probe.forward.is_none() {
        std::mem::swap(&mut own_first.sender_synchronised, &mut own_first.receiver_synchronised);
    }
    let rows = directions.iter().map(|(name, result)| Row {
        name,
        packets: &result.packets,
        delay: result.delay.as_ref(),
        hops: hops(&result.hops),
    });
    let mut text = rows_as_table("DELAY", rows);
    for (name, result) in &directions {
        text.push_str(&histogram(&format!("{name} delay"), &result.histogram));
    }
    text.push_str(&clocks(&own_first));
    text
}

/// A two-way measurement; nothing where no packet was sent.
pub fn two_way(probe: &TwoWayProbe) -> String {
    let Some(result) = &probe.result else { return String::new() };
    let directions = [("forward", &result.forward), ("reverse", &result.reverse)];
    let round = Row { name: "RTT", packets: &result.packets, delay: result.rtt.as_ref(), hops: String::new() };
    let rows = directions.iter().map(|(name, result)| Row {
        name,
        packets: &result.packets,
        delay: result.delay.as_ref(),
        hops: hops(&result.hops),
    });
    let mut text = rows_as_table("TIME", std::iter::once(round).chain(rows));
    if result.lost_at_end.get() > 0 {
        text.push_str(&format!(
            "the last {} packets had no answer: nobody knows in which direction they were lost\n",
            result.lost_at_end.get()
        ));
    }
    text.push_str(&histogram("RTT", &result.histogram));
    text.push_str(&clocks(&result.forward.clocks));
    text
}

/// One line of the table.
struct Row<'a> {
    name: &'a str,
    packets: &'a PacketTotals,
    delay: Option<&'a DelaySummary>,
    hops: String,
}

fn rows_as_table<'a>(of: &str, rows: impl Iterator<Item = Row<'a>>) -> String {
    let mut all = Table::new();
    all.set_header(["", "LOST", "DUP", "REORD", &format!("{of} MIN"), "MEDIAN", "P95", "MAX", "PDV", "HOPS"]);
    for row in rows {
        let packets = row.packets;
        let delay = |of: fn(&DelaySummary) -> i64| row.delay.map(|delay| signed(of(delay))).unwrap_or_default();
        all.add_row([
            row.name.to_owned(),
            format!("{} of {}", packets.lost.get(), packets.sent.get()),
            packets.duplicated.get().to_string(),
            packets.reordered.get().to_string(),
            delay(|delay| delay.min_ns),
            delay(|delay| delay.median_ns),
            delay(|delay| delay.p95_ns),
            delay(|delay| delay.max_ns),
            row.delay.map(|delay| show(Duration::from_nanos(delay.pdv_ns))).unwrap_or_default(),
            row.hops,
        ]);
    }
    for column in 1..10 {
        if let Some(column) = all.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table::text(all)
}

/// Below zero where two clocks differ by more than the delay.
fn signed(nanos: i64) -> String {
    let size = show(Duration::from_nanos(nanos.unsigned_abs()));
    if nanos < 0 { format!("-{size}") } else { size }
}

fn hops(counts: &[HopCount]) -> String {
    counts.iter().map(|count| count.hops.to_string()).collect::<Vec<_>>().join(", ")
}

/// Lines that a histogram has at most; ranges are joined until it has no more.
const LINES: i64 = 8;
/// Characters of its longest bar.
const BAR: u64 = 40;

/// How the delays are spread, in ranges of equal width from the least.
fn histogram(title: &str, histogram: &DelayHistogram) -> String {
    let (Some(first), Some(last)) = (histogram.buckets.first(), histogram.buckets.last()) else {
        return String::new();
    };
    let own = i64::try_from(histogram.width_ns).unwrap_or(i64::MAX).max(1);
    let spans = last.from_ns.saturating_sub(first.from_ns) / own + 1;
    let width = own.saturating_mul((spans.saturating_add(LINES - 1) / LINES).max(1));
    let mut counts = std::collections::BTreeMap::<i64, u64>::new();
    for bucket in &histogram.buckets {
        *counts.entry(bucket.from_ns.saturating_sub(first.from_ns) / width).or_default() += bucket.packets.get();
    }
    let most = counts.values().copied().max().unwrap_or(1);
    let mut text = format!("\n{title}, packets by ranges of {}\n", show(Duration::from_nanos(width.unsigned_abs())));
    for (index, count) in counts {
        let from = first.from_ns.saturating_add(index.saturating_mul(width));
        let bar = "#".repeat(usize::try_from((count * BAR).div_ceil(most)).unwrap_or(0));
        text.push_str(&format!("  from {:>8}  {bar} {count}\n", signed(from)));
    }
    text
}

/// What the clocks mean for one-way delays. The sender's is this host's.
fn clocks(clocks: &ClockQuality) -> String {
    let error = show(Duration::from_nanos(clocks.error_ns));
    let unsynchronised = match (clocks.sender_synchronised, clocks.receiver_synchronised) {
        (true, true) => {
            return format!(
                "\nboth clocks are synchronised: one-way delays are right within {error} (their own estimates)\n"
            );
        }
        (false, true) => "this host's clock is",
        (true, false) => "the server's clock is",
        (false, false) => "both clocks are",
    };
    format!(
        "\n{unsynchronised} not synchronised, by their own word: one-way delays have an unknown offset in\n\
         them; loss, reordering, PDV and RTT have not\n"
    )
}
