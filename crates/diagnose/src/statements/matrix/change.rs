//! The same test before and after a command that changes something.

use import::figures::{Figure, Thing};

use super::measurement::{Matrix, Measurement};
use crate::statements::figures::mechanism;
use crate::statements::statement::Statement;

/// Each change with a test before and the same test after it.
pub(super) fn of(matrix: &Matrix<'_>) -> Vec<Statement> {
    let changes: Vec<&Figure> = matrix.changes().take(MOST).collect();
    let mut all: Vec<Statement> = Vec::new();
    let mut told: Vec<[usize; 2]> = Vec::new();
    for change in &changes {
        let Some([before, after]) = around(matrix, change.line) else { continue };
        let lines = [before, after].map(|one| one.line().unwrap_or_default());
        if told.contains(&lines) {
            continue;
        }
        told.push(lines);
        let between: Vec<&Figure> =
            changes.iter().copied().filter(|other| (lines[0]..lines[1]).contains(&other.line)).collect();
        all.extend(says(before, after, &between));
    }
    all
}

/// A script has hundreds.
const MOST: usize = 20;

/// The last test before a line, and the first behind it that is the same.
fn around<'m, 'a>(matrix: &'m Matrix<'a>, line: usize) -> Option<[&'m Measurement<'a>; 2]> {
    let known = || matrix.all.iter().filter(|one| one.is_test()).filter_map(|one| Some((one.line()?, one)));
    let (_, after) = known().filter(|(at, _)| *at > line).min_by_key(|(at, _)| *at)?;
    let is_same = |one: &Measurement<'_>| {
        let is_shape = one.is_tcp() == after.is_tcp() && one.streams() == after.streams() && one.is_tcp();
        one.to == after.to
            && (one.from == after.from || one.shares_address(after))
            && is_shape
            && one.run.spec.window == after.run.spec.window
    };
    let (_, before) = known().filter(|(at, one)| *at < line && is_same(one)).max_by_key(|(at, _)| *at)?;
    Some([before, after])
}

fn says(before: &Measurement<'_>, after: &Measurement<'_>, changes: &[&Figure]) -> Option<Statement> {
    let names: Vec<String> =
        changes.iter().filter_map(|change| change.of.name.as_ref()).map(|name| format!("`{name}`")).collect();
    let names = names.join(" and ");
    let (was, is) = (before.rate(), after.rate());
    let again = before
        .retransmits()
        .zip(after.retransmits())
        .map_or_else(String::new, |(one, other)| format!(", {one} and {other} segments retransmitted"));
    let begin = format!("{} to {}: {was} before {names} and {is} after it{again}", before.from, before.to);
    if is.bps() >= was.bps() * 2 {
        let mark = changes.iter().flat_map(|change| &change.of.marks).next();
        let is_mtu = names.contains(" mtu ");
        let means =
            if is_mtu { mechanism::of(Thing::SmallSegments).faster_with } else { "what it changed was the limit" };
        let means = mark.filter(|_| !is_mtu).map_or(means, |mark| {
            let mechanism = mechanism::of(mark.thing);
            if mark.on { mechanism.faster_with } else { mechanism.slower_with }
        });
        return Some(Statement::decisive(format!(
            "{begin}: that change alone makes it {} times as fast, so that the path and both hosts carry the faster rate: {means}",
            is.bps() / was.bps().max(1)
        )));
    }
    if was.bps() >= is.bps() * 2 {
        return Some(Statement::decisive(format!("{begin}: that change makes it slow: undo it")));
    }
    let is_alike = is.bps() * 5 >= was.bps() * 4 && was.bps() * 5 >= is.bps() * 4;
    is_alike.then(|| Statement::fact(format!("{begin}: what it changes is not the limit")))
}
