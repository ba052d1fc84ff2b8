//! Gateways behind a balancer: one run over time, and policies over what varies.

use ::gateways::cluster::outcome::{GatewayTrace, Trace};
use ::gateways::experiment::report::{CellSummary, Report};

use crate::axis::Quantity;
use crate::drawn;
use crate::font::Fonts;
use crate::header::Header;
use crate::layout;
use crate::palette::{BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILLION};
use crate::panel::{Key, Layer, Mark, Panel};
use crate::scene::{Colour, Dash, Pen};
use crate::span::{Axis, Span};
use crate::{ChartError, Form};

/// What a trace is of.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// What stands above the picture.
    pub title: String,
    /// What stands below the title.
    pub about: String,
    /// How many gateways, from the first, are of the first kind.
    pub first_kind: usize,
    /// What each gateway had.
    pub trace: &'a Trace,
}

/// What each gateway had in flight, in memory and on its NIC over a run.
///
/// # Errors
/// See [`ChartError`].
pub fn over_time(subject: &Subject<'_>, form: Form) -> Result<Vec<u8>, ChartError> {
    let fonts = Fonts::new()?;
    let panels = [
        panel(subject, "in flight", Quantity::Count, |gateway| (&gateway.in_flight, 1.0)),
        panel(subject, "memory, of the limit", Quantity::Share, |gateway| (&gateway.memory, 1.0)),
        panel(subject, "rate", Quantity::Rate, |gateway| (&gateway.rate_gbit_s, 1e9)),
    ];
    let to_us = subject.trace.at_s.last().copied().unwrap_or(1.0) * 1e6;
    let span = Span { from_us: 0.0, to_us, steady_us: None, axis: Axis::Time };
    let header = Header {
        title: subject.title.clone(),
        lines: vec![subject.about.clone()],
        footer: "simulated: a line is a gateway, each minute".to_owned(),
        made_by: format!("linerate {}", env!("CARGO_PKG_VERSION")),
    };
    drawn(&layout::scene(&header, &panels, span, &fonts), &fonts, form)
}

/// Points of a line: about one for each two pixels.
const MOST_POINTS: usize = 360;
/// Places for crosses over the width of a picture.
const CROSSES: f64 = 150.0;

type Series = for<'a> fn(&'a GatewayTrace) -> (&'a Vec<f64>, f64);

fn panel(subject: &Subject<'_>, title: &str, quantity: Quantity, series: Series) -> Panel {
    let mut panel = Panel::new(title.replace(' ', "-"), title, quantity, 170.0);
    let mut top = f64::MIN_POSITIVE;
    for (at, gateway) in subject.trace.gateways.iter().enumerate() {
        let (values, factor) = series(gateway);
        let times = subject.trace.at_s.iter().map(|at_s| at_s * 1e6);
        let every = values.len().div_ceil(MOST_POINTS).max(1);
        let all = times.zip(values.iter().map(|value| value * factor));
        let points: Vec<(f64, f64)> = all.step_by(every).collect();
        top = points.iter().map(|point| point.1).fold(top, f64::max);
        let colour = if at < subject.first_kind { VERMILLION } else { BLUE };
        panel.layers.push(Layer::Curve { parts: vec![points], pen: Pen::new(colour, 0.9, Dash::Solid) });
    }
    panel.top = top * 1.08;
    let others = subject.trace.gateways.len().saturating_sub(subject.first_kind);
    let kinds = [(VERMILLION, subject.first_kind, "first"), (BLUE, others, "second")];
    for (colour, count, kind) in kinds.into_iter().filter(|(_, count, _)| *count > 0) {
        let mark = Mark::Line(Pen::new(colour, 1.8, Dash::Solid));
        panel.keys.push(Key { mark, text: format!("{count} gateways of the {kind} kind") });
    }
    let mut restarts_us: Vec<f64> =
        subject.trace.gateways.iter().flat_map(|gateway| gateway.restarts_s.iter().map(|at_s| at_s * 1e6)).collect();
    if !restarts_us.is_empty() {
        let pen = Pen::new(INK, 1.0, Dash::Solid);
        let text = format!("{} restarts at the memory limit", restarts_us.len());
        // Crosses that would lie on each other are drawn once.
        let width_us = subject.trace.at_s.last().copied().unwrap_or(1.0) * 1e6 / CROSSES;
        restarts_us.sort_by(f64::total_cmp);
        restarts_us.dedup_by(|later, kept| *later - *kept < width_us);
        panel.layers.push(Layer::Crosses { at_us: restarts_us, pen });
        panel.keys.push(Key { mark: Mark::Cross(pen), text });
    }
    panel
}

/// Policies over the setting that varies: spread, restarts, deletions and goodput.
///
/// # Errors
/// [`ChartError::NoAxis`] where nothing varies that is a number.
pub fn over_setting(report: &Report, varied: &Varied<'_>, form: Form) -> Result<Vec<u8>, ChartError> {
    let fonts = Fonts::new()?;
    let scale = if varied.name.ends_with("-s") { 1e6 } else { 1.0 };
    let points =
        |line: &CellSummary| varied.values.iter().find(|(label, _)| *label == line.settings).map(|(_, x)| x * scale);
    let shown = [
        ("spread_in_flight", "spread of in flight per capacity", Quantity::Share),
        ("restarts", "restarts in a run", Quantity::Count),
        ("deletion_p95_ratio", "95 % of deletions, relative to idle gateways", Quantity::Count),
        ("goodput_gbit_s", "goodput", Quantity::Rate),
    ];
    let policies: Vec<&str> = report.lines.iter().fold(Vec::new(), |mut names, line| {
        if !names.contains(&line.policy) {
            names.push(line.policy);
        }
        names
    });
    let panel = |(measure, title, quantity): (&str, &str, Quantity)| {
        let mut panel = Panel::new(measure, title, quantity, 170.0);
        let mut top = f64::MIN_POSITIVE;
        let factor = if quantity == Quantity::Rate { 1e9 } else { 1.0 };
        for (at, policy) in policies.iter().enumerate() {
            let of = report.lines.iter().filter(|line| line.policy == *policy);
            let mut curve: Vec<(f64, f64)> =
                of.filter_map(|line| Some((points(line)?, line.estimate(measure)?.mean * factor))).collect();
            curve.sort_by(|one, other| one.0.total_cmp(&other.0));
            top = curve.iter().map(|point| point.1).fold(top, f64::max);
            let pen = pen(at);
            panel.curve(vec![curve.clone()], pen, *policy);
            panel.layers.push(Layer::Dots { samples: curve, diameter: 3.0, colour: COLOURS[at % COLOURS.len()] });
        }
        panel.top = top * 1.08;
        panel
    };
    let panels = shown.map(panel);
    let xs = || varied.values.iter().map(|(_, x)| x * scale);
    let (from, to) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
    if from >= to {
        return Err(ChartError::NoAxis);
    }
    let margin = (to - from) * 0.02;
    let quantity = match varied.name {
        "utilisation" => Quantity::Share,
        _ if scale > 1.0 => Quantity::Micros,
        _ => Quantity::Count,
    };
    let name = AXES.iter().find(|(name, _)| *name == varied.name).map_or("the setting that varies", |(_, shown)| shown);
    let axis = Axis::Of { name, quantity };
    let span = Span { from_us: from - margin, to_us: to + margin, steady_us: None, axis };
    let header = Header {
        title: format!("{}: policies over {}", report.name, varied.name),
        lines: vec![report.about.clone()],
        footer: format!("simulated: means of {} runs in all", report.runs),
        made_by: format!("linerate {}", env!("CARGO_PKG_VERSION")),
    };
    drawn(&layout::scene(&header, &panels, span, &fonts), &fonts, form)
}

/// A setting that varies, and where each combination lies on its axis.
#[derive(Debug, Clone)]
pub struct Varied<'a> {
    /// Its name in the experiment.
    pub name: &'a str,
    /// The combinations by their labels.
    pub values: Vec<(String, f64)>,
}

const AXES: [(&str, &str); 5] = [
    ("utilisation", "offered load, of the capacity"),
    ("reports.usage-s", "time between reports"),
    ("reports.perf-s", "time between samples"),
    ("reports.fuzz", "fuzz"),
    ("removed", "gateways that left"),
];

const COLOURS: [Colour; 6] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY];

/// Colours, and with more policies than colours another dash.
fn pen(at: usize) -> Pen {
    let dash = [Dash::Solid, Dash::Short, Dash::Dotted][at / COLOURS.len() % 3];
    Pen::new(COLOURS[at % COLOURS.len()], 1.8, dash)
}
