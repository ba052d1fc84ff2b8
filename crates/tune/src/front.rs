//! What fewer changes would cost: the trade-off between deadline misses, settings changed and memory.
//!
//! From the best back to the settings as they are, the change that costs least is undone first. What is no worse in any respect than
//! another, and better in one, stands on the front (Pareto).

use crate::candidate::Candidate;
use crate::search::Search;
use crate::trial::Halt;

/// Draws by which it is decided which change is undone next: the order, and not a result.
const DRAWS: usize = 32;

/// Candidates with one change less each, from the one that has one less than the best to the one that has a single change.
/// Fewer where `until` transfers have been simulated.
pub(crate) fn fewer_changes(search: &mut Search<'_>, until: u64) -> Result<Vec<Candidate>, Halt> {
    let (present, mut at) = (search.present.clone(), search.best.clone());
    let mut found = Vec::new();
    loop {
        let changed = at.changed(search.ledger.question);
        if changed.len() < 2 || search.ledger.spent >= until {
            return Ok(found);
        }
        let fewer: Vec<Candidate> = changed.iter().map(|dial| at.with(*dial, present.place(*dial))).collect();
        search.ledger.extend(&fewer, DRAWS)?;
        let book = &search.ledger.book;
        let stands = |candidate: &Candidate| book.standing(candidate, DRAWS);
        let Some(least) = fewer.into_iter().min_by(|one, other| stands(one).order(&stands(other))) else {
            return Ok(found);
        };
        found.push(least.clone());
        at = least;
    }
}

/// What is weighed, each the less the better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Share of transfers that miss the deadline.
    pub missed: f64,
    /// Settings that differ from the present ones.
    pub changed: usize,
    /// Buffers of both hosts, in bytes.
    pub memory: u64,
}

impl Cost {
    /// Whether it is no worse in any respect, and better in one.
    #[must_use]
    pub fn dominates(&self, other: &Self) -> bool {
        let no_worse = self.missed <= other.missed && self.changed <= other.changed && self.memory <= other.memory;
        no_worse && self != other
    }
}

/// Those that no other dominates, by the number of changes; of equals the first.
#[must_use]
pub fn front<T>(mut all: Vec<(Cost, T)>) -> Vec<(Cost, T)> {
    let costs: Vec<Cost> = all.iter().map(|(cost, _)| *cost).collect();
    let mut number = 0;
    all.retain(|(cost, _)| {
        let is_new = !costs[..number].contains(cost);
        number += 1;
        is_new && !costs.iter().any(|other| other.dominates(cost))
    });
    all.sort_by(|(one, _), (other, _)| one.changed.cmp(&other.changed).then(one.memory.cmp(&other.memory)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worse_in_all_respects_is_not_on_the_front() {
        let cost = |missed, changed, memory| (Cost { missed, changed, memory }, ());
        let all = vec![cost(0.0, 3, 100), cost(1.0, 0, 10), cost(0.5, 2, 100), cost(0.5, 3, 120), cost(0.5, 2, 100)];
        let left: Vec<_> = front(all).into_iter().map(|(cost, ())| (cost.changed, cost.missed)).collect();
        assert_eq!(left, [(0, 1.0), (2, 0.5), (3, 0.0)]);
    }
}
