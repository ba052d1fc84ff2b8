//! A simulated transfer as a picture.

use anyhow::Context;
use sim::flow::{Flow, Outcome, Sample as State};

use super::axis::Quantity;
use super::font::Fonts;
use super::header::Header;
use super::layout::{self, Axis, Span};
use super::palette::{BLUE, GREEN, ORANGE, PURPLE, VERMILLION};
use super::panel::{Panel, Sample, Step, peak, stairs};
use super::scene::{Dash, Paint, Pen};
use super::story::{amount, thinned};
use super::{Form, drawn};

/// The picture, as the bytes of a file.
pub fn picture(flow: &Flow, outcome: &Outcome, form: Form) -> anyhow::Result<Vec<u8>> {
    let fonts = Fonts::new().context("a font of this program is damaged")?;
    let panels = [goodput(outcome), windows(outcome), round_trip(outcome), resent(outcome)];
    let to_us = outcome.took.as_secs_f64().max(1e-6) * 1e6;
    let span = Span { from_us: 0.0, to_us, steady_us: None, axis: Axis::Time };
    drawn(&layout::scene(&header(flow, outcome), &panels, span, &fonts), &fonts, form)
}

fn header(flow: &Flow, outcome: &Outcome) -> Header {
    let rate = outcome.goodput().map_or_else(|| "nothing".to_owned(), |rate| rate.to_string());
    let took = units::duration::show(outcome.took);
    let path: Vec<&str> = flow.there.iter().map(|stage| stage.spec.kind()).collect();
    Header {
        title: format!("simulated: {rate}"),
        lines: vec![
            format!("{} over {}, seed {}", flow.sender.algorithm.name(), path.join(", "), flow.seed.0),
            format!("{} in {took} · {} segments sent again", outcome.delivered, outcome.resent),
        ],
        footer: "a prediction, not a measurement".to_owned(),
        made_by: format!("linerate {}", env!("CARGO_PKG_VERSION")),
    }
}

fn at(state: &State) -> f64 {
    state.at.as_secs_f64() * 1e6
}

/// What each step had more than the one before it.
fn steps(outcome: &Outcome, value: impl Fn(&State) -> u64, per_second: f64) -> Vec<Step> {
    const COLUMNS: usize = 300;
    let stride = outcome.samples.len().div_ceil(COLUMNS).max(1);
    let (mut from_us, mut before) = (0.0, 0);
    let mut steps = Vec::new();
    for state in outcome.samples.iter().skip(stride - 1).step_by(stride) {
        let (to_us, now) = (at(state), value(state));
        let seconds = (to_us - from_us) / 1e6;
        let scale = if per_second > 0.0 { per_second / seconds } else { 1.0 };
        steps.push(Step { from_us, to_us, value: amount(now.saturating_sub(before)) * scale });
        (from_us, before) = (to_us, now);
    }
    steps
}

fn goodput(outcome: &Outcome) -> Panel {
    let mut panel = Panel::new("goodput", "Goodput", Quantity::Rate, 170.0);
    let curve = stairs(&steps(outcome, |state| state.acked.get(), 8.0));
    fit(&mut panel, std::slice::from_ref(&curve));
    panel.curve(vec![curve], Pen::new(BLUE, 1.6, Dash::Solid), "as acknowledged");
    panel
}

fn windows(outcome: &Outcome) -> Panel {
    let mut panel = Panel::new("window", "Windows", Quantity::Bytes, 150.0);
    let of = |value: fn(&State) -> u64| curve(outcome, |state| amount(value(state)));
    let flight = of(|state| state.in_flight.get());
    let window = of(|state| state.cwnd.get());
    let offered = of(|state| state.offered.get());
    fit(&mut panel, &[flight.clone(), window.clone()]);
    let within = peak([&offered]) <= panel.top * IN_SIGHT;
    panel.ground(vec![flight], Paint::Solid(GREEN.thinned(0.4)), "in flight");
    if within {
        panel.top = panel.top.max(peak([&offered]) * 1.1);
        panel.curve(vec![offered], Pen::new(PURPLE, 1.6, Dash::Long), "receiver's window");
    } else {
        panel.note(format!(
            "the receiver's window, up to {}, is far above this panel",
            Quantity::Bytes.show(peak([&offered]))
        ));
    }
    panel.curve(vec![window], Pen::new(BLUE, 1.6, Dash::Solid), "congestion window");
    panel
}

/// A window this many times larger than what is used would leave too little room for the rest.
const IN_SIGHT: f64 = 2.5;

fn round_trip(outcome: &Outcome) -> Panel {
    let mut panel = Panel::new("round-trip", "Round trip, smoothed", Quantity::Micros, 110.0);
    let curve = curve(outcome, |state| state.rtt.as_secs_f64() * 1e6);
    fit(&mut panel, std::slice::from_ref(&curve));
    panel.curve(vec![curve], Pen::new(ORANGE, 1.6, Dash::Solid), "sender's");
    panel
}

fn resent(outcome: &Outcome) -> Panel {
    let mut panel = Panel::new("resent", "Segments sent again", Quantity::Count, 90.0);
    if outcome.resent.get() == 0 {
        panel.note("none");
        return panel;
    }
    let curve = stairs(&steps(outcome, |state| state.resent.get(), 0.0));
    fit(&mut panel, std::slice::from_ref(&curve));
    panel.curve(vec![curve], Pen::new(VERMILLION, 1.4, Dash::Solid), "in each step");
    panel
}

fn curve(outcome: &Outcome, value: impl Fn(&State) -> f64) -> Vec<Sample> {
    thinned(&outcome.samples.iter().map(|state| (at(state), value(state))).collect::<Vec<_>>())
}

fn fit(panel: &mut Panel, curves: &[Vec<Sample>]) {
    panel.top = peak(curves).max(1.0) * 1.12;
}
