//! Goodput over time, with the line rate or the cap that it should reach.

use diagnose::waterfall::line::{LineRate, LineRateSource};
use model::measurement::{End, Heading, SteadyState};
use report::timeline::Timeline;
use units::DataRate;

use crate::axis::Quantity;
use crate::palette::{GREY, INK, LIMIT, ORANGE};
use crate::panel::{Layer, Level, Panel, Step, stairs};
use crate::run::story::{Story, amount, exact, micros};
use crate::scene::{Colour, Dash, Pen};

pub(crate) fn panel(story: &Story<'_>, heading: Heading) -> Panel {
    let height = if story.headings.len() > 1 { 125.0 } else { 170.0 };
    let mut panel = Panel::new(story.named("goodput", heading), "Goodput", Quantity::Rate, height);
    let steps = steps(story, heading);
    if steps.is_empty() {
        panel.title = story.titled("Goodput", heading);
        panel.note(story.silence(heading, End::Receiver));
        return panel;
    }
    let curve = stairs(&steps);
    let highest = usual(&steps);
    panel.top = highest.max(1.0) * 1.12;
    let pen = Pen { dash: Dash::Solid, ..story.pen(heading) };
    panel.curve(vec![curve], pen, format!("{}{}", story.way(heading), counted_at(story, heading)));
    steady(&mut panel, story, heading);
    for (value, label, pen) in limits(story) {
        if value <= highest * IN_SIGHT {
            panel.top = panel.top.max(value * 1.12);
            panel.level(Level { value, from_us: None, pen }, label);
        } else {
            panel.note(format!("{label}: far above this panel"));
        }
    }
    beyond(&mut panel, &steps, pen.colour);
    panel
}

/// The greatest value; where a few steps are far above the rest, as after a pause, what the others stay below.
fn usual(steps: &[Step]) -> f64 {
    const FAR: f64 = 2.0;
    let mut values: Vec<f64> = steps.iter().map(|step| step.value).collect();
    values.sort_by(f64::total_cmp);
    let greatest = values.last().copied().unwrap_or(0.0);
    let most = values.get(values.len() * 98 / 100).copied().unwrap_or(greatest);
    if greatest > most * FAR { most * 1.3 } else { greatest }
}

/// Steps that the panel has no room for.
fn beyond(panel: &mut Panel, steps: &[Step], colour: Colour) {
    let above: Vec<&Step> = steps.iter().filter(|step| step.value > panel.top).collect();
    let Some(most) = above.iter().map(|step| step.value).reduce(f64::max) else { return };
    let steps = if above.len() == 1 { "1 step is".to_owned() } else { format!("{} steps are", above.len()) };
    panel.note(format!("{steps} above this panel, up to {}, marked at its top", Quantity::Rate.show(most)));
    let samples = above.iter().map(|step| (f64::midpoint(step.from_us, step.to_us), step.value)).collect();
    panel.layers.push(Layer::Dots { samples, diameter: 2.6, colour });
}

/// A limit this many times higher than the goodput would leave too little room to see the goodput in.
const IN_SIGHT: f64 = 4.0;

/// The mean from the end of ramp-up on.
fn steady(panel: &mut Panel, story: &Story<'_>, heading: Heading) {
    let Some(SteadyState::Reached { ramp_up, goodput }) = story.total(heading).map(|total| &total.steady) else {
        return;
    };
    let pen = Pen::new(INK, 1.1, Dash::Short);
    let value = amount(goodput.bps());
    let from = exact(micros(*ramp_up));
    let after = if ramp_up.is_zero() {
        "from the start".to_owned()
    } else {
        format!("after {}", units::duration::show(*ramp_up))
    };
    panel.level(Level { value, from_us: Some(from), pen }, format!("steady {goodput} {after}"));
}

/// Steps of a three-hundredth of the run; the run's own intervals where there are no samples.
fn steps(story: &Story<'_>, heading: Heading) -> Vec<Step> {
    if let Some(timeline) = Timeline::new(&story.samples.streams, heading) {
        let step = |pair: &[i64]| {
            let (from, to) = (pair[0], pair[1]);
            let bytes = timeline.bytes_at(to).saturating_sub(timeline.bytes_at(from));
            let value = amount(bytes) * 8e6 / exact((to - from).max(1));
            Step { from_us: exact(from), to_us: exact(to), value }
        };
        return story.edges(300).windows(2).map(step).collect();
    }
    let intervals = story.measurement().map_or(&[][..], |measurement| &measurement.intervals);
    let step = |interval: &model::measurement::Interval| Step {
        from_us: exact(micros(interval.start)),
        to_us: exact(micros(interval.end)),
        value: amount(interval.rate.bps()),
    };
    intervals.iter().filter(|interval| interval.heading == heading).map(step).collect()
}

/// Where goodput was not counted at the receiver, the place belongs to the number.
fn counted_at(story: &Story<'_>, heading: Heading) -> &'static str {
    let is_told = |end| !story.end(heading, end).is_empty();
    match (is_told(End::Receiver), is_told(End::Sender), story.is_tcp()) {
        (true, ..) | (false, false, _) => "",
        (false, true, true) => " (as acknowledged; the receiver sent no samples)",
        (false, true, false) => " (as sent; the receiver sent no samples)",
    }
}

/// What the goodput of one direction cannot exceed: the lowest known link rate, and caps that were asked for.
fn limits(story: &Story<'_>) -> Vec<(f64, String, Pen)> {
    // As the text says it: what a virtual device makes up is no line rate.
    let line = LineRate::of(story.run);
    let known = (line.source != LineRateSource::Unknown).then_some(line.rate);
    let spec = &story.run.spec;
    let all = |rate: DataRate| DataRate::from_bps(rate.bps().saturating_mul(u64::from(spec.streams)));
    let (cap, pace) = (spec.rate.map(all), spec.pace.map(all));
    [
        ("line rate", known, LIMIT),
        ("cap of the sending program", cap, Pen::new(GREY, 1.3, Dash::Long)),
        ("cap of the kernel's pacing", pace, Pen::new(ORANGE, 1.3, Dash::Long)),
    ]
    .into_iter()
    .filter_map(|(name, rate, pen)| {
        let rate = rate.filter(|rate| !rate.is_zero())?;
        Some((amount(rate.bps()), format!("{name} {rate}"), pen))
    })
    .collect()
}
