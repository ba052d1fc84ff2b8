//! Two captures of one connection, for a person.

use std::fmt::Write as _;
use std::time::Duration;

use capture::ends::{AckCounts, ClockDifference, Crossing, JoinedConnection, JoinedDocument, LossBurst};
use comfy_table::Table;
use units::ByteCount;

use super::plural::counted;
use super::table;

/// Connections that are shown in full.
const CONNECTIONS: usize = 3;
/// Bursts that are listed of a direction.
const BURSTS: usize = 6;

/// A screen: the connections with the most segments.
pub fn text(document: &JoinedDocument) -> String {
    let joined = &document.joined;
    let [first, second] = &document.files;
    let mut page = format!("{first} and {second}: {} in both\n", connections(joined.connections.len() as u64));
    for (count, file) in [(joined.only_in_first, first), (joined.only_in_second, second)] {
        if count > 0 {
            let _ = writeln!(page, "  note         {} in {file} only", connections(count));
        }
    }
    if joined.not_kept > 0 {
        let _ = writeln!(page, "  note         {} packets at the end for which there was no room", joined.not_kept);
    }
    for connection in joined.connections.iter().take(CONNECTIONS) {
        in_full(connection, document, &mut page);
    }
    if joined.connections.len() > CONNECTIONS {
        let _ = writeln!(page, "\nand {} more (--json has all)", joined.connections.len() - CONNECTIONS);
    }
    page
}

fn connections(count: u64) -> String {
    counted(count, "connection", "connections")
}

fn in_full(connection: &JoinedConnection, document: &JoinedDocument, page: &mut String) {
    let [first, second] = &document.files;
    let (at_client, at_server) = if connection.is_first_at_client { (first, second) } else { (second, first) };
    let _ = writeln!(page, "\n{} -> {}", connection.client, connection.server);
    let _ = writeln!(page, "  captures     {at_client} is nearer to the client, {at_server} to the server");
    clocks(&connection.clock, page);
    if connection.rewritten {
        page.push_str("  note         a box between the captures rewrites sequence numbers\n");
    }
    let ways =
        [("to the server", &connection.directions.to_server), ("to the client", &connection.directions.to_client)];
    for (way, crossing) in ways {
        let _ = writeln!(page, "\n  {way}");
        if crossing.segments.sent > 0 {
            direction(crossing, page);
        }
        if crossing.acks.sent > 0 {
            let AckCounts { sent, paired } = crossing.acks;
            let _ = writeln!(page, "    ACKs        {sent} without data, {paired} of them in both captures");
        }
        bursts(crossing, page);
    }
}

fn clocks(clock: &ClockDifference, page: &mut String) {
    let text = if clock.is_estimated {
        let ahead = if clock.offset_ns < 0.0 { "behind" } else { "ahead" };
        let skew = match clock.skew_ppm {
            0.0 => "no skew that can be told".to_owned(),
            skew => format!("skew {skew:+.2} ppm (\u{b1}{:.2})", clock.skew_error_ppm),
        };
        format!(
            "the server's is {} {ahead}, if the least delay is the same in both directions; {skew}",
            nanoseconds(clock.offset_ns.abs())
        )
    } else {
        "taken for the same".to_owned()
    };
    let _ = writeln!(page, "  clocks       {text}");
}

fn direction(crossing: &Crossing, page: &mut String) {
    let counts = &crossing.segments;
    let mut line = |label: &str, text: String| {
        let _ = writeln!(page, "    {label:<11} {text}");
    };
    line("segments", format!("{} passed the first capture, {} the second", counts.sent, counts.arrived));
    line(
        "lost",
        match counts.lost {
            0 => "none between the captures".to_owned(),
            lost => format!(
                "{lost} between the captures ({:.3} %, {}), in {} bursts",
                100.0 * counts.lost_share(),
                ByteCount::new(counts.lost_bytes),
                crossing.bursts.len() as u64 + crossing.bursts_left_out
            ),
        },
    );
    line("reordered", format!("{} overtaken by later ones, {} arrived twice", counts.reordered, counts.duplicated));
    if let Some(delay) = &crossing.delay {
        let [min, median, high, max] = [delay.min_ns, delay.median_ns, delay.p95_ns, delay.max_ns].map(time);
        line("delay", format!("one way, min/median/95 %/max {min}/{median}/{high}/{max}"));
    }
    for (count, which) in [(counts.not_captured_after, "second"), (counts.not_captured_before, "first")] {
        if count > 0 {
            line("note", format!("the {which} capture missed {count} segments that were on the wire"));
        }
    }
}

/// Of losses that stand alone the count says all.
fn bursts(crossing: &Crossing, page: &mut String) {
    let mut largest: Vec<&LossBurst> = crossing.bursts.iter().filter(|burst| burst.segments > 1).collect();
    if largest.is_empty() {
        return;
    }
    largest.sort_by_key(|burst| std::cmp::Reverse(burst.segments));
    let first_ns = crossing.bursts.first().map_or(0, |burst| burst.from_ns);
    let mut rows = Table::new();
    rows.set_header(["    LOST TOGETHER", "AFTER THE FIRST", "WITHIN", "FRAMES SENT"]);
    for burst in largest.into_iter().take(BURSTS) {
        rows.add_row([
            format!("    {}", burst.segments),
            time(burst.from_ns - first_ns),
            time(burst.to_ns - burst.from_ns),
            format!("{} to {}", burst.first_frame, burst.last_frame),
        ]);
    }
    page.push_str(&table::text(rows));
}

fn time(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{}", units::duration::show(Duration::from_nanos(ns.unsigned_abs())))
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
fn nanoseconds(ns: f64) -> String {
    time(ns as i64)
}
