//! Counters that a text says went up.

use std::collections::BTreeMap;

use import::figures::{CountedKind, Figure, FigureValue};

use crate::statements::statement::Statement;

/// The one of each kind that went up most.
pub(super) fn of(all: &[&Figure]) -> Vec<Statement> {
    let mut most: BTreeMap<CountedKind, (u64, usize)> = BTreeMap::new();
    for one in all {
        let FigureValue::Counted(kind, by) = one.value else { continue };
        let known = most.entry(kind).or_insert((by, one.line));
        if by > known.0 {
            *known = (by, one.line);
        }
    }
    most.into_iter().map(|(kind, (by, line))| Statement::fault(says(kind, by, line))).collect()
}

fn says(kind: CountedKind, by: u64, line: usize) -> String {
    match kind {
        CountedKind::Paused => format!(
            "pause frames that came in went up by {by} (line {line}): what stands at the other end of that port does not keep up with what arrives (its \
             rings, its CPU, or who it passes them on for), and all that leaves by the port waits"
        ),
        CountedKind::PausesPeer => format!(
            "pause frames that were sent went up by {by} (line {line}): who sends them does not keep up with what arrives (rings too small, or a CPU \
             too slow), and the port at the other end waits or drops"
        ),
        CountedKind::Damaged => {
            format!("damaged frames went up by {by} (line {line}): cable, connector, optics or port of that link")
        }
        CountedKind::NoRoom => format!(
            "packets that found no room went up by {by} (line {line}): rings too small, or the CPU that empties them too slow"
        ),
        CountedKind::NotSent => format!(
            "dropped packets of a queue that was to send them went up by {by} (line {line}): more comes at once than the port sends (a step to a slower \
             link, several senders, bursts)"
        ),
        CountedKind::Collisions => {
            format!(
                "collisions went up by {by} (line {line}): the link is half duplex, or its ends do not agree on that"
            )
        }
    }
}
