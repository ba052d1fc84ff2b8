//! A panel: one quantity over the time that all panels share. What it shows, not yet where on the picture.

use super::axis::Quantity;
use super::scene::{Colour, Paint, Pen};

/// A point of a curve: microseconds from the start of the test, and a value in the quantity's base unit.
pub type Sample = (f64, f64);

#[derive(Debug, Clone)]
pub struct Panel {
    /// Its name in the document.
    pub name: String,
    pub title: String,
    /// What a value means besides its unit: `in each 33 ms`.
    pub per: String,
    pub quantity: Quantity,
    /// Height of the frame.
    pub height: f64,
    /// The highest value shown.
    pub top: f64,
    /// Drawn in order.
    pub layers: Vec<Layer>,
    /// Drawn above the layers.
    pub levels: Vec<Level>,
    pub keys: Vec<Key>,
    /// What a reader would otherwise miss: evidence that is not there, values beyond the top.
    pub notes: Vec<String>,
}

/// Marks of one kind.
#[derive(Debug, Clone)]
pub enum Layer {
    /// A curve; each part is without a gap.
    Curve { parts: Vec<Vec<Sample>>, pen: Pen },
    /// The area under a curve.
    Ground { parts: Vec<Vec<Sample>>, paint: Paint },
    /// Single values; those above the top are drawn as crosses at the top.
    Dots { samples: Vec<Sample>, diameter: f64, colour: Colour },
    /// Bars from zero, each as wide as its step.
    Bars { bars: Vec<Step>, paint: Paint },
    /// An area between two stairs.
    Band { steps: Vec<BandStep>, paint: Paint },
    /// Crosses at the top, for events without a value.
    Crosses { at_us: Vec<f64>, pen: Pen },
}

/// A value over a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub from_us: f64,
    pub to_us: f64,
    pub value: f64,
}

/// A part of a pile over a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandStep {
    pub from_us: f64,
    pub to_us: f64,
    pub low: f64,
    pub high: f64,
}

/// A value that holds for the whole run, or from some moment on.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    pub value: f64,
    pub from_us: Option<f64>,
    pub pen: Pen,
}

/// What a mark means.
#[derive(Debug, Clone)]
pub struct Key {
    pub mark: Mark,
    pub text: String,
}

#[derive(Debug, Clone, Copy)]
pub enum Mark {
    Line(Pen),
    Dot(Colour),
    Fill(Paint),
    /// What is left white.
    Blank,
    Cross(Pen),
}

impl Panel {
    /// A panel without marks.
    pub fn new(name: impl Into<String>, title: impl Into<String>, quantity: Quantity, height: f64) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            per: String::new(),
            quantity,
            height,
            top: 1.0,
            layers: Vec::new(),
            levels: Vec::new(),
            keys: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds a curve with its key, where there is one to draw.
    pub fn curve(&mut self, parts: Vec<Vec<Sample>>, pen: Pen, key: impl Into<String>) {
        if !parts.is_empty() {
            self.layers.push(Layer::Curve { parts, pen });
            self.keys.push(Key { mark: Mark::Line(pen), text: key.into() });
        }
    }

    /// Adds the area under a curve with its key, where there is one to draw.
    pub fn ground(&mut self, parts: Vec<Vec<Sample>>, paint: Paint, key: impl Into<String>) {
        if !parts.is_empty() {
            self.layers.push(Layer::Ground { parts, paint });
            self.keys.push(Key { mark: Mark::Fill(paint), text: key.into() });
        }
    }

    /// Adds a level line with its key.
    pub fn level(&mut self, level: Level, key: impl Into<String>) {
        self.keys.push(Key { mark: Mark::Line(level.pen), text: key.into() });
        self.levels.push(level);
    }

    /// Whether there is nothing to see in it.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Adds a line of text.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// The highest value of some curves.
pub fn peak<'a>(parts: impl IntoIterator<Item = &'a Vec<Sample>>) -> f64 {
    parts.into_iter().flatten().map(|sample| sample.1).fold(0.0, f64::max)
}

/// The outline of values over spans: level within each, upright between them.
pub fn stairs(steps: &[Step]) -> Vec<Sample> {
    steps.iter().flat_map(|step| [(step.from_us, step.value), (step.to_us, step.value)]).collect()
}
