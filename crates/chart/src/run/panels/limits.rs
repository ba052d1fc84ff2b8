//! What the sender waited for: the kernel's own account of its time (`tcp_chrono`, net/ipv4/tcp.c).

use model::measurement::{End, Heading};
use model::series::StreamSamples;
use model::series::field::Field;
use report::timeline::value_at;

use crate::axis::Quantity;
use crate::palette::{ORANGE, PURPLE};
use crate::panel::{BandStep, Key, Layer, Mark, Panel};
use crate::run::story::{Story, amount, exact};
use crate::scene::{Colour, Paint};

pub(crate) fn panel(story: &Story<'_>, heading: Heading) -> Panel {
    let mut panel = Panel::new(story.named("limits", heading), "", Quantity::Share, 80.0);
    let senders = story.end(heading, End::Sender);
    let title = if senders.len() > 1 { "What the senders waited for" } else { "What the sender waited for" };
    panel.title = story.titled(title, heading);
    "of the time".clone_into(&mut panel.per);
    if senders.is_empty() {
        panel.note(story.silence(heading, End::Sender));
        return panel;
    }
    let known = |sender: &&StreamSamples| FIELDS.iter().all(|field| sender.column(*field).is_some());
    if !senders.iter().all(known) {
        panel.note("unknown: the sender's kernel does not account for it");
        return panel;
    }
    let edges = edges(story);
    let shares: Vec<Shares> = edges.windows(2).map(|pair| shares(&senders, pair[0], pair[1])).collect();
    let mut idle = 1.0;
    for (kind, (text, paint)) in KINDS.into_iter().enumerate() {
        let band = |(pair, shares): (&[i64], &Shares)| {
            let low: f64 = shares[..kind].iter().sum();
            BandStep { from_us: exact(pair[0]), to_us: exact(pair[1]), low, high: low + shares[kind] }
        };
        let steps: Vec<BandStep> = edges.windows(2).zip(&shares).map(band).collect();
        let mean = steps.iter().map(|step| (step.high - step.low) * (step.to_us - step.from_us)).sum::<f64>()
            / exact(story.end_us);
        idle -= mean;
        panel.layers.push(Layer::Band { steps, paint });
        panel.keys.push(Key { mark: Mark::Fill(paint), text: format!("{text} {:.0} %", mean * 100.0) });
    }
    if idle >= 0.005 {
        panel.keys.push(Key { mark: Mark::Blank, text: format!("nothing outstanding {:.0} %", idle * 100.0) });
    }
    panel
}

/// Parts of a step: receiver's window, send buffer, the rest of the time with data outstanding.
type Shares = [f64; 3];

const FIELDS: [Field; 3] = [Field::RwndLimited, Field::SndbufLimited, Field::BusyTime];

const KINDS: [(&str, Paint); 3] = [
    ("receiver's window", Paint::Rising(PURPLE)),
    ("send buffer", Paint::Falling(ORANGE)),
    ("congestion window or pacing", Paint::Solid(Colour(0x9c, 0xc8, 0xe2))),
];

/// The kernel counts this time in its ticks (`tcp_jiffies32`), often 4 ms (`CONFIG_HZ=250`). What is missing and is
/// shorter than one was not seen to be missing.
const TICK_US: f64 = 4_000.0;

/// Steps of more than ten ticks.
fn edges(story: &Story<'_>) -> Vec<i64> {
    const SHORTEST_US: i64 = 50_000;
    story.edges((story.end_us / SHORTEST_US).clamp(1, 150))
}

/// The mean over the streams.
fn shares(senders: &[&StreamSamples], from: i64, to: i64) -> Shares {
    let grown = |field| -> f64 {
        let until = |sender: &&StreamSamples, at| value_at(sender, field, at).unwrap_or(0);
        let all: u64 = senders.iter().map(|sender| until(sender, to).saturating_sub(until(sender, from))).sum();
        amount(all) / exact((to - from).max(1)) / amount(senders.len().max(1) as u64)
    };
    let [window, buffer, busy] = FIELDS.map(grown);
    let busy = if busy + TICK_US / exact((to - from).max(1)) >= 1.0 { 1.0 } else { busy };
    let window = window.min(busy);
    let buffer = buffer.min(busy - window);
    [window, buffer, busy - window - buffer]
}
