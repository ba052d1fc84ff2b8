//! Round-trip time: as the flows saw it, and as probes beside them did.

use std::time::Duration;

use model::measurement::{End, Heading};
use model::series::field::Field;

use crate::axis::Quantity;
use crate::palette::{GREY, LIMIT, SKY};
use crate::panel::{Key, Layer, Level, Mark, Panel, Sample, peak};
use crate::run::story::{Story, amount, curve, exact, thinned, value_before};
use crate::scene::{Dash, Pen};

pub(crate) fn panel(story: &Story<'_>) -> Panel {
    let mut panel = Panel::new("round-trip", "Round-trip time", Quantity::Micros, 140.0);
    let probes = probes(story);
    let curves: Vec<_> = story.headings.iter().map(|heading| (*heading, smoothed(story, *heading))).collect();
    let highest = curves.iter().map(|(_, parts)| peak(parts)).fold(nearly_all(&probes), f64::max);
    panel.top = highest.max(1.0) * 1.15;
    if !probes.is_empty() {
        beyond(&mut panel, &probes);
        panel.layers.push(Layer::Dots { samples: thinned(&probes), diameter: 2.6, colour: SKY });
        panel.keys.push(Key { mark: Mark::Dot(SKY), text: "STAMP probe".to_owned() });
    }
    lost(&mut panel, story);
    for (heading, parts) in curves {
        if story.is_tcp() && parts.is_empty() {
            panel.note(format!("smoothed by TCP, {}: {}", story.way(heading), story.silence(heading, End::Sender)));
        }
        panel.curve(parts, story.pen(heading), key(story, heading));
    }
    idle(&mut panel, story);
    if panel.is_empty() && panel.notes.is_empty() {
        panel.note("unknown: no probe was answered, and UDP measures no RTT");
    }
    panel
}

fn key(story: &Story<'_>, heading: Heading) -> String {
    let mean = if story.end(heading, End::Sender).len() > 1 { ", mean of the streams" } else { "" };
    if story.headings.len() > 1 {
        format!("smoothed by TCP, {}{mean}", story.way(heading))
    } else {
        format!("smoothed by TCP{mean}")
    }
}

/// The kernel's smoothed round trip, the mean of the streams that have one.
fn smoothed(story: &Story<'_>, heading: Heading) -> Vec<Vec<Sample>> {
    let senders = story.end(heading, End::Sender);
    let mean = |at: i64| {
        let each: Vec<f64> = known_rtt(&senders, at);
        (!each.is_empty()).then(|| each.iter().sum::<f64>() / amount(each.len() as u64))
    };
    curve(&story.edges(500), mean)
}

/// Zero is what the kernel tells before the first measurement.
fn known_rtt(senders: &[&model::series::StreamSamples], at: i64) -> Vec<f64> {
    senders
        .iter()
        .filter_map(|sender| value_before(sender, Field::Rtt, at))
        .filter(|rtt| *rtt > 0)
        .map(amount)
        .collect()
}

/// Probes that were answered; those before the start belong to the idle path.
fn probes(story: &Story<'_>) -> Vec<Sample> {
    let probes = &story.samples.probes;
    let answered = probes.sent_us.iter().zip(&probes.rtt_us);
    answered.filter_map(|(sent, rtt)| Some((exact(*sent), f64::from((*rtt)?)))).collect()
}

/// What 99 of 100 probes stay below: a single late one must not squeeze the rest flat.
fn nearly_all(probes: &[Sample]) -> f64 {
    let mut values: Vec<f64> = probes.iter().map(|probe| probe.1).collect();
    values.sort_by(f64::total_cmp);
    values.get((values.len() * 99 / 100).min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn beyond(panel: &mut Panel, probes: &[Sample]) {
    let above: Vec<f64> = probes.iter().map(|probe| probe.1).filter(|rtt| *rtt > panel.top).collect();
    let Some(most) = above.iter().copied().reduce(f64::max) else { return };
    let probes = if above.len() == 1 { "1 probe".to_owned() } else { format!("{} probes", above.len()) };
    panel.note(format!("{probes} above this panel, up to {}, marked at its top", Quantity::Micros.show(most)));
}

/// Probes that nobody answered.
fn lost(panel: &mut Panel, story: &Story<'_>) {
    let probes = &story.samples.probes;
    let unanswered = probes.sent_us.iter().zip(&probes.rtt_us).filter(|(_, rtt)| rtt.is_none());
    let at_us: Vec<f64> = unanswered.map(|(sent, _)| exact(*sent)).collect();
    if !at_us.is_empty() {
        let pen = Pen::new(GREY, 1.2, Dash::Solid);
        panel.keys.push(Key {
            mark: Mark::Cross(pen),
            text: format!("probe lost: {} of {}", at_us.len(), probes.sent_us.len()),
        });
        panel.layers.push(Layer::Crosses { at_us, pen });
    }
}

/// The least round trip of the idle path.
fn idle(panel: &mut Panel, story: &Story<'_>) {
    let latency = story.measurement().and_then(|measurement| measurement.latency.as_ref());
    if let Some(least) = latency.and_then(|latency| latency.idle).and_then(|idle| idle.min_us) {
        let text = units::duration::show(Duration::from_micros(least));
        let level = Level { value: amount(least), from_us: None, pen: LIMIT };
        panel.level(level, format!("least while idle: {text}"));
    }
}
