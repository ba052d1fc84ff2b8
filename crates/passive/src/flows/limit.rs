//! What limits a connection, by the waterfall's rules.

use diagnose::waterfall::cause::Cause;
use diagnose::waterfall::line::{LineRate, LineRateSource};
use diagnose::waterfall::{Waterfall, explain};
use model::measurement::Heading;
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};
use model::transfer::{LimitShare, Transfer};
use units::DataRate;

use super::evidence;

/// What limited a transfer, the most first, headers aside: parts of the gap to the line rate. Where no line rate is known,
/// parts of the time.
#[must_use]
pub fn limits(transfer: &Transfer, samples: &RunSamples) -> Vec<LimitShare> {
    let Some(stream) = samples.streams.first().filter(|stream| stream.at_us.len() > 1) else { return Vec::new() };
    let run = evidence::run(transfer, samples);
    let known = LineRate::of(&run);
    let line = if known.rate.is_zero() { faster_than_any(transfer) } else { known };
    let Some(waterfall) = explain(&run, samples, line).into_iter().next() else { return Vec::new() };
    shares(&waterfall, transfer, stream)
}

/// Against a line that would have been done at once, the bytes of a share are its time.
fn faster_than_any(transfer: &Transfer) -> LineRate {
    let bps = transfer.goodput.bps().max(1).saturating_mul(1_000);
    LineRate { rate: DataRate::from_bps(bps), source: LineRateSource::Unknown }
}

fn shares(waterfall: &Waterfall, transfer: &Transfer, stream: &StreamSamples) -> Vec<LimitShare> {
    // A connection that moved data before it was watched has started by then, whatever its first samples look like.
    let has_started = transfer.before_watch.get() > 0;
    let counts = |cause: Cause| cause != Cause::ProtocolOverhead && !(cause == Cause::StartUp && has_started);
    let causes = || waterfall.shares.iter().filter(|share| counts(share.cause));
    let whole: u64 = causes().map(|share| share.bytes.get()).sum();
    if whole == 0 {
        return Vec::new();
    }
    let mut shares: Vec<(Cause, f64)> =
        causes().map(|share| (share.cause, part(Part { of: share.bytes.get(), whole }))).collect();
    if transfer.heading == Heading::Inbound {
        judge_window(&mut shares, stream);
    }
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shown = shares.into_iter().filter(|(_, part)| *part >= LEAST_PART);
    let rounded = |part: f64| (part * 1_000.0).round() / 1_000.0;
    let share = |(cause, part)| LimitShare {
        cause: name(cause),
        label: waterfall.label(cause).to_owned(),
        part: rounded(part),
    };
    shown.map(share).collect()
}

/// A receiver knows no window of the sender's, but its own: where as much as it offered came within each of its RTTs, the
/// window was the limit. What nobody could say becomes that, for as much of the time.
fn judge_window(shares: &mut Vec<(Cause, f64)>, stream: &StreamSamples) {
    let Some(full) = window_full(stream) else { return };
    let Some(unknown) = shares.iter_mut().find(|(cause, _)| *cause == Cause::Unknown) else { return };
    let of_window = unknown.1 * full;
    unknown.1 -= of_window;
    shares.push((Cause::ReceiveWindow, of_window));
}

/// The part of the time in which the peer sent as much in one RTT as this host's window let it.
fn window_full(stream: &StreamSamples) -> Option<f64> {
    let column = |field| stream.column(field);
    let (bytes, window) = (column(Field::BytesReceived)?, column(Field::RcvWnd)?);
    let rtt = column(Field::RcvRtt)?;
    let (mut full, mut all) = (0_u64, 0_u64);
    for (number, pair) in stream.at_us.windows(2).enumerate() {
        let time = u64::try_from(pair[1].saturating_sub(pair[0])).unwrap_or(0);
        let grown = bytes.get(number + 1)?.saturating_sub(*bytes.get(number)?);
        let (window, rtt) = (*window.get(number + 1)?, *rtt.get(number + 1)?);
        if rtt == 0 || time == 0 {
            continue;
        }
        let in_one_rtt = u128::from(grown) * u128::from(rtt) / u128::from(time);
        all += time;
        if in_one_rtt * 100 >= u128::from(window) * FULL_PERCENT {
            full += time;
        }
    }
    (all > 0).then(|| part(Part { of: full, whole: all }))
}

/// The name of a cause in documents.
fn name(cause: Cause) -> String {
    let letters = format!("{cause:?}");
    let mut name = String::with_capacity(letters.len() + 2);
    for (number, letter) in letters.chars().enumerate() {
        if letter.is_ascii_uppercase() && number > 0 {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// Something of a whole.
#[derive(Clone, Copy)]
struct Part {
    of: u64,
    whole: u64,
}

#[expect(clippy::cast_precision_loss, reason = "a part is shown, never counted with")]
fn part(part: Part) -> f64 {
    part.of as f64 / part.whole as f64
}

/// Smaller parts say nothing.
const LEAST_PART: f64 = 0.01;
/// As in the waterfall's rules: a window this full takes no other burst.
const FULL_PERCENT: u128 = 85;
