//! Rates that the text around logs states, against which their transfers are held.

use import::evidence::{AccessRates, HostFact};
use import::{StatedKind, StatedRate};
use model::measurement::Heading;
use units::DataRate;

use super::beside::{Beside, MOST_FACTS, named};
use super::statement::{Statement, percent};

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let facts = || beside.facts.iter().take(MOST_FACTS);
    let stated: Vec<&StatedRate> = beside.stated().collect();
    let has_transfers = beside.transfers().next().is_some() || !beside.downloaded().is_empty();
    let mut all = Vec::new();
    if has_transfers {
        all.extend(stated.iter().map(|rate| held_against(rate)));
    } else {
        all.extend(said(&stated));
    }
    for (host, fact) in facts() {
        if let HostFact::Access(rates) = fact {
            all.extend(
                stated
                    .iter()
                    .filter(|rate| rate.kind != StatedKind::Measured)
                    .find_map(|stated| of_line(named(host.as_ref()), rates, stated)),
            );
        }
    }
    all
}

fn held_against(rate: &StatedRate) -> Statement {
    let StatedRate { line, kind, down, up } = rate;
    let what = match kind {
        StatedKind::Expected => "that a transfer should reach",
        StatedKind::Link | StatedKind::Measured => "that the path carries",
    };
    let rates = if down == up { down.to_string() } else { format!("{down} in and {up} out") };
    Statement::fact(format!("line {line} says {what} {rates}: flows are held against that (`--expect` says otherwise)"))
}

/// What somebody says of a transfer whose output is not there, beside what it should reach.
fn said(stated: &[&StatedRate]) -> Option<Statement> {
    let of = |kind: StatedKind| stated.iter().find(|rate| rate.kind == kind);
    let measured = of(StatedKind::Measured)?;
    let says = format!("line {} says that {} is reached", measured.line, measured.down);
    let Some(target) = of(StatedKind::Expected).or_else(|| of(StatedKind::Link)) else {
        return Some(Statement::fact(format!("{says}; the output of that transfer is not here")));
    };
    let part = measured.down.share_of(target.down)?;
    Some(Statement::fact(format!(
        "{says}, {} of the {} that line {} states; the output of that transfer is not here",
        percent(part),
        target.down,
        target.line
    )))
}

/// What an access line carried of what it should.
fn of_line(host: &str, rates: &AccessRates, stated: &StatedRate) -> Option<Statement> {
    let part = |name: &str, found: Option<DataRate>, heading: Heading| {
        let should = stated.towards(heading);
        let part = found?.share_of(should)?;
        Some((part, format!("{} of the {name} of {should}", percent(part))))
    };
    let parts = [part("download", rates.download, Heading::Inbound), part("upload", rates.upload, Heading::Outbound)];
    let parts: Vec<(f64, String)> = parts.into_iter().flatten().collect();
    let least = parts.iter().map(|(part, _)| *part).reduce(f64::min)?;
    let all: Vec<&str> = parts.iter().map(|(_, says)| says.as_str()).collect();
    let says = format!("the access line of {host} carries {} that line {} states", all.join(" and "), stated.line);
    Some(if least < FAR_BELOW {
        Statement::fault(format!(
            "{says}: less than it should (the line, its router's CPU or shaper, Wi-Fi, or the server of the test)"
        ))
    } else {
        Statement::fact(format!("{says}: as it should"))
    })
}

/// A test of an access line that lacks a fifth is usual in the evening.
const FAR_BELOW: f64 = 0.8;
