//! The best, held against draws that no choice was made by.
//!
//! What was chosen for doing well in some draws did so partly by luck. Only draws that it was not chosen by say how well
//! it does.

use crate::candidate::Candidate;
use crate::front::fewer_changes;
use crate::ledger::{Book, Ledger};
use crate::question::Question;
use crate::search::Search;
use crate::simplify::simplify;
use crate::trial::{Halt, Runner};

/// Where draws begin that the search does not see.
const FRESH: u64 = 1 << 32;
/// How many others are shown beside the best.
const OTHERS: usize = 3;
/// Of a hundred transfers of the budget, those after which no more is weighed against fewer changes.
const WEIGHED: u64 = 70;
/// The fewest draws by which anything is said.
const LEAST: u64 = 10;

/// What is known in the end.
pub struct TunedSettings {
    /// The settings as they are.
    pub present: Candidate,
    /// The best, which may be the same.
    pub best: Candidate,
    /// The best with one change less each, with the number of the setting that was put back.
    pub without: Vec<(usize, Candidate)>,
    /// With fewer and fewer changes than the best, the one that costs least each time.
    pub fewer: Vec<Candidate>,
    /// Others that did well.
    pub others: Vec<Candidate>,
    /// What came of all of them.
    pub book: Book,
    /// The same for the present settings and the best, where bursts have a queue of their own.
    pub own_queue: Option<(Question, Book)>,
    /// Whether the draws are such that no choice was made by.
    pub is_fresh: bool,
    /// The first of the draws.
    pub first_draw: u64,
    /// Whether everything was done that was to be done.
    pub is_whole: bool,
    /// How many transfers the numbers are of.
    pub spent: u64,
    /// How many of them were simulated: of those that differ only by buffers that never limit, one is.
    pub simulated: u64,
}

/// Asks a question.
///
/// # Errors
/// Settings that cannot be, or that it was stopped before anything was known.
pub fn tune(question: &Question, budget: u64, runner: &mut dyn Runner) -> Result<TunedSettings, Halt> {
    let mut search = Search::new(question, runner);
    let mut fewer = Vec::new();
    let ended = search.run(budget).and_then(|()| simplify(&mut search, budget)).and_then(|()| {
        fewer = fewer_changes(&mut search, budget * WEIGHED / 100)?;
        Ok(())
    });
    let (present, best) = (search.present, search.best);
    let (book, spent, simulated) = (search.ledger.book, search.ledger.spent, search.ledger.simulated);
    let draws = book.scores(&best).len();
    let is_other = |candidate: &Candidate| *candidate != present && *candidate != best;
    let others = book.ranked(question, draws.min(book.most_draws()).max(1));
    let others: Vec<Candidate> = others.into_iter().filter(is_other).take(OTHERS).collect();
    let mut found = TunedSettings {
        without: best.changed(question).into_iter().map(|dial| (dial, best.with(dial, present.place(dial)))).collect(),
        present,
        best,
        fewer,
        others,
        book,
        own_queue: None,
        is_fresh: false,
        first_draw: 0,
        is_whole: false,
        spent,
        simulated,
    };
    if found.without.len() == 1 {
        found.without.clear();
    }
    match ended.and_then(|()| confirm(question, budget, runner, &mut found)) {
        Ok(()) => found.is_whole = true,
        Err(Halt::Stopped) if draws > 0 => {}
        Err(halt) => return Err(halt),
    }
    if !found.is_fresh {
        found.without.clear();
        found.fewer.clear();
        found.others.clear();
    }
    Ok(found)
}

/// The draws of the present settings and the best; others have half of them.
fn confirm(question: &Question, budget: u64, runner: &mut dyn Runner, found: &mut TunedSettings) -> Result<(), Halt> {
    let own = question.with_own_queue();
    let pair = 2 * if found.present == found.best { 1 } else { 2 };
    let shares =
        pair * if own.is_some() { 2 } else { 1 } + found.without.len() + found.fewer.len() + found.others.len();
    let half = (budget.saturating_sub(found.spent) / shares as u64).max(LEAST);
    let half = usize::try_from(half).unwrap_or(usize::MAX);
    let mut fresh = Ledger::new(question, &mut *runner, FRESH);
    // The pair first: who stops it later has the answer.
    fresh.extend([&found.present, &found.best], 2 * half)?;
    (found.is_fresh, found.first_draw) = (true, FRESH);
    let rest = found.without.iter().map(|(_, candidate)| candidate).chain(&found.fewer).chain(&found.others);
    let ended = fresh.extend(rest, half);
    found.spent += fresh.spent;
    found.simulated += fresh.simulated;
    found.book = fresh.book;
    ended?;
    if let Some(own) = own {
        let mut fresh = Ledger::new(&own, runner, FRESH);
        fresh.extend([&found.present, &found.best], 2 * half)?;
        found.spent += fresh.spent;
        found.simulated += fresh.simulated;
        let book = fresh.book;
        found.own_queue = Some((own, book));
    }
    Ok(())
}
