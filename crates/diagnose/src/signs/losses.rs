//! Signs of losses: how many, how often, how many at a time, at which windows, and in which of the streams of a run.

use model::series::StreamSamples;
use model::series::field::Field;

use super::Observation;
use super::numbers::percent;
use crate::waterfall::Waterfall;

/// Which part was lost or sent again.
pub(super) fn loss(part: f64, what: &str) -> Option<Observation> {
    let state = match part {
        part if part <= 0.0 => "none",
        part if part < 1e-4 => "rare",
        part if part < 3e-3 => "some",
        part if part < 3e-2 => "heavy",
        _ => "severe",
    };
    Observation::of("loss", state, format!("{} of its {what}", percent(part)))
}

/// How often losses came.
pub(super) fn episodes(fall: &Waterfall) -> Option<Observation> {
    let count = fall.losses.episodes;
    let (state, says) = match count {
        0 => ("never", "no loss".to_owned()),
        1 | 2 => ("once", format!("losses came at {count} moments")),
        3..=5 => ("seldom", format!("losses came at {count} moments")),
        _ => ("again-and-again", format!("losses came at {count} moments")),
    };
    Observation::of("episodes", state, says)
}

/// Whether packets are lost one by one. A single episode is the start of any flow, and says little.
pub(super) fn bunches(fall: &Waterfall) -> Option<Observation> {
    let (typical, episodes) = (fall.losses.typical.get(), fall.losses.episodes);
    if episodes < 3 {
        return None;
    }
    let (state, says) = match typical {
        0 | 1 => ("single", format!("packets were lost one by one, at {episodes} moments")),
        2..=6 => ("few", format!("{typical} packets were lost at a time, at {episodes} moments")),
        _ => ("many", format!("{typical} packets were lost at a time, at {episodes} moments")),
    };
    Observation::of("bunches", state, says)
}

/// Whether losses came at windows that the flow carries at other times. A queue or a policer that is too small stops it at
/// about the same window each time; chance, and traffic of others, stop it anywhere.
pub(super) fn lost_at(senders: &[&StreamSamples], rtt_us: u64) -> Option<Observation> {
    let mut parts: Vec<f64> = Vec::new();
    for stream in senders {
        let Some((at_loss, carried)) = windows(stream, rtt_us) else { continue };
        #[expect(clippy::cast_precision_loss, reason = "counts of segments")]
        parts.extend(at_loss.iter().map(|window| *window as f64 / carried.max(1) as f64));
    }
    parts.sort_by(f64::total_cmp);
    let typical = *parts.get(parts.len() / 2)?;
    let state = match typical {
        typical if typical < FAR_BELOW => "far-below",
        typical if typical < BELOW => "below",
        typical if typical >= LARGEST && parts.len() >= 2 => "at-the-largest",
        _ => return None,
    };
    let says = format!("it lost packets while {} of what it carries at other times were under way", percent(typical));
    Observation::of("lost-at", state, says)
}

/// How many segments were under way when losses began, and the most that were without a loss after.
fn windows(stream: &StreamSamples, rtt_us: u64) -> Option<(Vec<u64>, u64)> {
    let (again, out) = (stream.column(Field::TotalRetrans)?, stream.column(Field::Unacked)?);
    let times = &stream.at_us;
    if again.len() != times.len() || out.len() != times.len() {
        return None;
    }
    let rtt = i64::try_from(rtt_us).ok()?;
    let grows = |row: &usize| *row > 0 && again[*row] > again[*row - 1];
    let losses: Vec<usize> = (1..times.len()).filter(grows).collect();
    let quiet = 2 * rtt;
    // The first loss of an episode: nothing was sent again for two round trips before.
    let begins = losses.iter().enumerate().filter(|(number, row)| {
        let earlier = number.checked_sub(1).and_then(|before| losses.get(before));
        earlier.is_none_or(|earlier| times[**row] - times[*earlier] > quiet)
    });
    // What was under way when it was lost, a round trip before that was noticed.
    let before = |row: usize| times[..row].partition_point(|time| *time <= times[row] - rtt).saturating_sub(1);
    let at_loss: Vec<u64> = begins.map(|(_, row)| out[before(*row)]).collect();
    let is_carried = |row: &usize| {
        let next = losses.partition_point(|loss| times[*loss] <= times[*row] - quiet);
        let end = times.last().is_some_and(|end| times[*row] + quiet <= *end);
        end && losses.get(next).is_none_or(|loss| times[*loss] > times[*row] + quiet)
    };
    let carried = (0..times.len()).filter(is_carried).map(|row| out[row]).max()?;
    (!at_loss.is_empty()).then_some((at_loss, carried))
}

/// Whether the streams of a run fare alike, or some lose and others do not.
pub(super) fn members(senders: &[&StreamSamples]) -> Option<Observation> {
    let last = |stream: &StreamSamples, field| stream.column(field)?.last().copied();
    #[expect(clippy::cast_precision_loss, reason = "counts of segments")]
    let lost = |stream: &&&StreamSamples| {
        Some((last(stream, Field::TotalRetrans)? as f64, last(stream, Field::DataSegsOut)?.max(1) as f64))
    };
    let streams: Vec<(f64, f64)> = senders.iter().filter_map(|stream| lost(&stream)).collect();
    if streams.len() < FEWEST_STREAMS {
        return None;
    }
    let mut parts: Vec<f64> = streams.iter().map(|(again, sent)| again / sent).collect();
    parts.sort_by(|a, b| b.total_cmp(a));
    // The second worst: one stream may have been unlucky.
    let worst = parts[1];
    if worst <= 0.0 {
        return None;
    }
    let spared = streams.iter().filter(|(again, sent)| sent * worst >= ENOUGH && again / sent < worst / FAR);
    let (spared, all) = (spared.count(), streams.len());
    let (state, says) = if spared * 3 >= all {
        ("some-only", format!("{} of {all} streams lost packets, the others did not", all - spared))
    } else {
        ("alike", format!("all {all} streams fared alike"))
    };
    Observation::of("members", state, says)
}

/// Below this part of what a flow carries without a loss, a loss is not due to its size. Bursts of a slow start come at twice
/// the rate, and overflow a queue at half of what it carries later.
const FAR_BELOW: f64 = 0.3;
/// Below this part it hardly is.
const BELOW: f64 = 0.75;
/// From here on it is.
const LARGEST: f64 = 0.9;
/// Fewer streams do not tell of members.
const FEWEST_STREAMS: usize = 4;
/// So many losses were to be expected.
const ENOUGH: f64 = 8.0;
/// So many times less than the worst is another kind of stream.
const FAR: f64 = 8.0;

#[cfg(test)]
mod tests {
    use model::measurement::{End, Heading, Whose};
    use model::series::Column;

    use super::*;

    const RTT_US: u64 = 100_000;

    /// A stream that had so much under way, and had sent so much again, every tenth of a second.
    fn stream(number: u32, under_way: &[u64], again: &[u64]) -> StreamSamples {
        let at_us = (0_i64..).step_by(100_000).take(under_way.len()).collect();
        let sent = under_way.iter().scan(0, |sum, now| {
            *sum += now;
            Some(*sum)
        });
        let columns = vec![
            Column { field: Field::Unacked, values: under_way.to_vec() },
            Column { field: Field::TotalRetrans, values: again.to_vec() },
            Column { field: Field::DataSegsOut, values: sent.collect() },
        ];
        StreamSamples {
            stream: number,
            heading: Heading::Outbound,
            end: End::Sender,
            whose: Whose::Local,
            at_us,
            columns,
        }
    }

    fn state(seen: Option<Observation>) -> Option<&'static str> {
        seen.map(|seen| seen.seen.state().name)
    }

    #[test]
    fn a_loss_at_a_window_that_is_far_exceeded_later_is_not_due_to_its_size() {
        let under_way = [10, 20, 20, 10, 40, 80, 120, 160, 200, 200, 200, 200];
        let again = [0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5, 5];
        assert_eq!(state(lost_at(&[&stream(1, &under_way, &again)], RTT_US)), Some("far-below"));
    }

    #[test]
    fn losses_at_the_largest_window_each_time_are_due_to_its_size() {
        let round = [60, 70, 80, 90, 100, 100];
        let under_way: Vec<u64> = round.iter().copied().cycle().take(24).collect();
        let again: Vec<u64> = (0..24).map(|row| (row + 1) / 6).collect();
        assert_eq!(state(lost_at(&[&stream(1, &under_way, &again)], RTT_US)), Some("at-the-largest"));
    }

    #[test]
    fn a_single_loss_at_the_largest_window_says_nothing() {
        let under_way = [10, 20, 40, 80, 100, 100, 50, 60, 70, 80, 80, 80];
        let again = [0, 0, 0, 0, 0, 3, 3, 3, 3, 3, 3, 3];
        assert_eq!(state(lost_at(&[&stream(1, &under_way, &again)], RTT_US)), None);
    }

    #[test]
    fn streams_over_one_bad_member_are_told_from_those_over_good_ones() {
        let good = |number| stream(number, &[1000; 10], &[0; 10]);
        let bad = |number| stream(number, &[200; 10], &[0, 2, 4, 6, 8, 10, 14, 20, 30, 40]);
        let streams = [bad(1), good(2), good(3), bad(4), good(5)];
        assert_eq!(state(members(&streams.iter().collect::<Vec<_>>())), Some("some-only"));
        let alike = [bad(1), bad(2), bad(3), bad(4)];
        assert_eq!(state(members(&alike.iter().collect::<Vec<_>>())), Some("alike"));
        assert_eq!(state(members(&alike.iter().take(3).collect::<Vec<_>>())), None);
    }
}
