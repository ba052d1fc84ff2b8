//! A grid in few bytes, for the screen: one byte says how good a pair is, and a letter of a million of them.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use diagnose::grid::{Cell, Grid, Grids, MOST_GRID_HOSTS};
use diagnose::locate::cell::Symptom;
use model::measurement::{Heading, Latency, Measurement};
use model::played::Finding;
use model::round::Round;
use model::run::RunId;
use serde::{Deserialize, Serialize};

use crate::source::{Pair, SourceError};

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
    /// How many more were measured, which do not stand in it.
    pub left_out: usize,
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
    /// How many more were measured, which do not stand in it; absent where it has all.
    #[serde(rename = "hosts_left_out", default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<usize>,
    /// A byte for each pair, row by row, in base64: 0 a host and itself, 1 not planned, 2 failed, 3 not judged, from 5 on
    /// five more than the percentage of what it should be (rounded down, at most 250), or a place on the scale. Of at most 65,536 pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codes: Option<String>,
    /// The same of more pairs in a letter for each, which is what a screen shows of them: `.` a host and itself, `-` not planned, `!` failed,
    /// `?` not judged, the grade from `A` to `F`, or the fifth of the scale from `0` to `4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grades: Option<String>,
    /// Single-precision values, least byte first, in base64, beside `codes`; NaN where there is none.
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
    /// How many more were measured, which do not stand in it.
    pub left_out: usize,
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
        let Frame { key, title, network, unit, hosts, left_out } = frame;
        Self { key, title, network, unit, scale, hosts, left_out, codes, values }
    }
}

impl MatrixView {
    pub(crate) fn of(round: RunId, matrix: &Matrix) -> Self {
        let is_small = matrix.codes.len() <= MOST_WITH_VALUES;
        let values = || matrix.values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        Self {
            round,
            metric: matrix.key.clone(),
            title: matrix.title.clone(),
            network: matrix.network.clone(),
            unit: matrix.unit,
            scale: matrix.scale,
            hosts: matrix.hosts.clone(),
            left_out: Some(matrix.left_out).filter(|count| *count > 0),
            codes: is_small.then(|| BASE64.encode(&matrix.codes)),
            grades: (!is_small).then(|| matrix.codes.iter().map(|code| letter(*code, matrix.scale)).collect()),
            values: (is_small && !matrix.values.is_empty()).then(|| BASE64.encode(values())),
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
            (NOT_PLANNED, _) => "not_planned".to_owned(),
            (FAILED, _) => "failed".to_owned(),
            (NOT_JUDGED, _) => "not_judged".to_owned(),
            (_, Scale::Range { .. }) => "measured".to_owned(),
            (_, Scale::Expectation) => grade(code).to_string(),
        };
        *counts.entry(word).or_default() += count;
    }
    counts
}

fn grade(code: u8) -> char {
    match code - FIRST {
        90.. => 'A',
        70.. => 'B',
        40.. => 'C',
        10.. => 'D',
        _ => 'F',
    }
}

/// What a screen shows of a pair among many.
fn letter(code: u8, scale: Scale) -> char {
    match (code, scale) {
        (SAME, _) => '.',
        (NOT_PLANNED, _) => '-',
        (FAILED, _) => '!',
        (..FIRST, _) => '?',
        (_, Scale::Expectation) => grade(code),
        (_, Scale::Range { .. }) => char::from(b'0' + (code - FIRST) / SHADE),
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

/// One pair of a grid, exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// Who sends.
    pub from: String,
    /// Who receives.
    pub to: String,
    /// Percentage of what it should be, rounded down; absent where that is not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// Its value in the unit of the grid; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

impl MatrixCell {
    pub(crate) fn of(matrix: &Matrix, pair: &Pair) -> Result<Self, SourceError> {
        let place = |name: &String| matrix.hosts.iter().position(|host| host == name);
        let (row, column) =
            place(&pair.from).zip(place(&pair.to)).ok_or_else(|| SourceError::unknown("such pair in this grid"))?;
        let at = row * matrix.hosts.len() + column;
        let is_judged = matrix.scale == Scale::Expectation && matrix.codes[at] >= FIRST;
        Ok(Self {
            from: pair.from.clone(),
            to: pair.to.clone(),
            percent: is_judged.then(|| matrix.codes[at] - FIRST),
            value: matrix.values.get(at).copied().map(f64::from).filter(|value| value.is_finite()),
        })
    }
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
        left_out: grid.left_out,
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
        let mut found: BTreeMap<(&str, &str), f32> = BTreeMap::new();
        for tested in &round.tests {
            let Finding::Run(run) = &tested.finding else { continue };
            let Some(measurement) = &run.measurement else { continue };
            let (asked, answered) = (tested.from.host.as_str(), tested.to.host.as_str());
            for total in &measurement.totals {
                let ends = match total.heading {
                    Heading::Outbound => (asked, answered),
                    Heading::Inbound => (answered, asked),
                };
                found.extend(self.value(measurement, total.heading).map(|value| (ends, value)));
            }
        }
        // A grid has the square of its hosts: only those of which something is known stand in it, and no more than can be shown.
        let named: BTreeSet<&str> = found.keys().flat_map(|(from, to)| [*from, *to]).collect();
        let members = round.members.iter().map(|member| member.name.as_str());
        let hosts: Vec<&str> = members.filter(|name| named.contains(name)).take(MOST_GRID_HOSTS).collect();
        let places: BTreeMap<&str, usize> = hosts.iter().enumerate().map(|(at, host)| (*host, at)).collect();
        let mut values = vec![f32::NAN; hosts.len() * hosts.len()];
        for ((from, to), value) in found {
            if let Some((row, column)) = places.get(from).zip(places.get(to)) {
                values[row * hosts.len() + column] = value;
            }
        }
        let (key, title, unit) = match self {
            Self::Retransmits => ("retransmits", "retransmits", Unit::Count),
            Self::LoadedRtt => ("loaded-rtt", "median RTT under load", Unit::Us),
            Self::IdleRtt => ("idle-rtt", "median idle RTT", Unit::Us),
        };
        let left_out = named.len() - hosts.len();
        let hosts = hosts.into_iter().map(str::to_owned).collect();
        let frame = Frame { key: key.to_owned(), title: title.to_owned(), network: None, unit, hosts, left_out };
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
pub(super) const FIRST: u8 = 5;
/// Percent from which on a pair has the best grade.
pub(super) const GOOD: u8 = 90;
const MOST_WORST: usize = 20;
/// More values than these are asked for cell by cell.
const MOST_WITH_VALUES: usize = 65_536;
/// Codes of a fifth of a scale: 0 to 250 in five parts.
const SHADE: u8 = 51;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Response;
    use diagnose::grid::Grade;

    #[test]
    fn the_byte_of_a_cell_has_the_grade_of_its_part() {
        for millionths in (0..=1_200_000).step_by(125) {
            let part = f64::from(millionths) / 1e6;
            assert_eq!(grade(percent(part)), Grade::of(part).letter(), "{part}");
        }
        for (grade, least) in Grade::ALL {
            assert_eq!(super::grade(percent(least)), grade.letter());
        }
    }

    /// From 0 to 1, another one for each number, which no compression foresees.
    fn noise(number: usize) -> f64 {
        let mixed = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        (mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24)
    }

    #[test]
    fn a_million_noisy_pairs_are_300_kb_at_most_as_they_are_sent() {
        let frame = || Frame {
            key: "goodput".to_owned(),
            title: "goodput".to_owned(),
            network: None,
            unit: Unit::Bps,
            hosts: (0..1_000).map(|host| format!("host-{host}")).collect(),
            left_out: 0,
        };
        // Most of a mesh does what it should, give or take a tenth, and one pair in two hundred something else.
        let part = |pair: usize| {
            let usual = 0.85 + 0.05 * (0..4).map(|part| noise(4 * pair + part)).sum::<f64>();
            if pair.is_multiple_of(200) { noise(pair) } else { usual }
        };
        #[expect(clippy::cast_possible_truncation, reason = "parts of one")]
        let parts: Vec<f32> = (0..1_000_000).map(|pair| part(pair) as f32).collect();
        let values: Vec<f32> = parts.iter().map(|part| part * 1e9 + 1e6).collect();
        let judged = Matrix::of_parts(frame(), values.clone(), &parts);
        for matrix in [judged, Matrix::of_range(frame(), values).unwrap()] {
            let view = MatrixView::of(RunId::new(units::WallTime::default(), 1), &matrix);
            let response = Response::json(&view).compressed();
            assert!(response.body.len() <= 300_000, "{:?}: {} bytes", matrix.scale, response.body.len());
        }
    }
}
