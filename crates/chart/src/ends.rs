//! A transfer that was captured at both ends: what was sent, what arrived, what was lost between, on one clock.

use capture::ends::{Overlay, OverlayColumn};

use crate::axis::Quantity;
use crate::font::Fonts;
use crate::header::Header;
use crate::layout;
use crate::palette::{BLUE, INK, VERMILLION};
use crate::panel::{Key, Label, Layer, Mark, Panel, Sample, peak};
use crate::run::story::amount;
use crate::scene::{Dash, Pen};
use crate::span::{Axis, Span};
use crate::{ChartError, Form, drawn};

/// Numbers above losses: those of so many columns, the largest first.
const NUMBERED: usize = 12;

/// The picture, as the bytes of a file; `names` are the captures near the sender and near the receiver.
///
/// # Errors
/// See [`ChartError`]; [`ChartError::NoAxis`] where nothing passed in the span.
pub fn picture(overlay: &Overlay, names: [&str; 2], form: Form) -> Result<Vec<u8>, ChartError> {
    let fonts = Fonts::new()?;
    let is_used = |column: &OverlayColumn| column.sent.get().is_some() || column.arrived.get().is_some();
    let last = overlay.columns.iter().rposition(is_used).ok_or(ChartError::NoAxis)?;
    let view = View { overlay, columns: overlay.columns.get(..=last).unwrap_or(&[]) };
    let panels = [numbers(&view, names), delay(&view), losses(&view)];
    let axis = Axis::Of { name: "time since the first segment, by the sender's clock", quantity: Quantity::Micros };
    let span = Span { from_us: view.at(0), to_us: view.at(last + 1), steady_us: None, axis };
    drawn(&layout::scene(&header(&view, names), &panels, span, &fonts), &fonts, form)
}

struct View<'a> {
    overlay: &'a Overlay,
    columns: &'a [OverlayColumn],
}

impl View<'_> {
    fn at(&self, index: usize) -> f64 {
        let index = i64::try_from(index).unwrap_or_default();
        us(self.overlay.from_ns.saturating_add(index.saturating_mul(self.overlay.width_ns)))
    }

    /// An upright line from the lowest to the highest value of each column.
    fn strokes(&self, value: impl Fn(&OverlayColumn) -> Option<(u64, u64)>) -> Vec<Vec<Sample>> {
        let found = self.columns.iter().enumerate().filter_map(|(index, column)| Some((index, value(column)?)));
        found.map(|(index, (low, high))| vec![(self.at(index), amount(low)), (self.at(index), amount(high))]).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place on a picture")]
fn us(ns: i64) -> f64 {
    ns as f64 / 1e3
}

fn header(view: &View, [near, far]: [&str; 2]) -> Header {
    let overlay = view.overlay;
    let clock = if overlay.clock.is_estimated {
        "the clocks are matched by the packets that waited least in each direction"
    } else {
        "the clocks are taken for the same"
    };
    Header {
        title: format!("{} to {}, at both ends", overlay.from, overlay.to),
        lines: vec![
            format!("{} of {} segments were lost between {near} and {far}", overlay.lost, overlay.sent),
            clock.to_owned(),
        ],
        footer: format!("each column is {}", Quantity::Micros.show(us(overlay.width_ns))),
        made_by: format!("linerate {}", env!("CARGO_PKG_VERSION")),
    }
}

fn numbers(view: &View, [near, far]: [&str; 2]) -> Panel {
    let mut panel = Panel::new("sequence", "Sequence numbers", Quantity::Bytes, 320.0);
    let sent = view.strokes(|column| column.sent.get());
    let arrived = view.strokes(|column| column.arrived.get());
    panel.top = peak([sent.as_slice(), arrived.as_slice()].concat().iter()).max(1.0) * 1.06;
    panel.curve(sent, Pen::new(INK, 1.2, Dash::Solid), format!("sent ({near})"));
    panel.curve(arrived, Pen::new(BLUE, 1.2, Dash::Solid), format!("arrived ({far})"));
    let lost: Vec<Sample> = view
        .columns
        .iter()
        .enumerate()
        .filter_map(|(index, column)| Some((index, column.lost.get()?)))
        .flat_map(|(index, (low, high))| [(view.at(index), amount(low)), (view.at(index), amount(high))])
        .collect();
    if !lost.is_empty() {
        panel.layers.push(Layer::Dots { samples: lost, diameter: 3.6, colour: VERMILLION });
        panel.keys.push(Key { mark: Mark::Dot(VERMILLION), text: "lost between".to_owned() });
    }
    panel
}

fn delay(view: &View) -> Panel {
    let mut panel = Panel::new("delay", "One-way delay", Quantity::Micros, 120.0);
    let samples: Vec<Sample> = view
        .columns
        .iter()
        .enumerate()
        .filter_map(|(index, column)| Some((view.at(index), column.delay_ns.get()?)))
        .flat_map(|(at, (low, high))| [(at, amount(low) / 1e3), (at, amount(high) / 1e3)])
        .collect();
    panel.ranges(samples, "no segment is in both captures");
    panel
}

fn losses(view: &View) -> Panel {
    let mut panel = Panel::new("lost", "Lost segments", Quantity::Count, 80.0);
    let lost: Vec<(usize, u32)> = view
        .columns
        .iter()
        .enumerate()
        .filter_map(|(index, column)| Some((index, Some(column.lost_segments).filter(|count| *count > 0)?)))
        .collect();
    if lost.is_empty() {
        panel.note("none between the captures");
        return panel;
    }
    let strokes: Vec<Vec<Sample>> =
        lost.iter().map(|(index, count)| vec![(view.at(*index), 0.0), (view.at(*index), f64::from(*count))]).collect();
    panel.top = peak(&strokes).max(1.0) * 1.25;
    let mut largest = lost;
    largest.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let labels = largest.into_iter().take(NUMBERED).filter(|(_, count)| *count > 1);
    let labels: Vec<Label> =
        labels.map(|(index, count)| Label { at_us: view.at(index), text: count.to_string() }).collect();
    panel.curve(strokes, Pen::new(VERMILLION, 1.6, Dash::Solid), "of each column");
    panel.layers.push(Layer::Labels { labels });
    panel
}
