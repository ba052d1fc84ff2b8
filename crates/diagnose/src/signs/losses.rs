//! Signs of losses: how many, how often, how many at a time, at which windows, and in which of the streams of a run.

use model::series::StreamSamples;
use model::series::field::Field;

use super::Observation;
use super::percent::percent;
use super::rows::whole_column;
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
        1 => ("once", "losses came at one moment".to_owned()),
        2 => ("once", "losses came at 2 moments".to_owned()),
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
    let (times, out) = (&stream.at_us, stream.column(Field::Unacked)?);
    if out.len() != times.len() {
        return None;
    }
    let rtt = i64::try_from(rtt_us).ok()?;
    let losses = losses(stream)?;
    // What was under way when it was lost, a round trip before that was noticed.
    let before = |row: usize| times[..row].partition_point(|time| *time <= times[row] - rtt).saturating_sub(1);
    let at_loss: Vec<u64> = begins(stream, &losses, rtt_us)?.into_iter().map(|row| out[before(row)]).collect();
    let quiet = 2 * rtt;
    let is_carried = |row: &usize| {
        let next = losses.partition_point(|loss| times[*loss] <= times[*row] - quiet);
        let end = times.last().is_some_and(|end| times[*row] + quiet <= *end);
        end && losses.get(next).is_none_or(|loss| times[*loss] > times[*row] + quiet)
    };
    let carried = (0..times.len()).filter(is_carried).map(|row| out[row]).max()?;
    (!at_loss.is_empty()).then_some((at_loss, carried))
}

/// The samples before which something was sent again.
pub(super) fn losses(stream: &StreamSamples) -> Option<Vec<usize>> {
    let again = whole_column(stream, Field::TotalRetrans)?;
    Some((1..again.len()).filter(|row| again[*row] > again[*row - 1]).collect())
}

/// Those of them that begin an episode: nothing was sent again for two round trips before.
pub(super) fn begins(stream: &StreamSamples, losses: &[usize], rtt_us: u64) -> Option<Vec<usize>> {
    let quiet = 2 * i64::try_from(rtt_us).ok()?;
    let times = &stream.at_us;
    let is_first = |number: usize, row: usize| {
        let earlier = number.checked_sub(1).map(|before| losses[before]);
        earlier.is_none_or(|earlier| times[row] - times[earlier] > quiet)
    };
    Some(losses.iter().enumerate().filter(|(number, row)| is_first(*number, **row)).map(|(_, row)| *row).collect())
}

/// Whether the streams of a run fare alike, or some lose packets again and again and crawl, and others do not.
#[expect(clippy::cast_precision_loss, reason = "counts of moments")]
pub(super) fn members(senders: &[&StreamSamples], rtt_us: u64) -> Option<Observation> {
    let streams: Vec<Losing> = senders.iter().filter_map(|stream| Losing::of(stream, rtt_us)).collect();
    if streams.len() < FEWEST_STREAMS {
        return None;
    }
    let mut parts: Vec<f64> = streams.iter().map(Losing::part).collect();
    parts.sort_by(|a, b| b.total_cmp(a));
    // The second worst: one stream may have been unlucky.
    let worst = parts[1];
    if worst <= 0.0 {
        return None;
    }
    let spared = |stream: &&Losing| stream.sent * worst >= ENOUGH && stream.part() < worst / FAR;
    // What overflows a queue that streams share is lost many at a time, and some streams have more bad luck than others.
    let is_thinned = |stream: &Losing| stream.moments >= AGAIN && stream.again <= stream.moments as f64 * A_FEW;
    let crawls = |stream: &&Losing| is_thinned(stream) && stream.part() >= worst / FAR;
    let (spared, crawling) = (mean_sent(&streams, spared), mean_sent(&streams, crawls));
    let all = streams.len();
    let is_slower = crawling.0 > 0 && crawling.1 * 2.0 < spared.1;
    // Over a short path losses hardly slow a stream: each loses packets one by one, or nearly none.
    let singly = |stream: &&Losing| crawls(stream) && stream.again <= stream.moments as f64 * ONE_BY_ONE;
    let losing = streams.iter().filter(singly).count();
    let is_split = losing >= 2 && losing + spared.0 == all;
    let is_uneven = spared.0 * 3 >= all && (is_slower || is_split);
    let (state, says) = if is_uneven {
        ("some-only", format!("{} of {all} streams lost packets and crawled, the others did not", all - spared.0))
    } else {
        ("alike", format!("all {all} streams fared alike"))
    };
    Observation::of("members", state, says)
}

/// The same of datagrams, as their receiver counts them: chance alone leaves no stream without a loss where others lose many.
pub(super) fn members_of_datagrams(receivers: &[&StreamSamples]) -> Option<Observation> {
    let counted = |stream: &&StreamSamples| {
        let last = |field| stream.column(field)?.last().copied();
        Some((last(Field::AppPackets)?, last(Field::AppLost)?))
    };
    let streams: Vec<(u64, u64)> = receivers.iter().filter_map(counted).collect();
    let (arrived, lost) = streams.iter().fold((0, 0), |(arrived, lost), of| (arrived + of.0, lost + of.1));
    if streams.len() < FEWEST_STREAMS || lost == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of datagrams")]
    let part = |of: &(u64, u64)| of.1 as f64 / (of.0 + of.1).max(1) as f64;
    let mean = part(&(arrived, lost));
    #[expect(clippy::cast_precision_loss, reason = "counts of datagrams")]
    let is_expected = |of: &(u64, u64)| (of.0 + of.1) as f64 * mean >= ENOUGH;
    let spared = streams.iter().filter(|of| is_expected(of) && part(of) < mean / FAR).count();
    let losing = streams.iter().filter(|of| part(of) > mean).count();
    let all = streams.len();
    let (state, says) = if losing >= 2 && spared >= 2 && losing + spared == all {
        ("some-only", format!("{losing} of {all} streams lost datagrams, the others next to none"))
    } else {
        ("alike", format!("all {all} streams fared alike"))
    };
    Observation::of("members", state, says)
}

/// What a stream sent and lost.
struct Losing {
    again: f64,
    sent: f64,
    moments: usize,
}

impl Losing {
    #[expect(clippy::cast_precision_loss, reason = "counts of segments")]
    fn of(stream: &StreamSamples, rtt_us: u64) -> Option<Self> {
        let last = |field| stream.column(field)?.last().copied();
        Some(Self {
            again: last(Field::TotalRetrans)? as f64,
            sent: last(Field::DataSegsOut)?.max(1) as f64,
            moments: begins(stream, &losses(stream)?, rtt_us)?.len(),
        })
    }

    fn part(&self) -> f64 {
        self.again / self.sent
    }
}

/// How many of the streams are so, and how many segments these sent each.
fn mean_sent(streams: &[Losing], is_so: impl Fn(&&Losing) -> bool) -> (usize, f64) {
    let sent: Vec<f64> = streams.iter().filter(is_so).map(|stream| stream.sent).collect();
    #[expect(clippy::cast_precision_loss, reason = "a count of streams")]
    let mean = sent.iter().sum::<f64>() / sent.len().max(1) as f64;
    (sent.len(), mean)
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
/// From so many moments on a stream loses again and again.
const AGAIN: usize = 3;
/// More at a time are a queue's.
const A_FEW: f64 = 16.0;
/// As many at a time are chance.
const ONE_BY_ONE: f64 = 3.0;
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
    fn columns_of_different_lengths_are_not_compared() {
        let mut torn = stream(1, &[60, 70, 80, 90], &[0, 0, 1, 1]);
        torn.columns
            .iter_mut()
            .filter(|column| column.field == Field::Unacked)
            .for_each(|column| column.values.clear());
        assert_eq!(state(lost_at(&[&torn], RTT_US)), None);
    }

    #[test]
    fn streams_over_one_bad_member_are_told_from_those_over_good_ones() {
        let good = |number| stream(number, &[1000; 10], &[0; 10]);
        let bad = |number| stream(number, &[200; 10], &[0, 20, 20, 20, 25, 25, 25, 30, 30, 30]);
        let streams = [bad(1), good(2), good(3), bad(4), good(5)];
        assert_eq!(state(members(&streams.iter().collect::<Vec<_>>(), RTT_US)), Some("some-only"));
        // A queue that they share takes many at a time, and more of some than of others.
        let unlucky = |number| stream(number, &[200; 10], &[0, 90, 90, 90, 180, 180, 180, 270, 270, 270]);
        let shared = [unlucky(1), good(2), good(3), unlucky(4), good(5)];
        assert_eq!(state(members(&shared.iter().collect::<Vec<_>>(), RTT_US)), Some("alike"));
        let alike = [bad(1), bad(2), bad(3), bad(4)];
        assert_eq!(state(members(&alike.iter().collect::<Vec<_>>(), RTT_US)), Some("alike"));
        assert_eq!(state(members(&alike.iter().take(3).collect::<Vec<_>>(), RTT_US)), None);
    }

    #[test]
    fn datagrams_of_some_streams_that_are_lost_are_told_from_an_even_loss() {
        let receiver = |number: u32, lost: u64| StreamSamples {
            stream: number,
            heading: Heading::Outbound,
            end: End::Receiver,
            whose: Whose::Peer,
            at_us: vec![0],
            columns: vec![
                Column { field: Field::AppPackets, values: vec![2_500 - lost] },
                Column { field: Field::AppLost, values: vec![lost] },
            ],
        };
        let said = |lost: &[u64]| {
            let streams: Vec<StreamSamples> = (1..).zip(lost).map(|(number, lost)| receiver(number, *lost)).collect();
            members_of_datagrams(&streams.iter().collect::<Vec<_>>()).map(|seen| seen.seen.state().name)
        };
        assert_eq!(said(&[150, 160, 0, 1, 145, 0, 0, 155]), Some("some-only"));
        assert_eq!(said(&[75, 80, 70, 90, 77, 60, 81, 79]), Some("alike"));
        assert_eq!(said(&[1, 0, 2, 0, 0, 1, 0, 0]), Some("alike"), "too few to tell");
        assert_eq!(said(&[150, 0, 0]), None);
    }
}
