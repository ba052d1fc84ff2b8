//! From values over time to shapes inside a panel's frame.

use crate::palette::INK;
use crate::panel::{BandStep, Label, Layer, Level, Sample, Step};
use crate::scene::{Anchor, Backing, Paint, Pen, Point, Shape, Text, Weight};
use crate::span::Span;

/// A panel's place on the picture, and what its edges stand for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) span: Span,
    /// The value at the top; the bottom is zero.
    pub(crate) highest: f64,
}

impl Frame {
    /// Where a time is; times outside stand at the edge.
    pub(crate) fn x(&self, at_us: f64) -> f64 {
        let part = (at_us - self.span.from_us) / (self.span.to_us - self.span.from_us);
        self.left + part.clamp(0.0, 1.0) * (self.right - self.left)
    }

    /// Where a value is; values beyond stand at the top.
    pub(crate) fn y(&self, value: f64) -> f64 {
        self.bottom - (value / self.highest).clamp(0.0, 1.0) * (self.bottom - self.top)
    }

    /// A point of the bottom edge.
    pub(crate) fn at_floor(&self, x: f64) -> Point {
        Point { x, y: self.bottom }
    }

    fn point(&self, sample: &Sample) -> Point {
        Point { x: self.x(sample.0), y: self.y(sample.1) }
    }

    fn shows(&self, at_us: f64) -> bool {
        (self.span.from_us..=self.span.to_us).contains(&at_us)
    }
}

/// The shapes of one layer.
pub(crate) fn layer(layer: &Layer, frame: &Frame) -> Vec<Shape> {
    match layer {
        Layer::Curve { parts, pen } => {
            let within = parts.iter().flat_map(|part| below(part, frame.highest));
            let lines = within.map(|part| part.iter().map(|sample| frame.point(sample)).collect());
            vec![Shape::Lines { lines: lines.collect(), pen: *pen }]
        }
        Layer::Ground { parts, paint } => parts.iter().filter_map(|part| ground(frame, part, *paint)).collect(),
        Layer::Dots { samples, diameter, colour } => {
            let shown: Vec<&Sample> = samples.iter().filter(|sample| frame.shows(sample.0)).collect();
            let (above, within): (Vec<&Sample>, Vec<&Sample>) =
                shown.into_iter().partition(|sample| sample.1 > frame.highest);
            let centres = within.into_iter().map(|sample| frame.point(sample)).collect();
            let mut shapes = vec![Shape::Dots { centres, diameter: *diameter, colour: *colour }];
            shapes.extend(above.into_iter().map(|sample| arrow(frame, sample.0, *colour)));
            shapes
        }
        Layer::Bars { bars, paint } => bars.iter().map(|bar| upright(frame, bar, *paint)).collect(),
        Layer::Band { steps, paint } => band(frame, steps, *paint).into_iter().collect(),
        Layer::Labels { labels } => self::labels(labels, frame),
        Layer::Crosses { at_us, pen } => {
            let shown = at_us.iter().filter(|at| frame.shows(**at));
            shown.map(|at| cross(Point { x: frame.x(*at), y: frame.top + 7.0 }, *pen)).collect()
        }
    }
}

fn labels(labels: &[Label], frame: &Frame) -> Vec<Shape> {
    const APART: f64 = 16.0;
    let mut taken: Vec<f64> = Vec::new();
    let mut shapes = Vec::new();
    for label in labels.iter().filter(|label| frame.shows(label.at_us)) {
        let x = frame.x(label.at_us);
        if taken.iter().any(|other| (other - x).abs() < APART) {
            continue;
        }
        taken.push(x);
        shapes.push(Shape::Text(Text {
            at: Point { x, y: frame.top + 11.0 },
            text: label.text.clone(),
            size: 10.5,
            weight: Weight::Bold,
            colour: INK,
            anchor: Anchor::Middle,
            backing: Backing::Seam,
        }));
    }
    shapes
}

/// A level line.
pub(crate) fn level(level: &Level, frame: &Frame) -> Shape {
    let y = frame.y(level.value);
    let from = Point { x: level.from_us.map_or(frame.left, |from| frame.x(from)), y };
    Shape::line(from, Point { x: frame.right, y }, level.pen)
}

/// Two short lines that cross.
pub(crate) fn cross(at: Point, pen: Pen) -> Shape {
    const ARM: f64 = 3.5;
    let stroke = |rise: f64| vec![Point { x: at.x - ARM, y: at.y - rise }, Point { x: at.x + ARM, y: at.y + rise }];
    Shape::Lines { lines: vec![stroke(ARM), stroke(-ARM)], pen }
}

/// A sign at the top for a value above it.
fn arrow(frame: &Frame, at_us: f64, colour: crate::scene::Colour) -> Shape {
    let x = frame.x(at_us);
    let outline = [(x, frame.top + 1.0), (x + 3.5, frame.top + 7.0), (x - 3.5, frame.top + 7.0)];
    Shape::Area { outline: outline.map(|(x, y)| Point { x, y }).to_vec(), paint: Paint::Solid(colour) }
}

/// The parts of a curve that are not above `highest`, each up to where it crosses that.
fn below(curve: &[Sample], highest: f64) -> Vec<Vec<Sample>> {
    let mut parts: Vec<Vec<Sample>> = vec![Vec::new()];
    let mut before: Option<Sample> = None;
    for sample in curve.iter().copied() {
        let crossing = before.filter(|before| (before.1 > highest) != (sample.1 > highest)).map(|before| {
            let part = (highest - before.1) / (sample.1 - before.1);
            (before.0 + part * (sample.0 - before.0), highest)
        });
        if before.is_some_and(|before| before.1 > highest) && crossing.is_some() {
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(crossing);
            if sample.1 <= highest {
                part.push(sample);
            }
        }
        before = Some(sample);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn ground(frame: &Frame, part: &[Sample], paint: Paint) -> Option<Shape> {
    let (first, last) = (part.first()?, part.last()?);
    let mut outline = vec![frame.at_floor(frame.x(first.0))];
    outline.extend(part.iter().map(|sample| frame.point(sample)));
    outline.push(frame.at_floor(frame.x(last.0)));
    Some(Shape::Area { outline, paint })
}

/// A bar, never so narrow or low that it is not seen: one event among many is still one.
fn upright(frame: &Frame, bar: &Step, paint: Paint) -> Shape {
    const NARROWEST: f64 = 2.0;
    const LOWEST: f64 = 3.0;
    let (left, right) = (frame.x(bar.from_us), frame.x(bar.to_us));
    let right = right.max(left + NARROWEST).min(frame.right);
    Shape::rectangle(right.min(left), frame.y(bar.value).min(frame.bottom - LOWEST), right, frame.bottom, paint)
}

fn band(frame: &Frame, steps: &[BandStep], paint: Paint) -> Option<Shape> {
    if steps.iter().all(|step| step.high <= step.low) {
        return None;
    }
    let edge =
        |value: fn(&BandStep) -> f64| move |step: &BandStep| [(step.from_us, value(step)), (step.to_us, value(step))];
    let mut outline: Vec<Sample> = steps.iter().flat_map(edge(|step| step.high)).collect();
    outline.extend(steps.iter().flat_map(edge(|step| step.low)).collect::<Vec<_>>().into_iter().rev());
    Some(Shape::Area { outline: outline.iter().map(|sample| frame.point(sample)).collect(), paint })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_ends_where_it_leaves_the_panel_and_starts_where_it_comes_back() {
        let curve = [(0.0, 0.0), (10.0, 20.0), (20.0, 20.0), (30.0, 0.0)];
        let parts = below(&curve, 10.0);
        assert_eq!(parts, [vec![(0.0, 0.0), (5.0, 10.0)], vec![(25.0, 10.0), (30.0, 0.0)]]);
        assert_eq!(below(&curve, 30.0), [curve.to_vec()]);
        assert!(below(&[(0.0, 40.0), (1.0, 50.0)], 30.0).is_empty());
    }
}
