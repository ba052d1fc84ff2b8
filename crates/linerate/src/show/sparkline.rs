//! Values over time as one line of text.

use std::time::Duration;

use model::measurement::{End, Heading};
use model::run::Run;
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};
use report::timeline::Timeline;
use units::{ByteCount, DataRate};

use super::intervals::way;

/// What the line is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// Blocks of eight heights.
    Blocks,
    /// For terminals that know no more than ASCII.
    Ascii,
}

impl Letters {
    /// Those that this terminal shows, by the locale's usual order of precedence (POSIX, 8.2).
    pub fn of_locale() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_ascii_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") { Self::Blocks } else { Self::Ascii }
    }

    /// From low to high.
    fn heights(self) -> &'static [char] {
        match self {
            Self::Blocks => &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Self::Ascii => &['_', '.', '-', '=', '+', '*', '%', '#'],
        }
    }
}

/// `values` from zero to their greatest, `width` letters wide: each the mean of its part, a space where nothing is known.
pub fn sparkline(values: &[Option<f64>], width: usize, letters: Letters) -> String {
    let heights = letters.heights();
    let top = values.iter().flatten().copied().fold(0.0, f64::max);
    let cells = width.min(values.len());
    let cell = |index: usize| {
        let part = &values[index * values.len() / cells..(index + 1) * values.len() / cells];
        let known: Vec<f64> = part.iter().flatten().copied().collect();
        if known.is_empty() {
            return ' ';
        }
        let mean = known.iter().sum::<f64>() / precise(known.len());
        heights[rank(if top > 0.0 { mean / top } else { 0.0 }, heights.len())]
    };
    (0..cells).map(cell).collect()
}

/// Goodput, round trip, congestion window and retransmits of a run, a line each with its least and greatest value; in
/// words where a line would show nothing.
pub fn lines(run: &Run, samples: &RunSamples) -> String {
    lines_with(run, samples, Letters::of_locale())
}

fn lines_with(run: &Run, samples: &RunSamples, letters: Letters) -> String {
    let mut headings: Vec<Heading> = samples.streams.iter().map(|stream| stream.heading).collect();
    headings.sort_unstable();
    headings.dedup();
    let end = run.measurement.iter().flat_map(|m| &m.totals).map(|total| total.elapsed).max().unwrap_or_default();
    let mut text = String::new();
    for heading in &headings {
        let suffix = if headings.len() > 1 { format!(" {}", way(*heading)) } else { String::new() };
        for row in rows(&samples.streams, *heading, end) {
            text.push_str(&row.line(&suffix, letters));
        }
    }
    text
}

/// One quantity over time.
struct Row {
    label: &'static str,
    values: Vec<Option<f64>>,
    /// Least, greatest and sum in words.
    show: fn(f64, f64, f64) -> String,
}

impl Row {
    fn line(&self, suffix: &str, letters: Letters) -> String {
        let known: Vec<f64> = self.values.iter().flatten().copied().collect();
        let least = known.iter().copied().fold(f64::INFINITY, f64::min);
        let most = known.iter().copied().fold(0.0, f64::max);
        let words = if known.is_empty() { "unknown".to_owned() } else { (self.show)(least, most, known.iter().sum()) };
        let drawn = sparkline(&self.values, CELLS, letters);
        let label = format!("{}{suffix}", self.label);
        // As wide as the labels of `run::text`, or as the longest one where the direction is added.
        let width = if suffix.is_empty() { 12 } else { 15 };
        format!("{label:<width$} {drawn:<CELLS$} {words}").trim_end().to_owned() + "\n"
    }
}

/// Letters of a line: with label and words it fits into 100.
const CELLS: usize = 50;

fn rows(streams: &[StreamSamples], heading: Heading, end: Duration) -> Vec<Row> {
    let end_us = i64::try_from(end.as_micros()).unwrap_or(i64::MAX);
    let edges = edges(end_us, streams);
    let senders: Vec<&StreamSamples> =
        streams.iter().filter(|stream| stream.heading == heading && stream.end == End::Sender).collect();
    let timeline = Timeline::new(streams, heading);
    let goodput = |pair: &[i64]| {
        let bytes = timeline.as_ref()?;
        Some(rate(bytes.bytes_at(pair[1]).saturating_sub(bytes.bytes_at(pair[0])), pair[1] - pair[0]))
    };
    let rtt = |pair: &[i64]| {
        let known: Option<Vec<u64>> = senders.iter().map(|sender| before(sender, Field::Rtt, pair[1])).collect();
        known.filter(|known| !known.is_empty()).map(|known| wide(known.iter().sum()) / precise(known.len()))
    };
    let cwnd = |pair: &[i64]| {
        let window = |s: &&StreamSamples| {
            Some(before(s, Field::SndCwnd, pair[1])?.saturating_mul(before(s, Field::SndMss, pair[1])?))
        };
        let known: Option<Vec<u64>> = senders.iter().map(window).collect();
        known.filter(|known| !known.is_empty()).map(|known| wide(known.iter().sum()))
    };
    let resent = |pair: &[i64]| {
        let grown = |s: &&StreamSamples| {
            s.column(Field::TotalRetrans)?;
            let until = |at| before(s, Field::TotalRetrans, at).unwrap_or(0);
            Some(until(pair[1]).saturating_sub(until(pair[0])))
        };
        let known: Option<Vec<u64>> = senders.iter().map(grown).collect();
        known.filter(|known| !known.is_empty()).map(|known| wide(known.iter().sum()))
    };
    let row = |label, value: &dyn Fn(&[i64]) -> Option<f64>, show| Row {
        label,
        values: edges.windows(2).map(value).collect(),
        show,
    };
    let mut rows = vec![row("goodput", &goodput, |least, most, _| format!("{} to {}", bits(least), bits(most)))];
    // Datagrams have no state in the kernel; rows about it would all say unknown.
    if senders.is_empty() || senders.iter().any(|sender| sender.column(Field::Rtt).is_some()) {
        rows.push(row("rtt", &rtt, |least, most, _| format!("{} to {}", micros(least), micros(most))));
        rows.push(row("cwnd", &cwnd, |least, most, _| format!("{} to {}", bytes(least), bytes(most))));
        rows.push(row("retransmits", &resent, |_, most, sum| match sum {
            0.0 => "none".to_owned(),
            _ => format!("{sum:.0} in all, at most {most:.0} in one step"),
        }));
    }
    rows
}

/// One step a letter; fewer where samples are further apart.
fn edges(end_us: i64, streams: &[StreamSamples]) -> Vec<i64> {
    let samples = streams.iter().map(|stream| stream.at_us.len()).max().unwrap_or(0);
    let steps = i64::try_from(samples.clamp(1, CELLS)).unwrap_or(1);
    (0..=steps).map(|edge| end_us / steps * edge).collect()
}

fn before(stream: &StreamSamples, field: Field, at_us: i64) -> Option<u64> {
    let after = stream.at_us.partition_point(|sample| *sample <= at_us);
    stream.column(field)?.get(after.checked_sub(1)?).copied()
}

fn rate(bytes: u64, micros: i64) -> f64 {
    wide(bytes) * 8e6 / wide(micros.max(1).unsigned_abs())
}

fn bits(value: f64) -> String {
    DataRate::from_bps(whole(value)).to_string()
}

fn bytes(value: f64) -> String {
    ByteCount::new(whole(value)).to_string()
}

fn micros(value: f64) -> String {
    units::duration::show(Duration::from_micros(whole(value)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of the greatest value lie from 0 to 1"
)]
fn rank(share: f64, ranks: usize) -> usize {
    ((share * precise(ranks)) as usize).min(ranks - 1)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "means of counts, shown in three digits")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "shown in eight heights and three digits")]
fn wide(value: u64) -> f64 {
    value as f64
}

fn precise(count: usize) -> f64 {
    wide(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(values: &[f64], width: usize) -> String {
        sparkline(&values.iter().copied().map(Some).collect::<Vec<_>>(), width, Letters::Blocks)
    }

    #[test]
    fn heights_are_shares_of_the_greatest_value() {
        assert_eq!(drawn(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 20), "▁▂▃▄▅▆▇██");
        assert_eq!(drawn(&[0.0, 0.0], 20), "▁▁");
        assert_eq!(drawn(&[], 20), "");
    }

    #[test]
    fn many_values_share_a_letter_by_their_mean() {
        assert_eq!(drawn(&[8.0, 0.0, 8.0, 8.0, 0.0, 0.0], 3), "▅█▁");
    }

    #[test]
    fn what_is_missing_is_a_gap_and_not_zero() {
        let values = [Some(4.0), None, Some(0.0), Some(8.0)];
        assert_eq!(sparkline(&values, 4, Letters::Blocks), "▅ ▁█");
        assert_eq!(sparkline(&values, 4, Letters::Ascii), "+ _#");
    }
}
