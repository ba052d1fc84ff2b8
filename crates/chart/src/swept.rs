//! A figure of a sweep as a picture.

use sweep::figure::{Curve, Figure, Panel as Drawn};
use sweep::selection::{Rows, Statistic};
use sweep::value::QuantityKind;

use crate::axis::Quantity;
use crate::drawn;
use crate::font::Fonts;
use crate::header::Header;
use crate::layout;
use crate::palette::{BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION};
use crate::panel::{Key, Layer, Mark, Panel};
use crate::scene::{Colour, Dash, Pen};
use crate::span::{Axis, Span};
use crate::{ChartError, Form};

/// The picture, as the bytes of an SVG file.
///
/// # Errors
/// See [`ChartError`].
pub fn picture(figure: &Figure, rows: &Rows<'_>) -> Result<Vec<u8>, ChartError> {
    let fonts = Fonts::new()?;
    let data = figure.panels(rows);
    let xs = || data.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points).map(|point| point.0);
    let (from, to) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
    let panels: Vec<Panel> =
        data.iter().enumerate().map(|(number, panel)| self::panel(figure, number, panel)).collect();
    let margin = ((to - from) * 0.02).max(1.0);
    let axis = Axis::Of { name: figure.across.name, quantity: quantity(figure.across.kind) };
    let span = Span { from_us: from - margin, to_us: to + margin, steady_us: None, axis };
    drawn(&layout::scene(&header(figure, rows), &panels, span, &fonts), &fonts, Form::Svg)
}

fn header(figure: &Figure, rows: &Rows<'_>) -> Header {
    let statistics = figure.statistics.iter().map(|statistic| statistic.name()).collect::<Vec<_>>().join(" and ");
    Header {
        title: figure.title.clone(),
        lines: vec![format!("{statistics} of {}, {}", figure.what.name(), repetitions(rows))],
        footer: format!("simulated: {}", rows.experiment.name),
        made_by: format!("linerate {}", env!("CARGO_PKG_VERSION")),
    }
}

/// What was done, which is less than what was asked for in a share and where it was stopped.
fn repetitions(rows: &Rows<'_>) -> String {
    match rows.repetitions() {
        Some((1, 1)) => "one transfer each".to_owned(),
        Some((fewest, most)) if fewest == most => format!("{most} transfers each"),
        Some((fewest, most)) => format!("{fewest} to {most} transfers each"),
        None => "no transfers".to_owned(),
    }
}

pub(crate) fn quantity(kind: QuantityKind) -> Quantity {
    match kind {
        QuantityKind::Time => Quantity::Micros,
        QuantityKind::Bytes => Quantity::Bytes,
        QuantityKind::Rate => Quantity::Rate,
        QuantityKind::Share => Quantity::Share,
        QuantityKind::Count | QuantityKind::Flag | QuantityKind::Word => Quantity::Count,
    }
}

const COLOURS: [Colour; 6] = [BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY];

fn panel(figure: &Figure, number: usize, drawn: &Drawn) -> Panel {
    let title = if drawn.title.is_empty() { figure.what.name().to_owned() } else { drawn.title.clone() };
    let mut panel = Panel::new(format!("panel-{number}"), title, quantity(figure.what.kind()), 190.0);
    let peak = drawn.curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::max);
    panel.top = peak.max(f64::MIN_POSITIVE) * 1.08;
    for curve in &drawn.curves {
        draw(&mut panel, curve);
    }
    panel
}

fn draw(panel: &mut Panel, curve: &Curve) {
    let colour = COLOURS[curve.colour % COLOURS.len()];
    if !curve.is_simulated {
        panel.layers.push(Layer::Dots { samples: curve.points.clone(), diameter: 6.0, colour });
        panel.keys.push(Key { mark: Mark::Dot(colour), text: curve.title.clone() });
        return;
    }
    let dash = if curve.statistic == Statistic::P95 { Dash::Short } else { Dash::Solid };
    panel.curve(vec![curve.points.clone()], Pen::new(colour, 1.8, dash), curve.title.clone());
    panel.layers.push(Layer::Dots { samples: curve.points.clone(), diameter: 3.0, colour });
}
