//! Whether the rows of a test agree with each other. A row proves itself by its rate; what stands after the rate is
//! proved by the other rows, or is left out with a word.

use std::collections::BTreeSet;
use std::time::Duration;

use model::measurement::{End, Heading};
use model::spec::Direction;
use units::DataRate;

use super::limits::MAX_RATE;
use super::parsed::{Label, ParsedTest, Row};

/// Leaves out counts that the other rows contradict, and notes sums that do not come out.
pub(crate) fn check(parsed: &mut ParsedTest) {
    rates(parsed);
    unnamed(parsed);
    retransmits(parsed);
    streams(parsed);
    if parsed.format.is_text() {
        datagram_sizes(parsed);
        impossible_totals(parsed);
        sums_of_streams(parsed);
    }
    sums_of_intervals(parsed);
}

/// Leaves out rows of which no path has the rate: what is printed, and what the amount over the time is.
fn rates(parsed: &mut ParsedTest) {
    let is_real = |row: &Row| {
        // Of an amount within no time there is no rate.
        let computed = DataRate::of(row.bytes, row.end.saturating_sub(row.start));
        row.rate.unwrap_or_default().max(computed.unwrap_or_default()) <= MAX_RATE
    };
    let before = parsed.rows.len() + parsed.ends.len();
    parsed.rows.retain(is_real);
    parsed.ends.retain(|count| is_real(&count.row));
    let left_out = before - parsed.rows.len() - parsed.ends.len();
    if left_out > 0 {
        let expected = format!("rates of at most {MAX_RATE}, which is more than any path has");
        parsed.anomalies.add(parsed.line, expected, &format!("{left_out} rows with more, left out"));
    }
}

/// Numbers behind the rates whose headings were cut out (`| grep SUM`) are retransmits where they add up to those of the summary.
fn unnamed(parsed: &mut ParsedTest) {
    let labels: BTreeSet<Label> = parsed.rows.iter().filter(|row| row.unnamed.is_some()).map(|row| row.label).collect();
    for label in labels {
        let sent = parsed.ends.iter().find(|count| count.end == End::Sender && count.row.label == label);
        let printed = sent.and_then(|count| count.row.retransmits);
        let own = || parsed.rows.iter().filter(move |row| row.label == label && !row.omitted);
        let sum = own().try_fold(0_u64, |sum, row| sum.checked_add(row.unnamed?));
        if printed.is_some() && sum == printed {
            parsed.rows.iter_mut().filter(|row| row.label == label).for_each(|row| row.retransmits = row.unnamed);
        } else {
            let count = own().filter(|row| row.unnamed.is_some()).count();
            parsed.anomalies.add(
                parsed.line,
                "headings of the columns after the rate",
                &format!("{count} rows with a number, left out"),
            );
        }
    }
}

/// Leaves out counts of retransmits that are more than the segments there can have been: what Windows reports is no count.
fn retransmits(parsed: &mut ParsedTest) {
    let is_impossible =
        |row: &Row| row.retransmits.is_some_and(|count| count > A_FEW && count > row.bytes.get() / SMALLEST_SEGMENT);
    let rows = parsed.rows.iter_mut().chain(parsed.ends.iter_mut().map(|count| &mut count.row));
    let mut left_out = 0;
    for row in rows.filter(|row| is_impossible(row)) {
        row.retransmits = None;
        left_out += 1;
    }
    if left_out > 0 {
        let found = format!("{left_out} rows with more, left out");
        parsed.anomalies.add(parsed.line, "no more retransmits than there can have been segments", &found);
    }
}

/// Notes that rows of some streams are missing, where no sum was printed: what is left of a log that was cut.
fn streams(parsed: &mut ParsedTest) {
    let rows = || parsed.rows.iter().chain(parsed.ends.iter().map(|count| &count.row));
    let shown: BTreeSet<Label> = rows().map(|row| row.label).collect();
    let ways = if parsed.options.direction == Some(Direction::Bidirectional) { 2 } else { 1 };
    let asked = usize::from(parsed.options.streams.unwrap_or(0)).max(parsed.connections.len() / ways);
    if !shown.is_empty() && shown.len() < asked && !shown.contains(&Label::Sum) {
        parsed
            .notes
            .push(format!("the log has rows of {} of the {asked} streams, and the rate is theirs", shown.len()));
    }
}

/// A stream that stands still sends a few again and again.
const A_FEW: u64 = 1_000;
/// Payload of the smallest segments that bulk data comes in (RFC 9293 §3.7.1).
const SMALLEST_SEGMENT: u64 = 536;

/// Datagrams of a test have one size, so that amount over count is the same in every row.
fn datagram_sizes(parsed: &mut ParsedTest) {
    let size = |row: &Row| {
        let total = row.datagrams?.total;
        #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
        (total > 0 && row.datagrams?.lost.is_none()).then(|| row.bytes.get() as f64 / total as f64)
    };
    let mut sizes: Vec<f64> = parsed.rows.iter().filter_map(size).collect();
    sizes.sort_by(f64::total_cmp);
    let Some(usual) = sizes.get(sizes.len() / 2).copied() else { return };
    let mut left_out = 0;
    for row in &mut parsed.rows {
        // Small amounts are rounded coarsely.
        if size(row).is_some_and(|size| (size - usual).abs() > 0.05 * usual && row.bytes.get() > 10_000) {
            row.datagrams = None;
            left_out += 1;
        }
    }
    if left_out > 0 {
        let expected = format!("datagrams of about {usual:.0} bytes in every row");
        parsed.anomalies.add(parsed.line, expected, &format!("{left_out} counts of others, left out"));
    }
}

/// Leaves out totals of datagrams by which each were larger than UDP has them: old servers count few of those that came.
fn impossible_totals(parsed: &mut ParsedTest) {
    let is_impossible = |row: &Row| {
        let total = row.datagrams.map(|counts| counts.total).filter(|total| *total > 0);
        total.is_some_and(|total| row.bytes.get() / 2 > total.saturating_mul(LARGEST_DATAGRAM))
    };
    let ends = parsed.ends.iter().map(|count| &count.row);
    let totals: Vec<u64> = ends.filter(|row| is_impossible(row)).filter_map(|row| Some(row.datagrams?.total)).collect();
    let is_counted_so = |row: &Row| row.datagrams.is_some_and(|counts| totals.contains(&counts.total));
    // What a receiver got is reckoned from the same total.
    parsed.ends.retain(|count| count.end == End::Sender || !is_counted_so(&count.row));
    let ends = parsed.ends.iter_mut().map(|count| &mut count.row);
    ends.filter(|row| is_counted_so(row)).for_each(|row| row.datagrams = None);
    let left_out = totals.len();
    if left_out > 0 {
        let expected = format!("datagrams of at most {LARGEST_DATAGRAM} bytes");
        parsed.anomalies.add(parsed.line, expected, &format!("{left_out} totals of too few, left out"));
    }
}

/// Payload over IPv4.
const LARGEST_DATAGRAM: u64 = 65_507;

/// The retransmits of a sum are those of its streams.
fn sums_of_streams(parsed: &mut ParsedTest) {
    let mut streams: Option<u64> = Some(0);
    let mut counted = 0;
    let mut corrected = 0;
    for row in &mut parsed.rows {
        if row.label != Label::Sum {
            streams = streams.zip(row.retransmits).map(|(sum, more)| sum.saturating_add(more));
            counted += 1;
            continue;
        }
        if counted > 0 && row.retransmits.is_some() && row.retransmits != streams {
            corrected += 1;
            row.retransmits = streams;
        }
        (streams, counted) = (Some(0), 0);
    }
    if corrected > 0 {
        let found = format!("{corrected} sums that are not, left out");
        parsed.anomalies.add(parsed.line, "sums of retransmits that are those of the streams", &found);
    }
}

/// What the intervals add up to is what the summary of the end that printed them says: where it is less, lines are lost.
fn sums_of_intervals(parsed: &mut ParsedTest) {
    for heading in [Heading::Outbound, Heading::Inbound] {
        let label =
            if parsed.rows.iter().any(|row| row.label == Label::Sum) { Label::Sum } else { first_label(parsed) };
        let of = |row: &&Row| row.label == label && !row.omitted && parsed.heading(row) == heading;
        let rows: Vec<&Row> = parsed.rows.iter().filter(of).collect();
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { continue };
        let step = rows.iter().map(|row| row.end.saturating_sub(row.start)).max().unwrap_or_default();
        let lost_rows = rows.windows(2).any(|pair| pair[1].start > pair[0].end + step / 2);
        let omits = parsed.rows.iter().any(|row| row.omitted);
        // iperf3 counts from 0, unless it was to omit the beginning; a first interval over a long path holds next to nothing.
        let begins_late = parsed.is_iperf3() && !omits && first.start > step / 2;
        let whose = if heading == Heading::Outbound { End::Sender } else { End::Receiver };
        let total = parsed
            .ends
            .iter()
            .find(|count| count.end == whose && count.row.label == label && parsed.heading(&count.row) == heading);
        let Some(total) = total else {
            if lost_rows || begins_late {
                let found = format!("{} rows, the first from {} s", rows.len(), first.start.as_secs_f64());
                parsed.anomalies.add(parsed.line, "intervals without gaps from the start of the test", &found);
                return;
            }
            continue;
        };
        let sum = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes.get()));
        let whole = total.row.bytes.get();
        // Each of the rows is rounded to three digits, and the last one is printed after the clock has stopped.
        let gap = whole.abs_diff(sum);
        // nuttcp prints no interval that ends with the test, and no times by which a lost one is seen.
        let shown = if parsed.is_iperf3() { last.end + step } else { last.end + step + END_OF_TEST };
        let lost_end = shown <= total.row.end && gap > whole / 200;
        let too_little = parsed.is_iperf3() && gap > whole / 20 && first.start.is_zero();
        // A summary without the omitted part, or of an end that went on alone, has another span.
        let lost_start = begins_late || (first.start > total.row.start + step / 2 && gap > whole / 200);
        // Which of the two is right is not known. The summary of a text proves itself, and of an object both were counted by one
        // program: one of them was changed.
        if sum > whole.saturating_add(whole / 2).saturating_add(rounding(&rows)) {
            let found = format!("{sum} bytes in {} rows, left out", rows.len());
            let expected = format!("intervals that add up to the {whole} bytes of the summary");
            parsed.anomalies.add(parsed.line, expected, &found);
            let headings: Vec<Heading> = parsed.rows.iter().map(|row| parsed.heading(row)).collect();
            for (row, _) in parsed.rows.iter_mut().zip(headings).filter(|(_, of_row)| *of_row == heading) {
                row.omitted = true;
            }
            continue;
        }
        if lost_rows || lost_start || lost_end || too_little {
            let found = format!("{sum} bytes in {} rows", rows.len());
            let expected = format!("intervals that add up to the {whole} bytes of the summary");
            parsed.anomalies.add(parsed.line, expected, &found);
            return;
        }
    }
}

/// How far so many printed amounts may be from what was counted: below a megabyte iperf prints steps of a kilobyte or of a byte.
fn rounding(rows: &[&Row]) -> u64 {
    const STEP: u64 = 64 << 10;
    u64::try_from(rows.len()).unwrap_or(u64::MAX).saturating_mul(STEP)
}

/// How close to its end a test has its last interval with it.
const END_OF_TEST: Duration = Duration::from_millis(20);

fn first_label(parsed: &ParsedTest) -> Label {
    parsed.rows.first().map_or(Label::Sum, |row| row.label)
}
