//! Whether the rows of a test agree with each other. A row proves itself by its rate; what stands after the rate is
//! proved by the other rows, or is left out with a word.

use std::time::Duration;

use model::measurement::{End, Heading};

use super::parsed::{Label, ParsedTest, Row};

/// Leaves out counts that the other rows contradict, and notes sums that do not come out.
pub(crate) fn check(parsed: &mut ParsedTest) {
    if parsed.format.is_text() {
        datagram_sizes(parsed);
        sums_of_streams(parsed);
    }
    sums_of_intervals(parsed);
}

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
        if lost_rows || lost_start || lost_end || too_little {
            let found = format!("{sum} bytes in {} rows", rows.len());
            let expected = format!("intervals that add up to the {whole} bytes of the summary");
            parsed.anomalies.add(parsed.line, expected, &found);
            return;
        }
    }
}

/// How close to its end a test has its last interval with it.
const END_OF_TEST: Duration = Duration::from_millis(20);

fn first_label(parsed: &ParsedTest) -> Label {
    parsed.rows.first().map_or(Label::Sum, |row| row.label)
}
