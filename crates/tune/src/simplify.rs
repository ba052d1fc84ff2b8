//! From the best to the least change that does as well.

use crate::candidate::Candidate;
use crate::search::Search;
use crate::trial::Halt;

/// What does as well may miss one of a hundred more, and take a twentieth longer.
const MISSES_MORE: usize = 100;
const LONGER: f64 = 1.05;

/// Of a hundred transfers of the budget, those after which no more is made simpler. The rest is for fresh draws.
const SIMPLER: u64 = 65;

/// Draws after which it is looked whether any more are needed.
const BLOCK: usize = 16;

/// Puts back what need not have been changed, then takes steps back towards what is now. The settings as they are win where
/// they miss as rarely.
pub(crate) fn simplify(search: &mut Search<'_>, budget: u64) -> Result<(), Halt> {
    let until = budget * SIMPLER / 100;
    let best = search.best.clone();
    let draws = search.ledger.book.scores(&best).len();
    let present = search.present.clone();
    search.ledger.extend([&present], draws)?;
    let misses = |search: &Search<'_>, candidate: &Candidate| search.ledger.book.standing(candidate, draws).missed.some;
    let allowed = misses(search, &best) + u32::try_from(draws / MISSES_MORE).unwrap_or(0);
    if misses(search, &present) <= allowed {
        search.best = present;
        return Ok(());
    }
    let bar = Bar { draws, allowed, longest: search.ledger.book.standing(&best, draws).mean.mul_f64(LONGER) };
    put_back(search, &bar, until)?;
    for dial in search.best.changed(search.ledger.question) {
        if !search.ledger.question.dials[dial].is_ordered() {
            continue;
        }
        while search.ledger.spent < until {
            let (at, home) = (search.best.place(dial), present.place(dial));
            let nearer = if at > home { at - 1 } else { at + 1 };
            let back = search.best.with(dial, nearer);
            if nearer == home || !bar.is_met_by(search, &back)? {
                break;
            }
            search.best = back;
        }
    }
    Ok(())
}

/// Puts back the changes that do nothing by themselves: all of them together where that does as well, or else one by one.
fn put_back(search: &mut Search<'_>, bar: &Bar, until: u64) -> Result<(), Halt> {
    let (best, present, few) = (search.best.clone(), search.present.clone(), BLOCK.min(bar.draws));
    let without = |from: &Candidate, dial: usize| from.with(dial, present.place(dial));
    let changed = best.changed(search.ledger.question);
    let singles: Vec<Candidate> = changed.iter().map(|dial| without(&best, *dial)).collect();
    search.ledger.extend(&singles, few)?;
    let stands = |candidate: &Candidate| search.ledger.book.standing(candidate, few);
    let now = stands(&best);
    let does_nothing = |(_, single): &(&usize, &Candidate)| {
        let then = stands(single);
        then.missed.some <= now.missed.some && then.mean <= now.mean.mul_f64(LONGER)
    };
    let idle: Vec<usize> = changed.iter().zip(&singles).filter(does_nothing).map(|(dial, _)| *dial).collect();
    let together = idle.iter().fold(best, |candidate, dial| without(&candidate, *dial));
    if bar.is_met_by(search, &together)? {
        search.best = together;
        return Ok(());
    }
    for dial in idle {
        let back = without(&search.best, dial);
        if search.ledger.spent < until && bar.is_met_by(search, &back)? {
            search.best = back;
        }
    }
    Ok(())
}

/// What has to be met to do as well as the best did: that of the best, not of the last step, so that small losses do not
/// add up.
struct Bar {
    draws: usize,
    allowed: u32,
    longest: std::time::Duration,
}

impl Bar {
    fn is_met_by(&self, search: &mut Search<'_>, candidate: &Candidate) -> Result<bool, Halt> {
        let mut draws = 0;
        while draws < self.draws {
            draws = (draws + BLOCK).min(self.draws);
            search.ledger.extend([candidate], draws)?;
            // Misses only become more: what has too many by now has too many in the end.
            if search.ledger.book.standing(candidate, draws).missed.some > self.allowed {
                return Ok(false);
            }
        }
        Ok(search.ledger.book.standing(candidate, self.draws).mean <= self.longest)
    }
}
