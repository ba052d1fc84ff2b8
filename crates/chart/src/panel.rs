//! A panel: one quantity over the time that all panels share. What it shows, not yet where on the picture.

use crate::axis::Quantity;
use crate::palette::ORANGE;
use crate::scene::{Colour, Paint, Pen};

/// A point of a curve: microseconds from the start of the test, and a value in the quantity's base unit.
pub(crate) type Sample = (f64, f64);

#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// Its name in the document.
    pub(crate) name: String,
    pub(crate) title: String,
    /// What a value means besides its unit: `in each 33 ms`.
    pub(crate) per: String,
    pub(crate) quantity: Quantity,
    /// Height of the frame.
    pub(crate) height: f64,
    /// The highest value shown.
    pub(crate) top: f64,
    /// Drawn in order.
    pub(crate) layers: Vec<Layer>,
    /// Drawn above the layers.
    pub(crate) levels: Vec<Level>,
    pub(crate) keys: Vec<Key>,
    /// What a reader would otherwise miss: evidence that is not there, values beyond the top.
    pub(crate) notes: Vec<String>,
}

/// Marks of one kind.
#[derive(Debug, Clone)]
pub(crate) enum Layer {
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
    /// Words at the top, the most important first: those that would cover one before are left out.
    Labels { labels: Vec<Label> },
}

/// A word above a moment.
#[derive(Debug, Clone)]
pub(crate) struct Label {
    pub(crate) at_us: f64,
    pub(crate) text: String,
}

/// A value over a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    pub(crate) from_us: f64,
    pub(crate) to_us: f64,
    pub(crate) value: f64,
}

/// A part of a pile over a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BandStep {
    pub(crate) from_us: f64,
    pub(crate) to_us: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// A value that holds for the whole run, or from some moment on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) value: f64,
    pub(crate) from_us: Option<f64>,
    pub(crate) pen: Pen,
}

/// What a mark means.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) mark: Mark,
    pub(crate) text: String,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark {
    Line(Pen),
    Dot(Colour),
    Fill(Paint),
    /// What is left white.
    Blank,
    Cross(Pen),
}

impl Panel {
    /// A panel without marks.
    pub(crate) fn new(name: impl Into<String>, title: impl Into<String>, quantity: Quantity, height: f64) -> Self {
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
    pub(crate) fn curve(&mut self, parts: Vec<Vec<Sample>>, pen: Pen, key: impl Into<String>) {
        if !parts.is_empty() {
            self.layers.push(Layer::Curve { parts, pen });
            self.keys.push(Key { mark: Mark::Line(pen), text: key.into() });
        }
    }

    /// Adds the area under a curve with its key, where there is one to draw.
    pub(crate) fn ground(&mut self, parts: Vec<Vec<Sample>>, paint: Paint, key: impl Into<String>) {
        if !parts.is_empty() {
            self.layers.push(Layer::Ground { parts, paint });
            self.keys.push(Key { mark: Mark::Fill(paint), text: key.into() });
        }
    }

    /// Adds a level line with its key.
    pub(crate) fn level(&mut self, level: Level, key: impl Into<String>) {
        self.keys.push(Key { mark: Mark::Line(level.pen), text: key.into() });
        self.levels.push(level);
    }

    /// Whether there is nothing to see in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Adds the least and the greatest of each column as dots, and has the panel reach to them; `none` is noted where there
    /// are none.
    pub(crate) fn ranges(&mut self, samples: Vec<Sample>, none: &str) {
        self.top = peak([&samples]).max(1.0) * 1.12;
        if samples.is_empty() {
            return self.note(none);
        }
        self.layers.push(Layer::Dots { samples, diameter: 1.8, colour: ORANGE });
        self.keys.push(Key { mark: Mark::Dot(ORANGE), text: "least and greatest of each column".to_owned() });
    }

    /// Adds a line of text.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// The highest value of some curves.
pub(crate) fn peak<'a>(parts: impl IntoIterator<Item = &'a Vec<Sample>>) -> f64 {
    parts.into_iter().flatten().map(|sample| sample.1).fold(0.0, f64::max)
}

/// The outline of values over spans: level within each, upright between them.
pub(crate) fn stairs(steps: &[Step]) -> Vec<Sample> {
    steps.iter().flat_map(|step| [(step.from_us, step.value), (step.to_us, step.value)]).collect()
}
