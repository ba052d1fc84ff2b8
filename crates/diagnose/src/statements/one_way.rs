//! Delays of packets in one direction, and packets that a program did not send.

use std::time::Duration;

use import::evidence::{HostFact, OneWayDelays, PacketsAsked};
use units::duration::show;

use super::beside::{Beside, MOST_FACTS};
use super::statement::Statement;

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let facts = || beside.facts.iter().take(MOST_FACTS).map(|(_, fact)| fact);
    let delays: Vec<&OneWayDelays> =
        facts().filter_map(|fact| if let HostFact::OneWay(one) = fact { Some(one) } else { None }).take(MOST).collect();
    let mut all: Vec<Statement> =
        facts().filter_map(|fact| if let HostFact::Asked(one) = fact { Some(of_asked(one)) } else { None }).collect();
    for (at, one) in delays.iter().enumerate() {
        all.push(of_direction(one));
        let back = delays[at + 1..].iter().find(|back| back.from == one.to && back.to == one.from);
        all.extend(back.and_then(|back| of_both(one, back)));
    }
    all
}

/// A mesh of a hundred hosts has ten thousand directions.
const MOST: usize = 8;

/// What was not sent is neither lost nor received.
fn of_asked(one: &PacketsAsked) -> Statement {
    let PacketsAsked { tool, to, asked, sent } = one;
    Statement::fault(format!(
        "{tool} sent {sent} of the {asked} packets to {to} that it was asked for: the program did not send as often as its command has it, and \
         its numbers are those of {sent} packets; the path has no part in it"
    ))
}

fn of_direction(one: &OneWayDelays) -> Statement {
    let OneWayDelays { from, to, least_us, median_us, most_us, error_us } = one;
    let median = median_us.map_or_else(|| "?".to_owned(), signed);
    let clocks = match error_us {
        Some(error) => format!("clocks within {}", show(Duration::from_micros(*error))),
        None => "clocks not synchronised, so that a constant may be added to all".to_owned(),
    };
    Statement::fact(format!(
        "packets from {from} to {to} take {}/{median}/{} one way (min/median/max; {clocks})",
        signed(*least_us),
        signed(*most_us)
    ))
}

/// An offset of clocks adds to one direction what it takes from the other.
fn of_both(one: &OneWayDelays, back: &OneWayDelays) -> Option<Statement> {
    let together = one.least_us.checked_add(back.least_us).filter(|sum| *sum > 0)?;
    Some(Statement::fact(format!(
        "both directions between {} and {} together take {} at least, which is the RTT whatever their clocks say",
        one.from,
        one.to,
        signed(together)
    )))
}

fn signed(micros: i64) -> String {
    let time = show(Duration::from_micros(micros.unsigned_abs()));
    if micros < 0 { format!("-{time}") } else { time }
}
