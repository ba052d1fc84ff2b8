//! A run as a picture: stacked panels on one axis of time.
//!
//! From what was sampled to what is seen, in steps that know nothing of each other:
//!
//! * [`story`] reads the run, [`panels`] decide what each [`panel`] shows, [`header`] says what it is about
//! * [`layout`] and [`draw`] put that on a [`scene`], with [`axis`], [`font`] and [`palette`]
//! * [`svg`] writes the scene as a document, [`raster`] and [`png`] as an image

mod axis;
mod draw;
pub(super) mod font;
mod header;
mod layout;
pub(super) mod palette;
mod panel;
mod panels;
mod png;
mod raster;
pub(super) mod scene;
mod simulated;
mod story;
mod svg;
mod swept;
mod tuned;

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Context;
use model::measurement::SteadyState;
use model::run::Run;
use model::series::RunSamples;

use font::Fonts;
use header::Header;
use layout::{Axis, Span};
pub use simulated::picture as simulated;
use story::{Story, exact, micros};
pub use swept::picture as swept;
pub use tuned::picture as tuned;

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A drawing that stays sharp, with text that can be searched.
    Svg,
    /// An image, two pixels for each of the drawing.
    Png,
}

impl Form {
    /// The form that a file's name asks for.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension().and_then(OsStr::to_str)?;
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }
}

/// The picture of a run, as the bytes of a file.
pub fn picture(run: &Run, samples: &RunSamples, form: Form) -> anyhow::Result<Vec<u8>> {
    let story = Story::new(run, samples);
    let fonts = Fonts::new().context("a font of this program is damaged")?;
    let scene = layout::scene(&Header::new(&story), &panels::all(&story), span(&story), &fonts);
    drawn(&scene, &fonts, form)
}

/// A scene, as the bytes of a file.
pub fn drawn(scene: &scene::Scene, fonts: &Fonts, form: Form) -> anyhow::Result<Vec<u8>> {
    match form {
        Form::Svg => Ok(svg::document(scene)),
        Form::Png => {
            let pixels = raster::pixels(scene, fonts).context("the picture is too large")?;
            let rgb = pixels.data().chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
            Ok(png::file(&png::Image { width: pixels.width(), height: pixels.height(), rgb }))
        }
    }
}

/// The run from its start to its end, with the probes before it where they do not take too much room.
fn span(story: &Story<'_>) -> Span {
    const MOST_BEFORE: f64 = 0.12;
    let to_us = exact(story.end_us);
    let first = story.samples.probes.sent_us.iter().min().map_or(0.0, |first| exact(*first));
    let from_us = if first < 0.0 && -first <= to_us * MOST_BEFORE { first - to_us * 0.005 } else { 0.0 };
    let steady_us = match story.headings[..] {
        [heading] => match story.total(heading).map(|total| &total.steady) {
            Some(SteadyState::Reached { ramp_up, .. }) => Some(exact(micros(*ramp_up))),
            Some(SteadyState::NotReached) | None => None,
        },
        _ => None,
    };
    Span { from_us, to_us, steady_us, axis: Axis::Time }
}
