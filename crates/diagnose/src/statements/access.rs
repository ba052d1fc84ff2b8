//! What an access line carried to and from a server near it, beside transfers from farther away.

use import::evidence::{AccessRates, HostFact};
use units::DataRate;
use units::duration::show;

use super::beside::{Beside, MOST_FACTS, named};
use super::statement::Statement;

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let tests: Vec<(Option<&String>, &AccessRates)> = beside
        .facts
        .iter()
        .take(MOST_FACTS)
        .filter_map(|(host, fact)| match fact {
            HostFact::Access(rates) => Some((host.as_ref(), rates)),
            _ => None,
        })
        .take(MOST)
        .collect();
    let mut all: Vec<Statement> = changed(&tests).into_iter().collect();
    all.extend(tests.iter().map(|(host, rates)| alone(named(*host), rates)));
    all.extend(one_connection(beside, &tests));
    all
}

const MOST: usize = 6;

fn alone(host: &str, rates: &AccessRates) -> Statement {
    let shown = |what: &str, rate: Option<DataRate>| rate.map(|rate| format!("{rate} {what}"));
    let known = [shown("down", rates.download), shown("up", rates.upload)];
    let rtt = rates.rtt.map_or_else(String::new, |rtt| format!(", RTT {}", show(rtt)));
    let known: Vec<String> = known.into_iter().flatten().collect();
    Statement::fact(format!(
        "the access line of {host}: {} with several connections to {}{rtt}",
        known.join(" and "),
        rates.server
    ))
}

/// Two tests with one server of which a direction differs by far: the line carries the better.
fn changed(tests: &[(Option<&String>, &AccessRates)]) -> Option<Statement> {
    tests.iter().enumerate().find_map(|(at, (host, one))| {
        let same = |(_, other): &&(Option<&String>, &AccessRates)| other.server == one.server;
        tests[at + 1..].iter().filter(same).find_map(|(_, other)| {
            DIRECTIONS.into_iter().find_map(|(name, of)| {
                let (first, second) = (of(one)?, of(other)?);
                let (least, most) = (first.min(second), first.max(second));
                (least.bps().saturating_mul(TIMES) < most.bps()).then(|| {
                    Statement::fault(format!(
                        "the {name} of {} from {} was {first} in one test and {second} in the next: the line carries {most}, and what was \
                         changed between the tests (a setting, an offload, other traffic) took it away",
                        named(*host),
                        one.server
                    ))
                })
            })
        })
    })
}

/// What is compared, by name.
type Direction = (&'static str, fn(&AccessRates) -> Option<DataRate>);
const DIRECTIONS: [Direction; 2] = [("download", |rates| rates.download), ("upload", |rates| rates.upload)];
/// From such a ratio on.
const TIMES: u64 = 3;

/// A single connection over a longer path that is far slower than the line.
fn one_connection(beside: &Beside<'_>, tests: &[(Option<&String>, &AccessRates)]) -> Option<Statement> {
    let line = tests.iter().filter_map(|(_, rates)| rates.download).max()?;
    let slow = beside.sent().into_iter().find(|sent| sent.rate.bps().saturating_mul(TIMES) < line.bps())?;
    Some(Statement::fact(format!(
        "{} to {}: {} over one connection, where the access line carries {line} over several: a window, losses on the longer path or the server \
         limit it, which the RTT (`ping`) and `ss -ti` tell apart",
        slow.from, slow.to, slow.rate
    )))
}
