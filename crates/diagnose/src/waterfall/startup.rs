//! Where the start-up of a stream ends.

use model::series::field::Field;

use super::stream::{Setting, Stream};

/// End of the stream's start-up in microseconds: the first loss, the end of slow start, the first pause of its program, or the round trip
/// after which the rate did not grow by a quarter within three more (the test by which BBR sees a full pipe, Cardwell et al.,
/// "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016).
pub(super) fn end(stream: &Stream<'_>, setting: &Setting<'_>) -> i64 {
    full_pipe(stream, setting).min(slow_start(stream, setting)).min(pause(stream, setting)).min(setting.end)
}

fn full_pipe(stream: &Stream<'_>, setting: &Setting<'_>) -> i64 {
    let Some(delivered) = stream.delivered() else { return 0 };
    let round = setting.base_rtt.unwrap_or(0).max(setting.spacing);
    let round = i64::try_from(round).unwrap_or(i64::MAX);
    let (mut from, mut best, mut best_end, mut flat) = (0_i64, 0_u64, 0_i64, 0);
    let end = stream.sampled_until().min(setting.end);
    for _ in 0..LONGEST_ROUNDS {
        if from >= end {
            break;
        }
        let to = from.saturating_add(round);
        let grown = delivered.growth(from, to);
        if u128::from(grown) * 4 >= u128::from(best) * 5 && grown > 0 {
            (best, best_end, flat) = (grown, to, 0);
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
/// lets such a window grow no more (include/net/tcp.h of 6.18, `tcp_is_cwnd_limited`): what limits from here on is who writes.
fn pause(stream: &Stream<'_>, setting: &Setting<'_>) -> i64 {
    let Some(sender) = &stream.sender else { return setting.end };
    let (window, outstanding) = (stream.sent(Field::SndCwnd), stream.sent(Field::Unacked));
    let (unsent, segment) = (stream.sent(Field::Notsent), stream.sent(Field::SndMss));
    let (Some((window, outstanding)), Some((unsent, segment))) = (window.zip(outstanding), unsent.zip(segment)) else {
        return setting.end;
    };
    let written = stream.sent(Field::AppBytes);
    let pauses = |at: &i64| {
        let window = window.state(*at);
        window > INITIAL_WINDOW
            && outstanding.state(*at).saturating_mul(2) <= window
            && unsent.state(*at) < segment.state(*at).max(1)
            && written.is_some_and(|written| written.state(*at) < written.last())
    };
    sender.times().iter().copied().filter(|at| *at >= 0).find(pauses).unwrap_or(setting.end)
}

/// Segments of a congestion window that has not opened yet (RFC 6928): a question before the data says nothing of who limits the data.
const INITIAL_WINDOW: u64 = 10;
const FLAT_ROUNDS: u32 = 3;
/// More round trips than any start-up has; damaged records may claim that nothing happened for years.
const LONGEST_ROUNDS: u32 = 100_000;
