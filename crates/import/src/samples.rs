//! What was printed of each stream's state, interval by interval, as samples.

use model::measurement::{End, Heading, Whose};
use model::series::field::Field;
use model::series::{Column, RunSamples, StreamSamples};
use units::duration::micros;

use super::parsed::{Label, ParsedTest, Row};

/// The samples of all streams; each is taken at the end of its interval.
pub(crate) fn samples(parsed: &ParsedTest, mss: Option<u32>) -> RunSamples {
    let mut streams = Vec::new();
    for heading in [Heading::Outbound, Heading::Inbound] {
        let mut labels: Vec<Label> = Vec::new();
        for row in &parsed.rows {
            let is_of_stream = row.label != Label::Sum && !row.omitted && parsed.heading(row) == heading;
            if is_of_stream && !labels.contains(&row.label) {
                labels.push(row.label);
            }
        }
        for (index, label) in labels.into_iter().enumerate() {
            let rows: Vec<&Row> = parsed
                .rows
                .iter()
                .filter(|row| row.label == label && !row.omitted && parsed.heading(row) == heading)
                .collect();
            streams.push(StreamSamples {
                stream: u32::try_from(index + 1).unwrap_or(u32::MAX),
                heading,
                end: if heading == Heading::Outbound { End::Sender } else { End::Receiver },
                whose: Whose::Local,
                at_us: rows.iter().map(|row| i64::try_from(row.end.as_micros()).unwrap_or(i64::MAX)).collect(),
                columns: columns(&rows, mss),
            });
        }
    }
    RunSamples { streams, ..RunSamples::default() }
}

/// The columns of which every interval has a value: a missing one must not look like zero.
fn columns(rows: &[&Row], mss: Option<u32>) -> Vec<Column> {
    let segments = |row: &Row| {
        let mss = u64::from(mss?);
        Some(row.cwnd?.bytes.get().saturating_add(mss / 2) / mss)
    };
    let all = [
        (Field::AppBytes, so_far(rows, |row| Some(row.bytes.get()))),
        (Field::AppPackets, so_far(rows, |row| Some(row.datagrams?.total))),
        (Field::AppLost, so_far(rows, |row| u64::try_from(row.datagrams?.lost?).ok())),
        (Field::TotalRetrans, so_far(rows, |row| row.retransmits)),
        (Field::SndCwnd, each(rows, segments)),
        (Field::SndMss, each(rows, |row| mss.filter(|_| row.cwnd.is_some()).map(u64::from))),
        (Field::SndWnd, each(rows, |row| row.snd_wnd.map(|window| window.get()))),
        (Field::Rtt, each(rows, |row| row.rtt.map(micros))),
        (Field::Rttvar, each(rows, |row| row.rttvar.map(micros))),
        (Field::Pmtu, each(rows, |row| row.pmtu.map(u64::from))),
    ];
    let parsed = all.into_iter().filter_map(|(field, values)| Some(Column { field, values: values? }));
    parsed.filter(|column| !column.values.is_empty()).collect()
}

fn each(rows: &[&Row], value: impl Fn(&Row) -> Option<u64>) -> Option<Vec<u64>> {
    rows.iter().map(|row| value(row)).collect()
}

fn so_far(rows: &[&Row], value: impl Fn(&Row) -> Option<u64>) -> Option<Vec<u64>> {
    let mut sum = 0_u64;
    let step = |row: &&Row| {
        sum = sum.saturating_add(value(row)?);
        Some(sum)
    };
    rows.iter().map(step).collect()
}
