//! Echoes to a near host that take far longer than the path is long: something lets packets wait.

use std::time::Duration;

use model::measurement::RttSummary;
use model::probe::echo::{EchoFate, EchoSeries};
use model::round::Tested;
use units::duration::show;

use super::statement::Statement;

/// What the times of one series say.
pub(super) fn of(tested: &Tested, echoes: &EchoSeries) -> Option<Statement> {
    of_two_kinds(tested, echoes).or_else(|| uneven(tested, &echoes.summary.rtt))
}

/// Echoes of which some come back at once and some far later, one among the other. A queue that others fill grows and shrinks over many
/// echoes, and a path that changes has two times and not one and any.
fn of_two_kinds(tested: &Tested, echoes: &EchoSeries) -> Option<Statement> {
    let in_order: Vec<u64> = echoes.probes.iter().filter_map(|probe| micros(&probe.fate)).collect();
    let mut times = in_order.clone();
    times.sort_unstable();
    let least = *times.first().filter(|least| (1..=NEAR_US).contains(*least))?;
    let is_late = |time: u64| time >= LATE_US && time >= LATE_TIMES * least;
    let late = times.iter().filter(|time| is_late(**time)).count();
    let prompt: Vec<u64> = times.iter().copied().filter(|time| *time <= PROMPT_TIMES * least).collect();
    let answered = times.len();
    // A first echo that waits for ARP, or one in twenty behind something else, is no kind.
    let are_kinds =
        answered >= FEWEST_OF_KINDS && late >= A_FEW && late * 5 >= answered && prompt.len() * 5 >= answered;
    let are_apart = (late + prompt.len()) * 10 >= answered * 9;
    let changes = in_order.windows(2).filter(|pair| is_late(pair[0]) != is_late(pair[1])).count();
    // By chance as many neighbours differ as twice the product of both parts has.
    let is_mixed = changes * answered >= late * (answered - late);
    (are_kinds && are_apart && is_mixed).then_some(())?;
    let time = |micros: u64| show(Duration::from_micros(micros));
    let (first_late, last) = (times.iter().find(|time| is_late(**time))?, times.last()?);
    Some(Statement::fault(format!(
        "{late} of {answered} echoes from {} to {} take {} to {}, and those between them {} or less: packets are left lying in one of the two \
         hosts (its kernel's queue, driver, power saving), or in a radio between them, until something else moves; no queue under load comes \
         and goes from echo to echo",
        tested.from.host,
        tested.to.host,
        time(*first_late),
        time(*last),
        time(*prompt.last()?)
    )))
}

fn micros(fate: &EchoFate) -> Option<u64> {
    match fate {
        EchoFate::Answered(answer) => u64::try_from(answer.rtt.as_micros()).ok(),
        _ => None,
    }
}

/// Echoes to a near host of which most take many times as long as the fastest: no path is that long and that short.
fn uneven(tested: &Tested, rtt: &RttSummary) -> Option<Statement> {
    let (least, median, most) = (rtt.min_us?, rtt.median_us?, rtt.max_us?);
    let answered = rtt.sent.get().saturating_sub(rtt.lost.get());
    let is_near = (1..=NEAR_US).contains(&least);
    (is_near && answered >= FEW_ECHOES && median >= 4 * least && most >= 10 * least && most >= JITTER_US).then(|| {
        let time = |micros: u64| show(Duration::from_micros(micros));
        Statement::fault(format!(
            "echoes from {} to {} take {} at best, {} in the median and up to {}: the hosts are near, so that one of them, its NIC or a radio \
             between them lets packets wait (interrupt moderation, power saving, a busy CPU)",
            tested.from.host,
            tested.to.host,
            time(least),
            time(median),
            time(most)
        ))
    })
}

/// The RTT within a building.
const NEAR_US: u64 = 500;
/// Fewer echoes say nothing of a distribution.
const FEW_ECHOES: u64 = 8;
/// Less is what a host takes to wake up.
const JITTER_US: u64 = 2_000;

/// From this time on an echo within a building is late, where it takes so many times as long as the fastest.
const LATE_US: u64 = 10_000;
const LATE_TIMES: u64 = 50;
/// Up to so many times as long as the fastest it is prompt.
const PROMPT_TIMES: u64 = 5;
const FEWEST_OF_KINDS: usize = 10;
const A_FEW: usize = 3;
