//! The contrast matrix: measurements of one text, each with its labels (from, to, direction, protocol, streams, size, pace, moment, what stands
//! above it), one beside another that differs in one of them, and what an expert concludes from the difference.
//!
//! * `measurement`: a measurement with its labels
//! * `load`: RTTs without load beside those under load
//! * `limit`: a rate that nothing exceeds: datagrams at several rates, several streams beside one
//! * `each`: a limit of each flow: several streams beside one, a larger window
//! * `change`: the same test before and after a change
//! * `loss`: what is lost when it is sent otherwise: paced, as datagrams, in the other direction
//! * `size`: packets of one size beside others
//! * `queue`: a line that is full, beside echoes that wait
//! * `others`: other hosts, other tests of the pair, and transfers over other distances

mod change;
mod each;
mod limit;
mod load;
mod loss;
mod measurement;
mod others;
mod queue;
mod size;

use super::beside::Beside;
use super::statement::Statement;
use measurement::Matrix;

/// What contrasts decide: said before what each measurement says alone.
pub(super) fn decided(beside: &Beside<'_>) -> Vec<Statement> {
    let matrix = Matrix::of(beside);
    let mut found: Vec<Statement> = change::of(&matrix);
    found.extend(size::of(&matrix));
    found.extend(loss::paced(&matrix));
    found.extend(loss::overtaken(&matrix));
    found.extend(loss::own_bursts(&matrix));
    found.extend(loss::counted(&matrix));
    found.extend(limit::of(&matrix));
    found.extend(queue::of(&matrix));
    found.extend(each::of(&matrix));
    found.extend(loss::one_direction(&matrix));
    found.extend(loss::datagrams_pass(&matrix));
    found.extend(others::loopback(&matrix));
    found.extend(others::same_under_way(&matrix));
    found
}

/// What else they say.
pub(super) fn others(beside: &Beside<'_>) -> Vec<Statement> {
    let matrix = Matrix::of(beside);
    let mut found = others::asymmetric(&matrix);
    found.extend(others::both_full(&matrix));
    found.extend(others::beside_others(&matrix));
    found
}
