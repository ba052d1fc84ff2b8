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
    let senders = story.end(heading, End::Sender);
    let mut panel = named(story, heading, "Retransmitted segments", &senders);
    match steps(&senders, Field::TotalRetrans) {
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
    timeouts(&mut panel, &senders);
    panel
}

fn lost(story: &Story<'_>, heading: Heading) -> Panel {
    let receivers = story.end(heading, End::Receiver);
    let mut panel = named(story, heading, "Datagrams lost", &receivers);
    match steps(&receivers, Field::AppLost) {
        None => panel.note(untimed(story, heading, End::Receiver)),
        Some(steps) => {
            bars(&mut panel, &steps, Paint::Solid(story.pen(heading).colour), "lost", "no datagram was lost");
            tail(&mut panel, story, heading);
        }
    }
    if let Some(drops) = steps(&receivers, Field::SocketDrops).filter(|drops| drops.iter().any(|d| d.value > 0.0)) {
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

fn named(story: &Story<'_>, heading: Heading, title: &str, streams: &[&StreamSamples]) -> Panel {
    let mut panel = Panel::new(story.named("losses", heading), story.titled(title, heading), Quantity::Count, 80.0);
    let samples = streams.first().map_or(1, |stream| samples_of_a_bar(stream));
    let step = story.run.spec.sample_every * u32::try_from(samples).unwrap_or(u32::MAX);
    panel.per = format!("in each {}", units::duration::show(step));
    panel
}

/// Most bars of a panel.
const MOST_BARS: usize = 300;

fn samples_of_a_bar(stream: &StreamSamples) -> usize {
    stream.at_us.len().div_ceil(MOST_BARS).max(1)
}

/// Where bars begin and end: at samples, each bar as many of them. Bars of equal time would hold now one sample more, now one
/// less, and show a comb that is not in the data.
fn edges(stream: &StreamSamples) -> Vec<i64> {
    let at_us = &stream.at_us;
    let mut edges: Vec<i64> = at_us.iter().copied().step_by(samples_of_a_bar(stream)).collect();
    // What is left is a last bar, and what came before the first sample is in the first.
    if let (Some(last), Some(end)) = (edges.last().copied(), at_us.last().copied())
        && end > last
    {
        edges.push(end);
    }
    if edges.first().is_some_and(|first| *first > 0) {
        edges.insert(0, 0);
    }
    edges
}

/// How much a count of all streams grew within each step; `None` where a stream does not tell.
fn steps(streams: &[&StreamSamples], field: Field) -> Option<Vec<Step>> {
    let first = streams.first()?;
    if streams.iter().any(|stream| stream.column(field).is_none()) {
        return None;
    }
    let until = |at| streams.iter().map(|stream| value_before(stream, field, at).unwrap_or(0)).sum::<u64>();
    // Streams are sampled one after the other: of all of them what is known at the samples of the first.
    let step = |pair: &[i64]| Step {
        from_us: exact(pair[0]),
        to_us: exact(pair[1]),
        // A late datagram is taken back from those lost.
        value: amount(until(pair[1]).saturating_sub(until(pair[0]))),
    };
    Some(edges(first).windows(2).map(step).collect())
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
fn timeouts(panel: &mut Panel, senders: &[&StreamSamples]) {
    let Some(steps) = steps(senders, Field::TotalRto) else { return };
    let hit: Vec<&Step> = steps.iter().filter(|step| step.value > 0.0).collect();
    if hit.is_empty() {
        return;
    }
    let all: f64 = hit.iter().map(|step| step.value).sum();
    let pen = Pen::new(INK, 1.6, Dash::Solid);
    panel.layers.push(Layer::Crosses { at_us: hit.iter().map(|s| f64::midpoint(s.from_us, s.to_us)).collect(), pen });
    panel.keys.push(Key { mark: Mark::Cross(pen), text: format!("timeout: {}", Quantity::Count.show(all)) });
}

#[cfg(test)]
mod tests {
    use model::measurement::Whose;
    use model::series::Column;

    use super::*;

    #[test]
    fn an_even_loss_is_drawn_as_bars_of_one_height() {
        // 457 samples, each up to 3 ms late: in bars of equal time some would hold two and some one.
        let at_us: Vec<i64> = (0..457).map(|sample| sample * 10_000 + (sample * 7) % 3_000).collect();
        let values = (0..457).map(|sample| sample * 5).collect();
        let stream = StreamSamples {
            stream: 1,
            heading: Heading::Outbound,
            end: End::Receiver,
            whose: Whose::Peer,
            at_us,
            columns: vec![Column { field: Field::AppLost, values }],
        };
        let bars = steps(&[&stream], Field::AppLost).unwrap();
        assert!(bars.len() <= MOST_BARS && bars.len() > MOST_BARS / 2);
        assert!(bars.iter().all(|bar| bar.value == 10.0), "{bars:?}");
        assert_eq!(bars.iter().map(|bar| bar.value).sum::<f64>(), 456.0 * 5.0);
    }
}
