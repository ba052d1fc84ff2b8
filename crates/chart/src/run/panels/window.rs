//! Windows over time: how much the sender let be on its way.

use model::measurement::{End, Heading};
use model::series::StreamSamples;
use model::series::field::Field;

use crate::axis::Quantity;
use crate::palette::{BLUE, GREEN, PURPLE};
use crate::panel::{Panel, Sample, peak};
use crate::run::story::{Story, amount, curve, exact, value_before};
use crate::scene::{Dash, Paint, Pen};

pub(crate) fn panel(story: &Story<'_>, heading: Heading) -> Panel {
    let height = if story.headings.len() > 1 { 115.0 } else { 150.0 };
    let mut panel = Panel::new(story.named("window", heading), "", Quantity::Bytes, height);
    let senders = story.end(heading, End::Sender);
    let several = senders.len() > 1;
    panel.title = story.titled(if several { "Windows of each stream" } else { "Windows" }, heading);
    if senders.is_empty() {
        panel.note(format!("congestion window and data in flight {}", story.silence(heading, End::Sender)));
        return panel;
    }
    let flights = flights(story, &senders);
    let windows: Vec<_> = senders.iter().take(MOST_STREAMS).flat_map(|sender| congestion_window(sender)).collect();
    let own = peak(&flights).max(peak(&windows));
    panel.top = own.max(1.0) * 1.1;
    let key = if several { "in flight, mean of the streams" } else { "in flight" };
    panel.ground(flights, Paint::Solid(GREEN.thinned(0.4)), key);
    receivers_window(&mut panel, story, &senders, own);
    let pen = Pen::new(BLUE, if several { 0.9 } else { 1.6 }, Dash::Solid);
    panel.curve(windows, pen, congestion_key(senders.len()));
    panel
}

/// More lines than this tell nothing apart.
const MOST_STREAMS: usize = 8;

fn congestion_key(streams: usize) -> String {
    match streams {
        1 => "congestion window".to_owned(),
        2..=MOST_STREAMS => format!("congestion window, {streams} streams"),
        _ => format!("congestion window, the first {MOST_STREAMS} of {streams} streams"),
    }
}

/// The window that the receiver offers; where it is far above all else, only its size is told.
fn receivers_window(panel: &mut Panel, story: &Story<'_>, senders: &[&StreamSamples], own: f64) {
    let least = |at: i64| {
        let offered = senders.iter().filter_map(|sender| value_before(sender, Field::SndWnd, at));
        offered.min().map(amount)
    };
    let parts = curve(&story.edges(500), least);
    if parts.is_empty() {
        panel.note("the receiver's window is unknown: the sender's kernel does not tell it");
        return;
    }
    let highest = peak(&parts);
    if highest > own * IN_SIGHT {
        panel.note(format!("the receiver's window, up to {}, is far above this panel", Quantity::Bytes.show(highest)));
        let visible = |sample: &&Sample| sample.1 <= own * IN_SIGHT;
        let below: Vec<Vec<Sample>> =
            parts.iter().map(|part| part.iter().take_while(visible).copied().collect()).collect();
        if below.iter().flatten().count() < parts.iter().flatten().count() / 10 {
            return;
        }
    }
    panel.top = panel.top.max(highest.min(own * IN_SIGHT) * 1.1);
    let key = if senders.len() > 1 { "receiver's window, the least" } else { "receiver's window" };
    panel.curve(parts, Pen::new(PURPLE, 1.6, Dash::Long), key);
}

/// A window this many times larger than what is used would leave too little room for the rest.
const IN_SIGHT: f64 = 2.5;

fn congestion_window(sender: &StreamSamples) -> Vec<Vec<Sample>> {
    product(sender, |row| sender.column(Field::SndCwnd)?.get(row).copied())
}

/// The mean over the streams; of one stream, each sample.
fn flights(story: &Story<'_>, senders: &[&StreamSamples]) -> Vec<Vec<Sample>> {
    if let [sender] = senders {
        return product(sender, |row| in_flight(sender, row));
    }
    let mean = |at: i64| {
        let each = senders.iter().map(|sender| {
            let row = sender.at_us.partition_point(|sample| *sample <= at).checked_sub(1)?;
            Some(amount(in_flight(sender, row)? * segment(sender, row)?))
        });
        let each: Vec<f64> = each.collect::<Option<_>>()?;
        Some(each.iter().sum::<f64>() / amount(each.len() as u64)).filter(|_| !each.is_empty())
    };
    curve(&story.edges(500), mean)
}

/// Segments that the sender takes to be on their way (`tcp_packets_in_flight`, include/net/tcp.h).
fn in_flight(sender: &StreamSamples, row: usize) -> Option<u64> {
    let of = |field| sender.column(field)?.get(row).copied();
    let out = of(Field::Unacked)? + of(Field::Retrans).unwrap_or(0);
    Some(out.saturating_sub(of(Field::Sacked).unwrap_or(0) + of(Field::Lost).unwrap_or(0)))
}

fn segment(sender: &StreamSamples, row: usize) -> Option<u64> {
    sender.column(Field::SndMss)?.get(row).copied()
}

/// Segments times their size, sample by sample.
fn product(sender: &StreamSamples, segments: impl Fn(usize) -> Option<u64>) -> Vec<Vec<Sample>> {
    let bytes = |row: usize| Some(amount(segments(row)?.saturating_mul(segment(sender, row)?)));
    let samples: Option<Vec<Sample>> =
        sender.at_us.iter().enumerate().map(|(row, at)| Some((exact(*at), bytes(row)?))).collect();
    samples.map(|samples| vec![crate::run::story::thinned(&samples)]).unwrap_or_default()
}
