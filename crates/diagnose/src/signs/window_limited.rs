//! A window that holds a flow of which nobody knows how fast it should be: the kernel says for how long the window was full, and where no
//! queue grows meanwhile the path has room for more.

use std::time::Duration;

use model::measurement::{End, Heading};
use model::run::Run;
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};

use super::Observation;
use super::flow::Flow;
use super::percent::percent;
use super::rows::{streams, whole_column};

/// What held the flow, where a window did; nothing of a test that asked for its rate or window.
pub(super) fn window_limited(run: &Run, samples: &RunSamples, heading: Heading, flow: &Flow) -> Option<Observation> {
    let spec = &run.spec;
    if spec.window.is_some() || spec.rate.is_some() || spec.pace.is_some() || !has_no_queue(run, flow) {
        return None;
    }
    let senders = streams(samples, heading, End::Sender);
    let sum = |field| senders.iter().filter_map(|of| of.column(field)?.last().copied()).sum::<u64>();
    let busy = sum(Field::BusyTime);
    #[expect(clippy::cast_precision_loss, reason = "microseconds")]
    let part = |field| sum(field) as f64 / busy.max(1) as f64;
    let full: Vec<f64> = senders.iter().filter_map(|of| part_in_a_full_window(of)).collect();
    let least_full = full.iter().copied().reduce(f64::min).unwrap_or_default();
    let windows = [
        // The kernel's clock runs only while a sender that could send more has tried to (tcp_chrono, net/ipv4/tcp_output.c).
        ("receive-window", "the receiver's window", part(Field::RwndLimited).max(least_full)),
        ("send-buffer", "the send buffer", part(Field::SndbufLimited)),
    ];
    let (state, what, most) = windows.into_iter().max_by(|one, other| one.2.total_cmp(&other.2))?;
    let says =
        format!("{what} was full for {} of the time, and no queue grew: the path has room for more", percent(most));
    (most >= MOST).then(|| Observation::of("limit", state, says))?
}

/// The part of the samples in which what was under way filled the window that the receiver offers.
#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
fn part_in_a_full_window(sender: &StreamSamples) -> Option<f64> {
    let [flight, segment, window] =
        [Field::Unacked, Field::SndMss, Field::SndWnd].map(|field| whole_column(sender, field));
    let (flight, segment, window) = (flight?, segment?, window?);
    let is_full = |row: &usize| window[*row] > 0 && (flight[*row] + 1) * segment[*row] > window[*row];
    let full = (0..flight.len()).filter(is_full).count();
    (!flight.is_empty()).then(|| full as f64 / flight.len() as f64)
}

/// Whether round trips under load are as short as those before it, on a path where that tells something, and nothing was lost.
fn has_no_queue(run: &Run, flow: &Flow) -> bool {
    let latency = run.measurement.as_ref().and_then(|measurement| measurement.latency.as_ref());
    let loaded = latency.and_then(|latency| latency.loaded?.median_us).map(Duration::from_micros);
    let (Some(loaded), Some(base)) = (loaded, flow.rtt) else { return false };
    base >= SHORTEST && loaded <= base + base / 10 && flow.lost.is_none_or(|lost| lost < HARMLESS)
}

/// Of the time in which the sender had something to send.
const MOST: f64 = 0.5;
/// Over a shorter path a program that is late looks like a window.
const SHORTEST: Duration = Duration::from_millis(2);
/// One segment in ten thousand.
const HARMLESS: f64 = 1e-4;
