//! Goodput over time, with the line rate or the cap that it should reach.

use measure::report::timeline::Timeline;
use model::measurement::{End, Heading, SteadyState};
use units::DataRate;

use crate::show::plot::axis::Quantity;
use crate::show::plot::palette::{LIMIT, pen_of};
use crate::show::plot::panel::{Key, Level, Mark, Panel, Step, peak, stairs};
use crate::show::plot::scene::{Dash, Pen};
use crate::show::plot::story::{Story, amount, exact, micros};

pub fn panel(story: &Story<'_>) -> Panel {
    let mut panel = Panel::new("goodput", "Goodput", Quantity::Rate, 170.0);
    let mut highest: f64 = 0.0;
    for heading in &story.headings {
        let steps = steps(story, *heading);
        if steps.is_empty() {
            panel.note(format!("{}: {}", story.way(*heading), story.silence(*heading, End::Receiver)));
            continue;
        }
        let curve = stairs(&steps);
        highest = highest.max(peak([&curve]));
        let key = format!("{}{}", story.way(*heading), counted_at(story, *heading));
        panel.curve(vec![curve], pen_of(*heading), key);
        steady(&mut panel, story, *heading);
    }
    panel.top = highest.max(1.0) * 1.12;
    for (value, label) in limits(story) {
        if value <= highest * IN_SIGHT {
            panel.top = panel.top.max(value * 1.12);
            panel.levels.push(Level { value, from_us: None, pen: LIMIT, label: Some(label) });
        } else if !panel.is_empty() {
            panel.note(format!("{label}: far above this panel"));
        }
    }
    panel
}

/// A limit this many times higher than the goodput would leave too little room to see the goodput in.
const IN_SIGHT: f64 = 4.0;

/// The mean from the end of ramp-up on.
fn steady(panel: &mut Panel, story: &Story<'_>, heading: Heading) {
    let Some(SteadyState::Reached { ramp_up, goodput }) = story.total(heading).map(|total| &total.steady) else {
        return;
    };
    let pen = Pen::new(pen_of(heading).colour.thinned(0.7), 1.1, Dash::Short);
    let value = amount(goodput.bps());
    panel.levels.push(Level { value, from_us: Some(exact(micros(*ramp_up))), pen, label: None });
    let after = if ramp_up.is_zero() {
        "from the start".to_owned()
    } else {
        format!("after {}", units::duration::show(*ramp_up))
    };
    panel.keys.push(Key { mark: Mark::Line(pen), text: format!("steady {goodput} {after}") });
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
fn limits(story: &Story<'_>) -> Vec<(f64, String)> {
    let speed = |device: &Option<model::host::Device>| device.as_ref().and_then(|device| device.speed);
    let links = [speed(&story.run.local.device), speed(&story.run.peer.host.device)].into_iter().flatten().min();
    let spec = &story.run.spec;
    let all = |rate: DataRate| DataRate::from_bps(rate.bps().saturating_mul(u64::from(spec.streams)));
    let (cap, pace) = (spec.rate.map(all), spec.pace.map(all));
    [
        ("line rate", story.run.declared_line_rate.or(links)),
        ("cap of the sending program", cap),
        ("cap of the kernel's pacing", pace),
    ]
    .into_iter()
    .filter_map(|(name, rate)| {
        rate.filter(|rate| !rate.is_zero()).map(|rate| (amount(rate.bps()), format!("{name} {rate}")))
    })
    .collect()
}
