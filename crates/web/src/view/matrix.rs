//! A grid in few bytes, for the screen: one byte says how good a pair is, so that a million pairs are 1.3 MB.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use diagnose::grid::{Cell, Grid, Grids};
use diagnose::locate::cell::Symptom;
use model::measurement::{Heading, Latency, Measurement};
use model::played::Finding;
use model::round::Round;
use model::run::RunId;
use serde::{Deserialize, Serialize};

use crate::source::SourceError;

/// A grid: who sends stands in rows, who receives in columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// What an address calls it.
    pub key: String,
    /// What people call it.
    pub title: String,
    /// The network; the usual addresses of hosts where it is absent.
    pub network: Option<String>,
    /// The unit of values.
    pub unit: Unit,
    /// What colours mean.
    pub scale: Scale,
    /// The hosts, in the order of rows and columns.
    pub hosts: Vec<String>,
    /// A code for each pair, row by row: see [`MatrixView::codes`].
    pub codes: Vec<u8>,
    /// A value for each pair, row by row; NaN where there is none.
    pub values: Vec<f32>,
}

/// The unit of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bits per second.
    Bps,
    /// Microseconds.
    Us,
    /// Segments or packets, counted.
    Count,
    /// The part of what should be, 0 to 1.
    Part,
}

/// What colours mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Scale {
    /// How much of what a pair should do it does, by the yardstick of `linerate round grid`.
    Expectation,
    /// Nothing is expected: from the least value to the greatest, on a logarithmic scale.
    Range {
        /// The value of code 5.
        low: f64,
        /// The value of code 255.
        high: f64,
    },
}

/// A grid as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixView {
    /// Name of the round.
    pub round: RunId,
    /// Which grid of the round.
    pub metric: String,
    /// What people call it.
    pub title: String,
    /// The network; the usual addresses of hosts where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The unit of values.
    pub unit: Unit,
    /// What codes mean.
    pub scale: Scale,
    /// The hosts, in the order of rows and columns.
    pub hosts: Vec<String>,
    /// A byte for each pair, row by row, in base64: 0 a host and itself, 1 not planned, 2 failed, 3 not judged, from 5 on
    /// five more than the percentage of what it should be (rounded down, at most 250), or a place on the scale.
    pub codes: String,
    /// Single-precision values, least byte first, in base64, where there are at most 65,536 pairs; NaN where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// Pairs by grade.
    pub counts: BTreeMap<String, u32>,
    /// The worst pairs, the worst first.
    pub worst: Vec<WorstPair>,
}

/// A pair that does less than it should.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorstPair {
    /// Who sends.
    pub from: String,
    /// Who receives.
    pub to: String,
    /// Percentage of what it should be, rounded down.
    pub percent: u8,
    /// Its value in the unit of the grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// What a grid is of, and between whom.
#[derive(Debug, Clone)]
pub struct Frame {
    /// What an address calls it.
    pub key: String,
    /// What people call it.
    pub title: String,
    /// The network; the usual addresses of hosts where it is absent.
    pub network: Option<String>,
    /// The unit of values.
    pub unit: Unit,
    /// The hosts, in the order of rows and columns.
    pub hosts: Vec<String>,
}

impl Matrix {
    /// A grid by how much of what it should do each pair does, row by row: NaN where nothing is known that its value could be judged
    /// against. A value that is NaN was not planned.
    #[must_use]
    pub fn of_parts(frame: Frame, values: Vec<f32>, parts: &[f32]) -> Self {
        let size = frame.hosts.len();
        let code = |(at, (value, part)): (usize, (&f32, &f32))| match (value.is_finite(), part.is_finite()) {
            (true, true) => percent(to_a_millionth(*part)),
            (true, false) => NOT_JUDGED,
            (false, _) if at / size == at % size => SAME,
            (false, _) => NOT_PLANNED,
        };
        let codes = values.iter().zip(parts).enumerate().map(code).collect();
        Self::framed(frame, Scale::Expectation, codes, values)
    }

    /// A grid of values that nothing is expected of, row by row, NaN where there is none; [`None`] where there is not one.
    #[must_use]
    pub fn of_range(frame: Frame, values: Vec<f32>) -> Option<Self> {
        let known = values.iter().copied().filter(|value| value.is_finite());
        let low = f64::from(known.clone().reduce(f32::min)?);
        let high = f64::from(known.reduce(f32::max)?);
        let size = frame.hosts.len();
        let codes = values.iter().enumerate().map(|(at, value)| match value.is_finite() {
            true => placed(f64::from(*value), low..=high),
            false if at / size == at % size => SAME,
            false => NOT_PLANNED,
        });
        let codes = codes.collect();
        Some(Self::framed(frame, Scale::Range { low, high }, codes, values))
    }

    fn framed(frame: Frame, scale: Scale, codes: Vec<u8>, values: Vec<f32>) -> Self {
        let Frame { key, title, network, unit, hosts } = frame;
        Self { key, title, network, unit, scale, hosts, codes, values }
    }
}

impl MatrixView {
    pub(crate) fn of(round: RunId, matrix: &Matrix) -> Self {
        let mut bytes = Vec::new();
        let has_values = matrix.codes.len() <= MOST_WITH_VALUES && !matrix.values.is_empty();
        if has_values {
            bytes.extend(matrix.values.iter().flat_map(|value| value.to_le_bytes()));
        }
        Self {
            round,
            metric: matrix.key.clone(),
            title: matrix.title.clone(),
            network: matrix.network.clone(),
            unit: matrix.unit,
            scale: matrix.scale,
            hosts: matrix.hosts.clone(),
            codes: BASE64.encode(&matrix.codes),
            values: has_values.then(|| BASE64.encode(&bytes)),
            counts: counts(matrix),
            worst: worst(matrix),
        }
    }
}

fn counts(matrix: &Matrix) -> BTreeMap<String, u32> {
    let mut all = [0_u32; 256];
    matrix.codes.iter().for_each(|code| all[usize::from(*code)] += 1);
    let mut counts = BTreeMap::new();
    for (code, count) in (0_u8..=255).zip(all).filter(|(_, count)| *count > 0) {
        let word = match (code, matrix.scale) {
            (SAME, _) => continue,
            (NOT_PLANNED, _) => "not_planned",
            (FAILED, _) => "failed",
            (NOT_JUDGED, _) => "not_judged",
            (_, Scale::Range { .. }) => "measured",
            (_, Scale::Expectation) => grade(code),
        };
        *counts.entry(word.to_owned()).or_default() += count;
    }
    counts
}

fn grade(code: u8) -> &'static str {
    match code - FIRST {
        90.. => "A",
        70.. => "B",
        40.. => "C",
        10.. => "D",
        _ => "F",
    }
}

fn worst(matrix: &Matrix) -> Vec<WorstPair> {
    if matrix.scale != Scale::Expectation || matrix.hosts.is_empty() {
        return Vec::new();
    }
    let mut bad: Vec<usize> =
        (0..matrix.codes.len()).filter(|at| (FIRST..FIRST + GOOD).contains(&matrix.codes[*at])).collect();
    // Of a million pairs many may be bad.
    if bad.len() > MOST_WORST {
        bad.select_nth_unstable_by_key(MOST_WORST, |at| (matrix.codes[*at], *at));
        bad.truncate(MOST_WORST);
    }
    bad.sort_unstable_by_key(|at| (matrix.codes[*at], *at));
    let name = |at: usize| matrix.hosts[at].clone();
    let pairs = bad.into_iter().map(|at| WorstPair {
        from: name(at / matrix.hosts.len()),
        to: name(at % matrix.hosts.len()),
        percent: matrix.codes[at] - FIRST,
        value: matrix.values.get(at).copied().map(f64::from).filter(|value| value.is_finite()),
    });
    pairs.collect()
}

/// The grid that is asked for; the first where none is.
pub(crate) fn chosen<'m>(matrices: &'m [Matrix], key: Option<&str>) -> Result<&'m Matrix, SourceError> {
    let found = match key {
        Some(key) => matrices.iter().find(|matrix| matrix.key == key),
        None => matrices.first(),
    };
    found.ok_or_else(|| SourceError::unknown("such grid in this round"))
}

/// All grids of a round: those that are judged, then what else its runs have measured.
#[must_use]
pub fn matrices(round: &Round, grids: &Grids) -> Vec<Matrix> {
    let mut found: Vec<Matrix> = grids.grids.iter().map(judged).collect();
    found.extend(Extra::ALL.iter().filter_map(|extra| extra.matrix(round)));
    found
}

fn judged(grid: &Grid) -> Matrix {
    let (key, title, unit) = match grid.what {
        Symptom::Goodput => ("goodput", "goodput", Unit::Bps),
        Symptom::Download => ("download", "goodput of downloads", Unit::Bps),
        Symptom::Loss => ("loss", "loss", Unit::Part),
        Symptom::Mtu => ("mtu", "packet sizes delivered", Unit::Part),
    };
    let network = grid.network.as_deref();
    let cells = grid.rows.iter().flatten();
    Matrix {
        key: network.map_or_else(|| key.to_owned(), |network| format!("{key}@{network}")),
        title: network.map_or_else(|| title.to_owned(), |network| format!("{title}, network {network}")),
        network: grid.network.clone(),
        unit,
        scale: Scale::Expectation,
        hosts: grid.hosts.clone(),
        codes: cells.clone().map(code).collect(),
        values: cells.map(value).collect(),
    }
}

fn code(cell: &Cell) -> u8 {
    match cell {
        Cell::Same => SAME,
        Cell::NotPlanned => NOT_PLANNED,
        Cell::Failed { .. } => FAILED,
        Cell::NotJudged { .. } => NOT_JUDGED,
        Cell::Measured(found) => percent(found.part),
    }
}

/// A part in single precision, which 0.29 is below.
fn to_a_millionth(part: f32) -> f64 {
    (f64::from(part) * 1e6).round() / 1e6
}

/// Parts are told to a millionth; what is missing to a whole percent is less than that.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 250")]
fn percent(part: f64) -> u8 {
    FIRST + (part * 100.0 + 1e-7).floor().clamp(0.0, 250.0) as u8
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "seven digits are more than are shown"
)]
fn value(cell: &Cell) -> f32 {
    match cell {
        Cell::NotJudged { goodput, .. } => goodput.bps() as f32,
        Cell::Measured(found) => match (found.goodput, found.loss) {
            (Some(goodput), _) => goodput.bps() as f32,
            (None, Some(loss)) => loss.lost.share_of(loss.sent).unwrap_or(0.0) as f32,
            (None, None) => found.part as f32,
        },
        Cell::Same | Cell::NotPlanned | Cell::Failed { .. } => f32::NAN,
    }
}

/// What runs have measured beside goodput.
#[derive(Debug, Clone, Copy)]
enum Extra {
    Retransmits,
    LoadedRtt,
    IdleRtt,
}

impl Extra {
    const ALL: [Self; 3] = [Self::Retransmits, Self::LoadedRtt, Self::IdleRtt];

    fn matrix(self, round: &Round) -> Option<Matrix> {
        let hosts: Vec<String> = round.members.iter().map(|member| member.name.clone()).collect();
        let places: BTreeMap<&str, usize> = hosts.iter().enumerate().map(|(at, host)| (host.as_str(), at)).collect();
        let mut values = vec![f32::NAN; hosts.len() * hosts.len()];
        for tested in &round.tests {
            let Finding::Run(run) = &tested.finding else { continue };
            let ends = places.get(tested.from.host.as_str()).zip(places.get(tested.to.host.as_str()));
            let (Some((from, to)), Some(found)) = (ends, &run.measurement) else { continue };
            for total in &found.totals {
                let (row, column) = match total.heading {
                    Heading::Outbound => (*from, *to),
                    Heading::Inbound => (*to, *from),
                };
                if let Some(value) = self.value(found, total.heading) {
                    values[row * hosts.len() + column] = value;
                }
            }
        }
        let (key, title, unit) = match self {
            Self::Retransmits => ("retransmits", "retransmits", Unit::Count),
            Self::LoadedRtt => ("loaded-rtt", "median RTT under load", Unit::Us),
            Self::IdleRtt => ("idle-rtt", "median idle RTT", Unit::Us),
        };
        let frame = Frame { key: key.to_owned(), title: title.to_owned(), network: None, unit, hosts };
        Matrix::of_range(frame, values)
    }

    #[expect(clippy::cast_precision_loss, reason = "seven digits are more than are shown")]
    fn value(self, found: &Measurement, heading: Heading) -> Option<f32> {
        let latency = |of: fn(&Latency) -> Option<u64>| found.latency.as_ref().and_then(of).map(|us| us as f32);
        match self {
            Self::Retransmits => {
                let total = found.totals.iter().find(|total| total.heading == heading)?;
                total.retransmits.map(|count| count.get() as f32)
            }
            Self::LoadedRtt => latency(|latency| latency.loaded?.median_us),
            Self::IdleRtt => latency(|latency| latency.idle?.median_us),
        }
    }
}

/// The code of a value on a logarithmic scale from `low` to `high`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 250")]
fn placed(value: f64, range: std::ops::RangeInclusive<f64>) -> u8 {
    let (low, high) = range.into_inner();
    let on_scale = |value: f64| (value + 1.0).ln();
    let span = on_scale(high) - on_scale(low);
    let part = if span > 0.0 { (on_scale(value) - on_scale(low)) / span } else { 0.0 };
    FIRST + (part * 250.0).round().clamp(0.0, 250.0) as u8
}

const SAME: u8 = 0;
const NOT_PLANNED: u8 = 1;
const FAILED: u8 = 2;
const NOT_JUDGED: u8 = 3;
const FIRST: u8 = 5;
/// Percent from which on a pair has the best grade.
const GOOD: u8 = 90;
const MOST_WORST: usize = 20;
/// More values than these are asked for cell by cell.
const MOST_WITH_VALUES: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;
    use diagnose::grid::Grade;

    #[test]
    fn the_byte_of_a_cell_has_the_grade_of_its_part() {
        for millionths in (0..=1_200_000).step_by(125) {
            let part = f64::from(millionths) / 1e6;
            assert_eq!(grade(percent(part)), Grade::of(part).letter().to_string(), "{part}");
        }
        for (grade, least) in Grade::ALL {
            assert_eq!(super::grade(percent(least)), grade.letter().to_string());
        }
    }
}
