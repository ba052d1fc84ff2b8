//! Segments retransmitted, or datagrams lost: events, counted step by step.

use model::measurement::{End, Heading};
use model::series::StreamSamples;
use model::series::field::Field;
use units::PacketCount;

use crate::axis::Quantity;
use crate::palette::{GREY, INK};
use crate::panel::{Key, Layer, Mark, Panel, Step};
use crate::run::story::{Story, amount, exact, value_before};
use crate::scene::{Dash, Paint, Pen};

pub(crate) fn panel(story: &Story<'_>, heading: Heading) -> Panel {
    if story.is_tcp() { resent(story, heading) } else { lost(story, heading) }
}

fn resent(story: &Story<'_>, heading: Heading) -> Panel {
    let mut panel = named(story, heading, "Retransmitted segments");
    let senders = story.end(heading, End::Sender);
    match steps(story, &senders, Field::TotalRetrans) {
        None => panel.note(untimed(story, heading, End::Sender)),
        Some(steps) => {
            bars(
                &mut panel,
                &steps,
                Paint::Solid(story.pen(heading).colour),
                "retransmitted",
                "no segment was retransmitted",
            );
        }
    }
    timeouts(&mut panel, story, &senders);
    panel
}

fn lost(story: &Story<'_>, heading: Heading) -> Panel {
    let mut panel = named(story, heading, "Datagrams lost");
    let receivers = story.end(heading, End::Receiver);
    match steps(story, &receivers, Field::AppLost) {
        None => panel.note(untimed(story, heading, End::Receiver)),
        Some(steps) => {
            bars(&mut panel, &steps, Paint::Solid(story.pen(heading).colour), "lost", "no datagram was lost");
            tail(&mut panel, story, heading);
        }
    }
    if let Some(drops) =
        steps(story, &receivers, Field::SocketDrops).filter(|drops| drops.iter().any(|d| d.value > 0.0))
    {
        bars(&mut panel, &drops, Paint::Rising(GREY), "dropped by the receiver's own socket", "");
    }
    panel
}

/// The receiver cannot miss what it was sent after the last one that came, so its samples do not count these.
fn tail(panel: &mut Panel, story: &Story<'_>, heading: Heading) {
    let counts = story.total(heading).and_then(|total| total.datagrams);
    if let Some(more) = counts.map(|counts| counts.lost_at_tail.get()).filter(|more| *more > 0) {
        panel.note(format!("{more} more at the tail, after the last one received"));
    }
}

/// What is known without samples: how many, but not when.
fn untimed(story: &Story<'_>, heading: Heading, end: End) -> String {
    let total = story.total(heading);
    let count = match end {
        End::Sender => total.and_then(|total| total.retransmits),
        End::Receiver => total.and_then(|total| total.datagrams).map(|counts| counts.lost),
    };
    match count.map(PacketCount::get) {
        None => story.silence(heading, end),
        Some(0) => "none in the whole run".to_owned(),
        Some(count) => format!("{count} in the whole run; when is {}", story.silence(heading, end)),
    }
}

fn named(story: &Story<'_>, heading: Heading, title: &str) -> Panel {
    let mut panel = Panel::new(story.named("losses", heading), story.titled(title, heading), Quantity::Count, 80.0);
    let edges = edges(story);
    let step = edges.get(1).zip(edges.first()).map_or(0, |(to, from)| to - from);
    panel.per = format!("in each {}", units::duration::show(std::time::Duration::from_micros(step.unsigned_abs())));
    panel
}

fn edges(story: &Story<'_>) -> Vec<i64> {
    story.edges(300)
}

/// How much a count of all streams grew within each step; `None` where a stream does not tell.
fn steps(story: &Story<'_>, streams: &[&StreamSamples], field: Field) -> Option<Vec<Step>> {
    if streams.is_empty() || streams.iter().any(|stream| stream.column(field).is_none()) {
        return None;
    }
    let until = |at| streams.iter().map(|stream| value_before(stream, field, at).unwrap_or(0)).sum::<u64>();
    let step = |pair: &[i64]| Step {
        from_us: exact(pair[0]),
        to_us: exact(pair[1]),
        // A late datagram is taken back from those lost.
        value: amount(until(pair[1]).saturating_sub(until(pair[0]))),
    };
    Some(edges(story).windows(2).map(step).collect())
}

fn bars(panel: &mut Panel, steps: &[Step], paint: Paint, key: &str, nothing: &str) {
    let bars: Vec<Step> = steps.iter().copied().filter(|step| step.value > 0.0).collect();
    if bars.is_empty() {
        panel.note(nothing);
        return;
    }
    let all: f64 = bars.iter().map(|bar| bar.value).sum();
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    panel.top = panel.top.max(most * 1.15);
    panel.layers.push(Layer::Bars { bars, paint });
    panel.keys.push(Key { mark: Mark::Fill(paint), text: format!("{key}: {}", Quantity::Count.show(all)) });
}

/// Timeouts are rarer and worse than losses noticed at once.
fn timeouts(panel: &mut Panel, story: &Story<'_>, senders: &[&StreamSamples]) {
    let Some(steps) = steps(story, senders, Field::TotalRto) else { return };
    let hit: Vec<&Step> = steps.iter().filter(|step| step.value > 0.0).collect();
    if hit.is_empty() {
        return;
    }
    let all: f64 = hit.iter().map(|step| step.value).sum();
    let pen = Pen::new(INK, 1.6, Dash::Solid);
    panel.layers.push(Layer::Crosses { at_us: hit.iter().map(|s| f64::midpoint(s.from_us, s.to_us)).collect(), pen });
    panel.keys.push(Key { mark: Mark::Cross(pen), text: format!("timeout: {}", Quantity::Count.show(all)) });
}
