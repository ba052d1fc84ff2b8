//! Where the start-up of a stream ends.

use model::series::field::Field;

use super::fill::Fill;
use super::stream::{Setting, Stream};
use super::track::Curve;
use super::writer;
use crate::exact::scale;

/// End of the stream's start-up in microseconds: the first loss, the end of slow start, the first pause of its program, or the round trip
/// after which the rate did not grow by a quarter within three more (the test by which BBR sees a full pipe, Cardwell et al.,
/// "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016).
pub(super) fn end(stream: &Stream<'_>, setting: &Setting<'_>) -> i64 {
    let pause = pause(stream, setting).min(wait_for_room(stream, setting));
    full_pipe(stream, setting).min(slow_start(stream, setting)).min(pause).min(setting.end)
}

fn full_pipe(stream: &Stream<'_>, setting: &Setting<'_>) -> i64 {
    let Some(delivered) = stream.delivered() else { return 0 };
    let rounds = Rounds::new(stream, setting);
    let (mut from, mut best, mut best_end, mut flat) = (0_i64, 0_u64, 0_i64, 0);
    for _ in 0..LONGEST_ROUNDS {
        if from >= rounds.end {
            break;
        }
        let to = rounds.over(from);
        let length = u64::try_from(to.saturating_sub(from)).unwrap_or(0).max(1);
        let rate = scale(delivered.growth(from, to), 1_000_000, length);
        if u128::from(rate) * 4 >= u128::from(best) * 5 && rate > 0 {
            (best, best_end, flat) = (rate, to, 0);
        } else if best > 0 {
            flat += 1;
        }
        if flat == FLAT_ROUNDS {
            return best_end;
        }
        from = to;
    }
    setting.end
}

/// The round trips of a stream. As BBR counts them, one is over when what was outstanding at its start is acknowledged: where a path or a
/// busy host holds packets up, several least RTTs pass in one, and a rate that doubles with each seems to stand still within it.
#[derive(Debug)]
struct Rounds<'a> {
    stream: &'a Stream<'a>,
    acknowledged: Option<Curve<'a>>,
    least: i64,
    end: i64,
}

impl<'a> Rounds<'a> {
    fn new(stream: &'a Stream<'_>, setting: &Setting<'_>) -> Self {
        let least = setting.base_rtt.unwrap_or(0).max(setting.spacing);
        Self {
            stream,
            acknowledged: stream.sent(Field::BytesAcked),
            least: i64::try_from(least).unwrap_or(i64::MAX),
            end: stream.sampled_until().min(setting.end),
        }
    }

    /// When the round that starts at `from` is over.
    fn over(&self, from: i64) -> i64 {
        let least = from.saturating_add(self.least);
        let (Some(acknowledged), Some(outstanding)) = (self.acknowledged, self.stream.outstanding(from)) else {
            return least;
        };
        let all = acknowledged.count(from).saturating_add(outstanding / 8 * 7);
        if acknowledged.count(least) >= all {
            return least;
        }
        let times = self.stream.sender.as_ref().map(|sender| sender.times()).unwrap_or_default();
        let after = times.get(times.partition_point(|at| *at <= least)..).unwrap_or_default();
        after.iter().copied().find(|at| acknowledged.count(*at) >= all).unwrap_or(self.end).max(least)
    }
}

/// The first moment with a loss, or with a congestion window above its threshold.
fn slow_start(stream: &Stream<'_>, setting: &Setting<'_>) -> i64 {
    let Some(sender) = &stream.sender else { return setting.end };
    let (lost, state) = (stream.sent(Field::TotalRetrans), stream.sent(Field::CaState));
    let (window, threshold) = (stream.sent(Field::SndCwnd), stream.sent(Field::SndSsthresh));
    let over = |at: &i64| {
        lost.is_some_and(|lost| lost.state(*at) > lost.first())
            || state.is_some_and(|state| state.state(*at) >= 2)
            || window.zip(threshold).is_some_and(|(window, threshold)| window.state(*at) >= threshold.state(*at))
    };
    sender.times().iter().copied().filter(|at| *at >= 0).find(over).unwrap_or(setting.end)
}

/// The first moment at which a window that had opened was half empty, nothing waited to be sent, and more was written later. The kernel
/// lets such a window grow no more (include/net/tcp.h of 6.18, `tcp_is_cwnd_limited`): what limits from here on is who writes. A program that
/// did not run for a moment, and whose window quadruples afterwards, is still starting.
fn pause(stream: &Stream<'_>, setting: &Setting<'_>) -> i64 {
    let Some(sender) = &stream.sender else { return setting.end };
    let (window, outstanding) = (stream.sent(Field::SndCwnd), stream.sent(Field::Unacked));
    let (unsent, segment) = (stream.sent(Field::Notsent), stream.sent(Field::SndMss));
    let (Some((window, outstanding)), Some((unsent, segment))) = (window.zip(outstanding), unsent.zip(segment)) else {
        return setting.end;
    };
    let (written, widest) = (stream.sent(Field::AppBytes), window.max());
    let pauses = |at: &i64| {
        let window = window.state(*at);
        window > INITIAL_WINDOW
            && window.saturating_mul(OPENED_PART) >= widest
            && outstanding.state(*at).saturating_mul(2) <= window
            && unsent.state(*at) < segment.state(*at).max(1)
            && written.is_some_and(|written| written.state(*at) < written.last())
    };
    sender.times().iter().copied().filter(|at| *at >= 0).find(pauses).unwrap_or(setting.end)
}

/// The first moment at which half of an open window was empty because a send buffer that grew no more was full: what limits from here on is the
/// buffer, even where the kernel takes more than it holds and each burst is larger than the one before.
fn wait_for_room(stream: &Stream<'_>, setting: &Setting<'_>) -> i64 {
    let Some(sender) = &stream.sender else { return setting.end };
    let state = |field, at: i64| stream.sent(field).map(|curve| curve.state(at));
    let Some(largest) = stream.sent(Field::Sndbuf).map(|limit| limit.max()) else { return setting.end };
    let waits = |at: i64| {
        let (window, outstanding) = state(Field::SndCwnd, at).zip(state(Field::Unacked, at))?;
        let (unsent, segment) = state(Field::Notsent, at).zip(state(Field::SndMss, at))?;
        let (queued, limit) = state(Field::WmemQueued, at).zip(state(Field::Sndbuf, at))?;
        let is_empty = window > INITIAL_WINDOW && outstanding.saturating_mul(2) <= window && unsent < segment.max(1);
        Some(is_empty && limit >= largest && writer::is_held(Fill { used: queued, limit }))
    };
    let is_written_later = |at: i64| stream.sent(Field::AppBytes).is_some_and(|bytes| bytes.state(at) < bytes.last());
    let mut times = sender.times().iter().copied().filter(|at| *at >= 0);
    times.find(|at| waits(*at) == Some(true) && is_written_later(*at)).unwrap_or(setting.end)
}

/// Segments of a congestion window that has not opened yet (RFC 6928): a question before the data says nothing of who limits the data.
const INITIAL_WINDOW: u64 = 10;
/// A window that has become a quarter of the widest has opened.
const OPENED_PART: u64 = 4;
const FLAT_ROUNDS: u32 = 3;
/// More round trips than any start-up has; damaged records may claim that nothing happened for years.
const LONGEST_ROUNDS: u32 = 100_000;
