//! From samples to bytes: which encoding each column gets.

use std::io::{self, Write};

use super::layout::{MAGIC, VERSION, form, id, kind};
use super::predict::{self, Prediction};
use super::table::{Column, Table};
use super::{digits, residual};
use crate::series::RunSamples;
use crate::series::field::Field;

/// How much work a byte less is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Of what is kept for years.
    ForStorage,
    /// Of what is sent once, over a path that has just carried a test.
    ForTransfer,
}

/// See [`super::pack`].
pub(super) fn pack(samples: &RunSamples, effort: Effort) -> Vec<u8> {
    let probes = Some(&samples.probes).filter(|probes| !probes.sent_us.is_empty());
    let tables = samples.streams.len() + usize::from(probes.is_some());
    let mut trial = Trial::new(effort);
    let mut headers = u32_of(tables).to_le_bytes().to_vec();
    let mut planes = Vec::new();
    // One after the other: a table is a copy of its samples.
    for table in samples.streams.iter().map(Table::of_stream).chain(probes.map(Table::of_probes)) {
        table.write(&mut trial, &mut headers, &mut planes);
    }
    let mut out = Vec::from(MAGIC);
    out.push(VERSION);
    let written = compress(&mut out, effort, &headers, &planes);
    assert!(written.is_ok(), "zstd compresses whatever fits in memory: {written:?}");
    out
}

impl Table {
    fn write(&self, trial: &mut Trial, headers: &mut Vec<u8>, planes: &mut Vec<Vec<u8>>) {
        headers.extend(&self.head);
        headers.extend(u32_of(self.rows()).to_le_bytes());
        headers.extend(u16_of(self.columns.len()).to_le_bytes());
        let mut chosen: Vec<Encoded> = Vec::new();
        for (place, column) in self.columns.iter().enumerate() {
            chosen.extend(self.best(place, column, &chosen, trial));
        }
        for column in &chosen {
            column.write_header(headers);
            planes.extend(column.planes());
        }
    }

    /// The cheapest encoding of a column. Most columns of most runs never change: nothing is cheaper than what takes no plane
    /// at all, so that nothing else is tried.
    fn best(&self, place: usize, column: &Column, chosen: &[Encoded], trial: &mut Trial) -> Option<Encoded> {
        let predictions = self.predictions(place);
        let possible = predictions.iter().filter(|prediction| !needs(chosen, prediction, column.id));
        let mut best: Option<(usize, Encoded)> = None;
        // Differences first: a column that never changes has none.
        for (prediction, order) in possible.flat_map(|prediction| [1, 0, 2].map(|order| (prediction, order))) {
            let encoded = self.encode(column, prediction, order);
            if encoded.width == 0 {
                return Some(encoded);
            }
            let cost = trial.cost(&encoded);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, encoded));
            }
        }
        best.map(|(_, encoded)| encoded)
    }

    fn predictions(&self, place: usize) -> Vec<Prediction> {
        let mut all = vec![Prediction::none()];
        match self.columns.get(place) {
            Some(time) if time.id == id::TIME => all.extend(cadence(&time.values).map(Prediction::line)),
            Some(column) if self.head.first() == Some(&kind::STREAM) => {
                all.extend(
                    Field::ALL
                        .get(usize::from(column.id))
                        .map(|field| predict::candidates(*field))
                        .into_iter()
                        .flatten(),
                );
            }
            _ => {}
        }
        all
    }

    fn encode(&self, column: &Column, prediction: &Prediction, order: usize) -> Encoded {
        let rows = column.values.len();
        let predicted = prediction.values(rows, |id| self.column(id));
        let (prediction, predicted) = match predicted {
            Some(predicted) => (prediction.clone(), predicted),
            None => (Prediction::none(), vec![0; rows]),
        };
        let code = |value: i64| if column.three_digits { digits::encode(value.cast_unsigned()) } else { value };
        let mut residuals: Vec<i64> = column
            .values
            .iter()
            .zip(&predicted)
            .map(|(value, guess)| code(*value).wrapping_sub(code(*guess)))
            .collect();
        let mut seeds = vec![0; order];
        residual::difference(&mut residuals, &mut seeds);
        let least_width = u8::from(column.id == id::TIME && rows > 0);
        Encoded {
            id: column.id,
            three_digits: column.three_digits,
            width: residual::width(&residuals).max(least_width),
            prediction,
            seeds,
            residuals,
        }
    }
}

/// Whether `prediction` needs the column `id` in the end, through columns whose encoding is chosen.
fn needs(chosen: &[Encoded], prediction: &Prediction, id: u16) -> bool {
    prediction.needs().any(|needed| {
        needed == id
            || chosen
                .iter()
                .find(|column| column.id == needed)
                .is_some_and(|column| needs(chosen, &column.prediction, id))
    })
}

/// The time between rows to the next tenth of a millisecond, where it is that regular.
fn cadence(times: &[i64]) -> Option<i32> {
    let between = i64::try_from(times.len()).ok()?.checked_sub(1).filter(|count| *count > 0)?;
    let mean = times.last()?.checked_sub(*times.first()?)? / between;
    i32::try_from(mean.checked_add(50)? / 100 * 100).ok()
}

/// A column in one of its possible encodings.
struct Encoded {
    id: u16,
    three_digits: bool,
    width: u8,
    prediction: Prediction,
    seeds: Vec<i64>,
    residuals: Vec<i64>,
}

impl Encoded {
    fn write_header(&self, out: &mut Vec<u8>) {
        let three_digits = if self.three_digits { form::THREE_DIGITS } else { 0 };
        out.extend(self.id.to_le_bytes());
        out.extend([u8_of(self.seeds.len()) | three_digits, self.width]);
        out.extend(self.seeds.iter().flat_map(|seed| seed.to_le_bytes()));
        out.push(u8_of(self.prediction.terms.len()));
        for term in &self.prediction.terms {
            out.extend(term.times.to_le_bytes());
            out.push(u8_of(term.factors.len()));
            out.extend(term.factors.iter().flat_map(|factor| factor.to_le_bytes()));
        }
        if !self.prediction.terms.is_empty() {
            out.extend(self.prediction.divisor.to_le_bytes());
        }
    }

    fn planes(&self) -> impl Iterator<Item = Vec<u8>> {
        (0..self.width).map(|place| residual::plane(&self.residuals, place))
    }
}

/// Measures encodings: by compressing the start of them, or without a compressor by their digits.
struct Trial {
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl Trial {
    fn new(effort: Effort) -> Self {
        let compressor = match effort {
            Effort::ForStorage => zstd::bulk::Compressor::new(TRIAL_LEVEL).ok(),
            Effort::ForTransfer => None,
        };
        Self { compressor }
    }

    /// Bytes that this encoding takes.
    fn cost(&mut self, encoded: &Encoded) -> usize {
        let mut header = Vec::new();
        encoded.write_header(&mut header);
        let residuals = &encoded.residuals[..encoded.residuals.len().min(TRIAL_ROWS)];
        let compressed = self.compressor.as_mut().and_then(|compressor| {
            let start: Vec<u8> = (0..encoded.width).flat_map(|place| residual::plane(residuals, place)).collect();
            Some(compressor.compress(&start).ok()?.len())
        });
        compressed.unwrap_or_else(|| residual::bits(residuals) / 8) + header.len()
    }
}

/// One zstd frame of `headers` and `planes`.
fn compress(out: &mut Vec<u8>, effort: Effort, headers: &[u8], planes: &[Vec<u8>]) -> io::Result<()> {
    let length = headers.len() + planes.iter().map(Vec::len).sum::<usize>();
    let mut encoder = zstd::stream::write::Encoder::new(out, effort.level(length))?;
    encoder.include_checksum(true)?;
    encoder.window_log(super::layout::WINDOW_LOG)?;
    // Lets zstd choose tables no larger than the input needs.
    encoder.set_pledged_src_size(Some(length as u64))?;
    encoder.write_all(headers)?;
    for plane in planes {
        encoder.write_all(plane)?;
    }
    encoder.finish()?;
    Ok(())
}

impl Effort {
    /// Level of zstd for so many bytes. A run ends for its user once it is packed: of 2.1 MB (128 streams, 1 ms) level 19
    /// takes 0.9 s and level 9 takes 0.04 s for 8 % more; of 86 kB (10 s, one stream) level 15 takes a third of level 19 for
    /// 0.5 % more.
    fn level(self, length: usize) -> i32 {
        const MUCH: usize = 256 << 10;
        match self {
            Self::ForStorage if length > MUCH => 9,
            Self::ForStorage => 15,
            Self::ForTransfer => 3,
        }
    }
}

const TRIAL_LEVEL: i32 = 3;
const TRIAL_ROWS: usize = 1 << 14;

/// A table has at most one column for each field.
fn u16_of(length: usize) -> u16 {
    assert!(u16::try_from(length).is_ok(), "a table has fewer than 2^16 columns, not {length}");
    u16::try_from(length).unwrap_or(u16::MAX)
}

/// Lengths in the file have 32 bits.
fn u32_of(length: usize) -> u32 {
    assert!(u32::try_from(length).is_ok(), "a table has fewer than 2^32 rows, not {length}");
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Lengths within a column's header have eight bits.
fn u8_of(length: usize) -> u8 {
    assert!(u8::try_from(length).is_ok(), "a prediction has few terms, not {length}");
    u8::try_from(length).unwrap_or(u8::MAX)
}
