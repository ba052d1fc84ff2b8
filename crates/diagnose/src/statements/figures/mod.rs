//! What the numbers of a text say together, whatever printed them: an expert's contrasts, and arithmetic.
//!
//! * `contrast`: one measurement beside another that differs from it in one thing
//! * `mechanism`: what such a difference means
//! * `under_way`: a window over an RTT, which is a rate of the same text
//! * `counted`: counters that went up
//! * `cpu`: CPUs that are used up
//! * `disk`: a disk that takes as much as a copy has
//! * `detour`: an RTT that is far longer than it was
//! * `overhead`: what a tunnel leaves of a link

mod contrast;
mod counted;
mod cpu;
mod detour;
mod disk;
pub(super) mod mechanism;
mod overhead;
mod under_way;

use import::evidence::HostFact;
use import::figures::Figure;

use super::beside::{Beside, MOST_FACTS};
use super::statement::Statement;

/// What sets one measurement apart by a thing that both name, or that was switched: hardly anything else says more.
pub(super) fn named(beside: &Beside<'_>) -> Vec<Statement> {
    let all = figures(beside);
    let mut found: Vec<Statement> = detour::of(&all).into_iter().collect();
    found.extend(contrast::named(&all));
    found.extend(overhead::of(&all));
    found
}

/// Whatever else they say.
pub(super) fn others(beside: &Beside<'_>) -> Vec<Statement> {
    let all = figures(beside);
    let mut found: Vec<Statement> = disk::of(&all).into_iter().chain(under_way::of(&all)).collect();
    found.extend(counted::of(&all));
    found.extend(cpu::of(&all));
    found.extend(contrast::others(&all));
    found
}

fn figures<'a>(beside: &Beside<'a>) -> Vec<&'a Figure> {
    let of = |fact: &'a HostFact| match fact {
        HostFact::Figures(list) => list.as_slice(),
        _ => &[],
    };
    beside.facts.iter().take(MOST_FACTS).flat_map(|(_, fact)| of(fact)).collect()
}
