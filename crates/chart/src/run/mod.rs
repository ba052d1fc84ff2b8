//! A run as a picture: stacked panels on one axis of time.
//!
//! * `story` reads the run, `panels` decide what each panel shows, `header` says what it is about

mod header;
mod panels;
pub(crate) mod story;

use model::measurement::SteadyState;
use model::run::Run;
use model::series::RunSamples;

use crate::font::Fonts;
use crate::layout;
use crate::span::{Axis, Span};
use crate::{ChartError, Form, drawn};
use header::header;
use story::{Story, exact, micros};

/// The picture of a run, as the bytes of a file.
///
/// # Errors
/// See [`ChartError`].
pub fn picture(run: &Run, samples: &RunSamples, form: Form) -> Result<Vec<u8>, ChartError> {
    let story = Story::new(run, samples);
    let fonts = Fonts::new()?;
    let scene = layout::scene(&header(&story), &panels::all(&story), span(&story), &fonts);
    drawn(&scene, &fonts, form)
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
            Some(SteadyState::NotReached | SteadyState::NotCounted) | None => None,
        },
        _ => None,
    };
    Span { from_us, to_us, steady_us, axis: Axis::Time }
}
