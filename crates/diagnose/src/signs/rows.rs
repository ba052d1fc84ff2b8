//! The streams of a run, and the columns and rows of their samples.

use model::measurement::{End, Heading};
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};

/// The streams of a heading, as an end sampled them.
pub(super) fn streams(samples: &RunSamples, heading: Heading, end: End) -> Vec<&StreamSamples> {
    samples.streams.iter().filter(|of| of.heading == heading && of.end == end).collect()
}

/// A column with a value for each row; nothing where it is missing or torn.
pub(super) fn whole_column(stream: &StreamSamples, field: Field) -> Option<&[u64]> {
    stream.column(field).filter(|column| column.len() == stream.at_us.len())
}

/// The first and the last row of each step, which is at least so many microseconds long and begins where the one before ends.
pub(super) fn steps(stream: &StreamSamples, step_us: i64) -> impl Iterator<Item = [usize; 2]> {
    let mut from = 0;
    (1..stream.at_us.len()).filter_map(move |row| {
        let is_whole = stream.at_us[row] - stream.at_us[from] >= step_us;
        is_whole.then(|| [std::mem::replace(&mut from, row), row])
    })
}
