//! A series of results with its levels and changes.

use baseline::analysis::{Analysis, Shape};
use baseline::series::Sample;

use crate::axis::Quantity;
use crate::font::Fonts;
use crate::header::Header;
use crate::layout;
use crate::palette::{BLUE, GREY, VERMILLION};
use crate::panel::{Key, Layer, Mark, Panel};
use crate::scene::{Dash, Pen};
use crate::span::{Axis, Span};
use crate::{ChartError, Form, drawn};

/// What the picture is of.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The file, and the column in it.
    pub title: &'a str,
    /// Where it is from: the program.
    pub made_by: &'a str,
    /// Whether values are rates in bit/s; otherwise they have no unit.
    pub is_rate: bool,
}

/// The picture: every result a dot, every level a line, every change a cross at the top.
///
/// # Errors
/// See [`ChartError`].
pub fn picture(subject: &Subject<'_>, samples: &[Sample], found: &Analysis, form: Form) -> Result<Vec<u8>, ChartError> {
    let numbers: Vec<&Sample> = samples.iter().filter(|sample| sample.value.is_finite()).collect();
    let first = numbers.iter().map(|sample| sample.at_s).min().ok_or(ChartError::NoAxis)?;
    let last = numbers.iter().map(|sample| sample.at_s).max().ok_or(ChartError::NoAxis)?;
    #[expect(clippy::cast_precision_loss, reason = "pixels are coarser")]
    let at = |moment: i64| (moment - first) as f64 * 1e6;
    let fonts = Fonts::new()?;
    let quantity = if subject.is_rate { Quantity::Rate } else { Quantity::Count };
    let mut panel = Panel::new("results", "results", quantity, 240.0);
    let peak = numbers.iter().map(|sample| sample.value).fold(0.0, f64::max);
    panel.top = peak.max(f64::MIN_POSITIVE) * 1.08;
    let dots = numbers.iter().map(|sample| (at(sample.at_s), sample.value)).collect();
    panel.layers.push(Layer::Dots { samples: dots, diameter: 3.0, colour: GREY });
    panel.keys.push(Key { mark: Mark::Dot(GREY), text: "result".to_owned() });
    let segments = found.segments.iter();
    let levels =
        segments.map(|segment| vec![(at(segment.from_s), segment.level), (at(segment.until_s), segment.level)]);
    panel.curve(levels.collect(), Pen::new(BLUE, 1.8, Dash::Solid), "level");
    if let Some(modes) = &found.modes {
        let lower = found.segments.iter().map(|segment| {
            let level = segment.level * (-modes.gap).exp();
            vec![(at(segment.from_s), level), (at(segment.until_s), level)]
        });
        panel.curve(lower.collect(), Pen::new(BLUE, 1.8, Dash::Short), "second level");
    }
    if !found.changes.is_empty() {
        let pen = Pen::new(VERMILLION, 1.8, Dash::Solid);
        let at_us = found.changes.iter().map(|change| at(change.at_s)).collect();
        panel.layers.push(Layer::Crosses { at_us, pen });
        panel.keys.push(Key { mark: Mark::Cross(pen), text: "change".to_owned() });
    }
    let steps = found.changes.iter().filter(|change| matches!(change.shape, Shape::Step | Shape::Drift)).count();
    let header = Header {
        title: subject.title.to_owned(),
        lines: vec![format!("{} results, {} changes, {steps} of them of level", found.samples, found.changes.len())],
        footer: "linerate detect".to_owned(),
        made_by: subject.made_by.to_owned(),
    };
    let axis = Axis::Of { name: "time since the first result", quantity: Quantity::Micros };
    let span = Span { from_us: 0.0, to_us: at(last).max(1.0), steady_us: None, axis };
    drawn(&layout::scene(&header, &[panel], span, &fonts), &fonts, form)
}
