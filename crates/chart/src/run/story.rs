//! What a run has to tell: its directions, its span of time, and the samples of each end.

use model::measurement::{DirectionTotal, End, Heading, Measurement, Whose};
use model::run::Run;
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};
use model::spec::{Direction, Protocol};

use crate::palette::{BLUE, VERMILLION};
use crate::panel::Sample;
use crate::scene::{Dash, Pen};

/// A run, read for its picture.
pub(crate) struct Story<'a> {
    pub(crate) run: &'a Run,
    pub(crate) samples: &'a RunSamples,
    pub(crate) headings: Vec<Heading>,
    /// When the last thing happened, in microseconds from the start.
    pub(crate) end_us: i64,
}

impl<'a> Story<'a> {
    pub(crate) fn new(run: &'a Run, samples: &'a RunSamples) -> Self {
        let headings = headings(run, samples);
        let last_sample = samples.streams.iter().filter_map(|stream| stream.at_us.last()).max();
        let elapsed = measurement_totals(run).iter().map(|total| micros(total.elapsed)).max();
        let intervals = run.measurement.iter().flat_map(|m| &m.intervals).map(|interval| micros(interval.end)).max();
        let end_us = [last_sample.copied(), elapsed, intervals].into_iter().flatten().max().unwrap_or(0);
        Self { run, samples, headings, end_us: end_us.max(1) }
    }

    pub(crate) fn measurement(&self) -> Option<&'a Measurement> {
        self.run.measurement.as_ref()
    }

    pub(crate) fn is_tcp(&self) -> bool {
        self.run.spec.protocol == Protocol::Tcp
    }

    /// The sums of a direction.
    pub(crate) fn total(&self, heading: Heading) -> Option<&'a DirectionTotal> {
        measurement_totals(self.run).iter().find(|total| total.heading == heading)
    }

    /// The samples of one end of a direction, a row each stream.
    pub(crate) fn end(&self, heading: Heading, end: End) -> Vec<&'a StreamSamples> {
        self.samples.streams.iter().filter(|s| s.heading == heading && s.end == end && !s.at_us.is_empty()).collect()
    }

    /// `dtn1 → dtn2`.
    pub(crate) fn way(&self, heading: Heading) -> String {
        let (local, peer) = (self.local(), self.peer());
        match heading {
            Heading::Outbound => format!("{local} → {peer}"),
            Heading::Inbound => format!("{peer} → {local}"),
        }
    }

    /// A panel's name in the document.
    pub(crate) fn named(&self, quantity: &str, heading: Heading) -> String {
        match (self.headings.len(), heading) {
            (0 | 1, _) => quantity.to_owned(),
            (_, Heading::Outbound) => format!("{quantity}-out"),
            (_, Heading::Inbound) => format!("{quantity}-in"),
        }
    }

    /// The main curve of a direction.
    pub(crate) fn pen(&self, heading: Heading) -> Pen {
        match self.headings.iter().position(|other| *other == heading) {
            None | Some(0) => Pen::new(BLUE, 1.6, Dash::Solid),
            Some(_) => Pen::new(VERMILLION, 1.6, Dash::Long),
        }
    }

    /// Adds the direction to a title where there are two.
    pub(crate) fn titled(&self, title: &str, heading: Heading) -> String {
        if self.headings.len() > 1 { format!("{title}, {}", self.way(heading)) } else { title.to_owned() }
    }

    /// This host.
    pub(crate) fn local(&self) -> String {
        name(self.run.local.name.as_deref().unwrap_or("this host"))
    }

    /// The other host.
    pub(crate) fn peer(&self) -> String {
        name(&self.run.peer.target)
    }

    /// Why an end of a direction told nothing.
    pub(crate) fn silence(&self, heading: Heading, end: End) -> String {
        let whose = match (heading, end) {
            (Heading::Outbound, End::Sender) | (Heading::Inbound, End::Receiver) => Whose::Local,
            (Heading::Outbound, End::Receiver) | (Heading::Inbound, End::Sender) => Whose::Peer,
        };
        let what = match end {
            End::Sender => "sender",
            End::Receiver => "receiver",
        };
        let software = self.run.peer.host.software.as_deref();
        match whose {
            _ if self.run.spec.sample_every.is_zero() => "unknown: the run was made without samples".to_owned(),
            Whose::Local => format!("unknown: there are no samples of the {what}, {}", self.local()),
            Whose::Peer if software.is_some_and(|software| software.starts_with("linerate")) => {
                format!("unknown: no samples came from the {what}, {}", self.peer())
            }
            Whose::Peer => format!(
                "unknown: the {what}, {}, runs {}, which sends no samples",
                self.peer(),
                name(software.unwrap_or("other software"))
            ),
        }
    }

    /// Edges of equal steps over the whole run, at most `parts` of them, each as long as a whole number of samples is apart: steps
    /// of one sample and a half would show a comb that is not in the data.
    pub(crate) fn edges(&self, parts: i64) -> Vec<i64> {
        let spacing = i64::try_from(self.run.spec.sample_every.as_micros()).unwrap_or(i64::MAX);
        let spacing = spacing.max(1);
        let samples = (self.end_us - 1).max(0) / parts.saturating_mul(spacing) + 1;
        let step = samples.saturating_mul(spacing);
        // A run shorter than its samples are apart is still one step.
        let whole = (self.end_us / step).max(1);
        let mut edges: Vec<i64> = (0..=whole).map(|edge| edge * step).collect();
        if let Some(last) = edges.last_mut() {
            // What is left joins the last step.
            *last = self.end_us;
        }
        edges
    }
}

/// The value of the last sample up to a moment.
pub(crate) fn value_before(stream: &StreamSamples, field: Field, at_us: i64) -> Option<u64> {
    let after = stream.at_us.partition_point(|sample| *sample <= at_us);
    stream.column(field)?.get(after.checked_sub(1)?).copied()
}

/// A curve of one value for each sample that `value` finds, cut where it finds none, and thinned to what can be seen.
pub(crate) fn curve(at_us: &[i64], value: impl Fn(i64) -> Option<f64>) -> Vec<Vec<Sample>> {
    let mut parts: Vec<Vec<Sample>> = vec![Vec::new()];
    for at in at_us {
        match value(*at) {
            Some(value) => {
                if let Some(part) = parts.last_mut() {
                    part.push((exact(*at), value));
                }
            }
            None => parts.push(Vec::new()),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.iter_mut().for_each(|part| *part = thinned(part));
    parts
}

/// At most four points for each five-hundredth of a curve: its first, least, greatest and last, so that no peak is lost.
pub(crate) fn thinned(points: &[Sample]) -> Vec<Sample> {
    const COLUMNS: usize = 500;
    if points.len() <= COLUMNS * 2 {
        return points.to_vec();
    }
    let mut kept = Vec::new();
    for column in points.chunks(points.len().div_ceil(COLUMNS)) {
        let extreme =
            |sign: f64| (0..column.len()).max_by(|a, b| (sign * column[*a].1).total_cmp(&(sign * column[*b].1)));
        let mut rows: Vec<usize> =
            [Some(0), extreme(-1.0), extreme(1.0), column.len().checked_sub(1)].into_iter().flatten().collect();
        rows.sort_unstable();
        rows.dedup();
        kept.extend(rows.into_iter().map(|row| column[row]));
    }
    kept
}

/// A time or count as a place on an axis.
#[expect(clippy::cast_precision_loss, reason = "a picture has a few thousand pixels")]
pub(crate) fn exact(value: i64) -> f64 {
    value as f64
}

/// A count as a value on an axis.
#[expect(clippy::cast_precision_loss, reason = "a picture has a few hundred pixels")]
pub(crate) fn amount(value: u64) -> f64 {
    value as f64
}

pub(crate) fn micros(time: std::time::Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// The directions of a run: those measured, else those asked for.
fn headings(run: &Run, samples: &RunSamples) -> Vec<Heading> {
    let measured = measurement_totals(run).iter().map(|total| total.heading);
    let mut headings: Vec<Heading> = measured.chain(samples.streams.iter().map(|stream| stream.heading)).collect();
    if headings.is_empty() {
        headings = match (run.spec.direction, run.role) {
            (Direction::Bidirectional, _) => vec![Heading::Outbound, Heading::Inbound],
            (Direction::Forward, model::run::Role::Client) | (Direction::Reverse, model::run::Role::Server) => {
                vec![Heading::Outbound]
            }
            (Direction::Forward | Direction::Reverse, _) => vec![Heading::Inbound],
        };
    }
    headings.sort_unstable();
    headings.dedup();
    headings
}

fn measurement_totals(run: &Run) -> &[DirectionTotal] {
    run.measurement.as_ref().map_or(&[], |measurement| &measurement.totals)
}

/// A name that fits into a line of text.
fn name(text: &str) -> String {
    const LONGEST: usize = 28;
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= LONGEST {
        return text.to_owned();
    }
    letters[..LONGEST / 2].iter().chain(&['…']).chain(&letters[letters.len() - LONGEST / 2..]).collect()
}
