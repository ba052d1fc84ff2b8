//! Reading.

use std::collections::BTreeMap;

use super::body::{Allowance, Body, Limits, UnpackError};
use super::layout::{form, id, kind};
use super::predict::{Prediction, Term};
use super::{digits, residual};
use crate::measurement::{End, Heading, Whose};
use crate::series::field::Field;
use crate::series::{Column, ProbeSamples, RunSamples, StreamSamples};

/// Samples, and what of the input was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// Samples of all streams, as far as this version knows their columns.
    pub samples: RunSamples,
    /// Columns left out because only newer versions know them.
    pub unknown_columns: u32,
}

/// Reads what [`super::pack`] wrote.
///
/// Memory is taken as the input fills it. A column without bytes of its own takes memory for as many rows as the time
/// column had bytes, within `limits.values` of eight bytes over all columns.
///
/// # Errors
/// If `bytes` are not packed samples of a known version, are damaged or cut short, or promise more than `limits`.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Unpacked, UnpackError> {
    let mut body = Body::open(bytes)?;
    let mut unpacked = Unpacked { samples: RunSamples::default(), unknown_columns: 0 };
    for table in tables(&mut body, limits)? {
        let values = table.values(&mut body)?;
        let columns = table.columns.iter().map(|column| column.id).zip(values);
        match table.head {
            Head::Probes => unpacked.add_probes(columns),
            Head::Stream(samples) => unpacked.add_stream(samples, columns),
        }
    }
    body.end()?;
    Ok(unpacked)
}

/// The headers of a table.
struct Table {
    head: Head,
    rows: usize,
    columns: Vec<ColumnHeader>,
}

/// What the rows of a table are.
enum Head {
    /// A stream, still without samples.
    Stream(StreamSamples),
    Probes,
}

struct ColumnHeader {
    offset: u64,
    id: u16,
    three_digits: bool,
    width: u8,
    seeds: Vec<i64>,
    prediction: Prediction,
}

fn tables(body: &mut Body<'_>, limits: &Limits) -> Result<Vec<Table>, UnpackError> {
    let mut columns = Allowance::new("columns", limits.columns);
    let mut values = Allowance::new("values", limits.values);
    let count = body.u32()?;
    // One more for the probes.
    Allowance::new("streams", limits.streams.saturating_add(1)).take(u64::from(count), 0)?;
    (0..count)
        .map(|_| {
            let head = Head::read(body)?;
            let offset = body.offset();
            let (rows, width) = (body.u32()?, body.u16()?);
            columns.take(u64::from(width), offset)?;
            values.take(u64::from(rows) * u64::from(width), offset)?;
            let headers = (0..width).map(|_| ColumnHeader::read(body)).collect::<Result<Vec<_>, _>>()?;
            let rows = rows as usize;
            check_time(rows, &headers, offset)?;
            Ok(Table { head, rows, columns: headers })
        })
        .collect()
}

/// The time must come first and, if there are rows, have bytes: they are what shows that the rows are meant.
fn check_time(rows: usize, columns: &[ColumnHeader], offset: u64) -> Result<(), UnpackError> {
    let invalid = |found, expected, offset| Err(UnpackError::Invalid { found, expected, offset });
    match columns {
        [] => invalid(0, "a column of times", offset),
        [time, ..] if time.id != id::TIME => invalid(u64::from(time.id), "the column of times", time.offset),
        [time, ..] if rows > 0 && time.width == 0 => invalid(0, "a plane of times", time.offset),
        [_, rest @ ..] => match rest.iter().find(|column| column.id >= id::NONE) {
            Some(column) => invalid(u64::from(column.id), "a field", column.offset),
            None => Ok(()),
        },
    }
}

impl Head {
    fn read(body: &mut Body<'_>) -> Result<Self, UnpackError> {
        const { assert!(kind::STREAM == 0 && kind::PROBES == 1) };
        let is_stream = body.choice("a kind of table", [true, false])?;
        if !is_stream {
            return Ok(Self::Probes);
        }
        Ok(Self::Stream(StreamSamples {
            stream: body.u32()?,
            heading: body.choice("a heading", [Heading::Outbound, Heading::Inbound])?,
            end: body.choice("an end", [End::Sender, End::Receiver])?,
            whose: body.choice("whose samples they are", [Whose::Local, Whose::Peer])?,
            at_us: Vec::new(),
            columns: Vec::new(),
        }))
    }
}

impl ColumnHeader {
    fn read(body: &mut Body<'_>) -> Result<Self, UnpackError> {
        let offset = body.offset();
        let (id, form, width) = (body.u16()?, body.u8()?, body.u8()?);
        let invalid = |found, expected| UnpackError::Invalid { found: u64::from(found), expected, offset };
        let order = form & form::ORDER;
        if order > 2 || form & !(form::ORDER | form::THREE_DIGITS) != 0 {
            return Err(invalid(form, "a known form of column"));
        }
        if width > 8 {
            return Err(invalid(width, "at most 8 planes"));
        }
        let seeds = (0..order).map(|_| body.array().map(i64::from_le_bytes)).collect::<Result<_, _>>()?;
        let prediction = read_prediction(body)?;
        Ok(Self { offset, id, three_digits: form & form::THREE_DIGITS != 0, width, seeds, prediction })
    }
}

fn read_prediction(body: &mut Body<'_>) -> Result<Prediction, UnpackError> {
    let offset = body.offset();
    let at_most = |found: u8, limit: u8, what| match found <= limit {
        true => Ok(found),
        false => Err(UnpackError::TooMany { what, found: u64::from(found), limit: u64::from(limit), offset }),
    };
    let count = at_most(body.u8()?, MAX_TERMS, "terms of a prediction")?;
    let terms = (0..count)
        .map(|_| {
            let times = body.array().map(i32::from_le_bytes)?;
            let factors = at_most(body.u8()?, MAX_FACTORS, "factors of a term")?;
            let factors = (0..factors).map(|_| body.u16()).collect::<Result<_, _>>()?;
            Ok(Term { times, factors })
        })
        .collect::<Result<Vec<_>, UnpackError>>()?;
    let divisor = if terms.is_empty() { id::NONE } else { body.u16()? };
    Ok(Prediction { terms, divisor })
}

/// Terms and factors bound the work that a row can ask for.
const MAX_TERMS: u8 = 8;
const MAX_FACTORS: u8 = 4;

impl Table {
    /// The values of all columns, in the order of the headers.
    fn values(&self, body: &mut Body<'_>) -> Result<Vec<Vec<i64>>, UnpackError> {
        let mut columns =
            self.columns.iter().map(|column| column.residuals(self.rows, body)).collect::<Result<Vec<_>, _>>()?;
        let mut first_with = BTreeMap::new();
        for (place, column) in self.columns.iter().enumerate() {
            first_with.entry(column.id).or_insert(place);
        }
        // A column waits for those that it is predicted from, wherever in the table they are.
        let mut waiting: Vec<usize> = (0..self.columns.len()).collect();
        let mut known = vec![false; self.columns.len()];
        while !waiting.is_empty() {
            let before = waiting.len();
            let mut still = Vec::new();
            for place in waiting {
                let header = &self.columns[place];
                let ready = header.prediction.needs().all(|id| first_with.get(&id).is_some_and(|place| known[*place]));
                if !ready {
                    still.push(place);
                    continue;
                }
                let column = |id| first_with.get(&id).map(|place| columns[*place].as_slice());
                if let Some(predicted) = header.prediction.values(self.rows, column) {
                    header.add(&predicted, &mut columns[place]);
                }
                known[place] = true;
            }
            if still.len() == before {
                let column = &self.columns[still[0]];
                let expected = "a prediction from columns that are known";
                return Err(UnpackError::Invalid { found: u64::from(column.id), expected, offset: column.offset });
            }
            waiting = still;
        }
        Ok(columns)
    }
}

impl ColumnHeader {
    /// What predictions missed, differences undone.
    fn residuals(&self, rows: usize, body: &mut Body<'_>) -> Result<Vec<i64>, UnpackError> {
        let mut values = Vec::new();
        for place in 0..self.width {
            let plane = body.bytes(rows)?;
            values.resize(rows, 0);
            residual::add_plane(&mut values, &plane, place);
        }
        values.resize(rows, 0);
        let mut values: Vec<i64> = values.into_iter().map(residual::unzigzag).collect();
        residual::integrate(&mut values, &self.seeds);
        Ok(values)
    }

    fn add(&self, predicted: &[i64], residuals: &mut [i64]) {
        for (value, guess) in residuals.iter_mut().zip(predicted) {
            *value = if self.three_digits {
                let guess = digits::encode(guess.cast_unsigned());
                digits::decode(value.wrapping_add(guess)).cast_signed()
            } else {
                value.wrapping_add(*guess)
            };
        }
    }
}

impl Unpacked {
    fn add_stream(&mut self, mut samples: StreamSamples, columns: impl Iterator<Item = (u16, Vec<i64>)>) {
        for (id, values) in columns {
            match Field::ALL.get(usize::from(id)) {
                Some(field) => {
                    let values = values.into_iter().map(i64::cast_unsigned).collect();
                    samples.columns.push(Column { field: *field, values });
                }
                None if id == id::TIME => samples.at_us = values,
                None => self.unknown_columns += 1,
            }
        }
        self.samples.streams.push(samples);
    }

    fn add_probes(&mut self, columns: impl Iterator<Item = (u16, Vec<i64>)>) {
        let mut probes = ProbeSamples::default();
        for (id, values) in columns {
            match id {
                id::TIME => probes.sent_us = values,
                id::PROBE_RTT => probes.rtt_us = values.into_iter().map(rtt).collect(),
                id::PROBE_THERE => probes.there_us = values.into_iter().map(there).collect(),
                _ => self.unknown_columns += 1,
            }
        }
        let rows = probes.sent_us.len();
        probes.rtt_us.resize(rows, None);
        probes.there_us.resize(rows, None);
        self.samples.probes = probes;
    }
}

/// The time of an answered probe. A code that is none stands for an absent time.
fn rtt(code: i64) -> Option<u32> {
    u32::try_from(code.checked_sub(1)?).ok()
}

fn there(code: i64) -> Option<i32> {
    let zigzag = u64::try_from(code.checked_sub(1)?).ok()?;
    i32::try_from(residual::unzigzag(zigzag)).ok()
}
