//! A simulated transfer as a picture.

use model::measurement::Interval;
use path::summary;
use sim::flow::{Flow, Outcome, Sample as State};

use crate::axis::Quantity;
use crate::font::Fonts;
use crate::header::Header;
use crate::layout;
use crate::palette::{BLUE, GREEN, INK, LIMIT, ORANGE, PURPLE, VERMILLION};
use crate::panel::{Level, Panel, Sample, Step, peak, stairs};
use crate::run::story::{amount, thinned};
use crate::scene::{Dash, Paint, Pen};
use crate::span::{Axis, Span};
use crate::{ChartError, Form, drawn};

/// The picture, as the bytes of a file, with what a run measured over it where there are intervals of one.
///
/// # Errors
/// See [`ChartError`].
pub fn picture(flow: &Flow, outcome: &Outcome, measured: &[Interval], form: Form) -> Result<Vec<u8>, ChartError> {
    let fonts = Fonts::new()?;
    let mut panels = [goodput(flow, outcome), windows(outcome), round_trip(outcome), resent(outcome)];
    lay_over(&mut panels, measured);
    let to_us = outcome.duration.as_secs_f64().max(1e-6) * 1e6;
    let span = Span { from_us: 0.0, to_us, steady_us: None, axis: Axis::Time };
    drawn(&layout::scene(&header(flow, outcome), &panels, span, &fonts), &fonts, form)
}

fn header(flow: &Flow, outcome: &Outcome) -> Header {
    let rate = outcome.goodput().map_or_else(|| "nothing".to_owned(), |rate| rate.to_string());
    let took = units::duration::show(outcome.duration);
    Header {
        title: format!("simulated: {rate}"),
        lines: vec![
            format!("{}, {}, seed {}", path(flow), flow.sender.algorithm.name(), flow.seed.0),
            format!(
                "{} in {took}{} · {} segments retransmitted",
                outcome.delivered,
                if outcome.finished { "" } else { ", given up" },
                outcome.retransmits
            ),
        ],
        footer: "a prediction, not a measurement".to_owned(),
        made_by: format!("linerate {}", env!("CARGO_PKG_VERSION")),
    }
}

/// `10.0 Gbit/s, queue 62.5 MB, RTT 100 ms, loss 1 in 10,000`.
fn path(flow: &Flow) -> String {
    let rtt = summary::delay(&flow.forward) + summary::delay(&flow.reverse);
    let mut parts = Vec::new();
    if let Some(bottleneck) = summary::bottleneck(&flow.forward) {
        let queue = bottleneck.queue.map_or_else(|| "unlimited".to_owned(), |queue| queue.to_string());
        parts.extend([bottleneck.rate.to_string(), format!("queue {queue}")]);
    }
    if let Some(policer) = summary::policer(&flow.forward) {
        parts.push(format!("policer {}, {}", policer.rate, policer.burst));
    }
    parts.push(format!("RTT {}", units::duration::show(rtt)));
    let loss = summary::random_loss(&flow.forward);
    if loss > 0.0 {
        parts.push(format!("loss {} %", (loss * 1e6).round() / 1e4));
    }
    parts.join(", ")
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

fn goodput(flow: &Flow, outcome: &Outcome) -> Panel {
    let mut panel = Panel::new("goodput", "Goodput", Quantity::Rate, 170.0);
    let curve = stairs(&steps(outcome, |state| state.acked.get(), 8.0));
    fit(&mut panel, std::slice::from_ref(&curve));
    panel.curve(vec![curve], Pen::new(BLUE, 1.6, Dash::Solid), "as acknowledged");
    if let Some(bottleneck) = summary::bottleneck(&flow.forward) {
        let value = amount(bottleneck.rate.bps());
        let label = format!("link rate {}", bottleneck.rate);
        if value <= panel.top * IN_SIGHT {
            panel.top = panel.top.max(value * 1.12);
            panel.level(Level { value, from_us: None, pen: LIMIT }, label);
        } else {
            panel.note(format!("{label}: far above this panel"));
        }
    }
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
    let mut panel = Panel::new("round-trip", "Smoothed RTT", Quantity::Micros, 110.0);
    let curve = curve(outcome, |state| state.rtt.as_secs_f64() * 1e6);
    fit(&mut panel, std::slice::from_ref(&curve));
    panel.curve(vec![curve], Pen::new(ORANGE, 1.6, Dash::Solid), "sender's");
    panel
}

fn resent(outcome: &Outcome) -> Panel {
    let mut panel = Panel::new("resent", "Retransmitted segments", Quantity::Count, 90.0);
    if outcome.retransmits.get() == 0 {
        panel.note("none");
        return panel;
    }
    let curve = stairs(&steps(outcome, |state| state.retransmits.get(), 0.0));
    fit(&mut panel, std::slice::from_ref(&curve));
    panel.curve(vec![curve], Pen::new(VERMILLION, 1.4, Dash::Solid), "in each step");
    panel
}

/// Adds what was measured to the panels of goodput, windows and RTT.
fn lay_over(panels: &mut [Panel; 4], measured: &[Interval]) {
    if measured.is_empty() {
        return;
    }
    let rates: Vec<Step> = measured
        .iter()
        .map(|interval| Step {
            from_us: interval.start.as_secs_f64() * 1e6,
            to_us: interval.end.as_secs_f64() * 1e6,
            value: amount(interval.rate.bps()),
        })
        .collect();
    let ends = |value: fn(&Interval) -> Option<f64>| -> Vec<Sample> {
        let point = |interval: &Interval| Some((interval.end.as_secs_f64() * 1e6, value(interval)?));
        measured.iter().filter_map(point).collect()
    };
    let cwnd = ends(|interval| interval.cwnd.map(|cwnd| amount(cwnd.get())));
    let rtt = ends(|interval| interval.rtt.map(|rtt| rtt.as_secs_f64() * 1e6));
    let curves = [(stairs(&rates), "measured goodput"), (cwnd, "measured cwnd"), (rtt, "measured RTT")];
    for (panel, (curve, key)) in panels.iter_mut().zip(curves) {
        if curve.is_empty() {
            panel.note(format!("{key}: not in the run"));
            continue;
        }
        panel.top = panel.top.max(peak([&curve]) * 1.12);
        panel.curve(vec![curve], Pen::new(INK, 1.3, Dash::Short), key);
    }
}

fn curve(outcome: &Outcome, value: impl Fn(&State) -> f64) -> Vec<Sample> {
    thinned(&outcome.samples.iter().map(|state| (at(state), value(state))).collect::<Vec<_>>())
}

fn fit(panel: &mut Panel, curves: &[Vec<Sample>]) {
    panel.top = peak(curves).max(1.0) * 1.12;
}
