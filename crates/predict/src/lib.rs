//! What a test should have reached: a transfer of the same length, over the same path, between hosts with the same
//! settings, simulated.
//!
//! * [`case`]: one direction of a run, with what is known of its ends and its path besides
//! * [`book`]: expectations of many runs, of which like ones are reckoned once
//! * [`of_round`]: the tests of a round, with the facts of its hosts
//! * [`target`]: what each flow of a round is judged against
//! * [`transfer`]: from what is known to transfers that can be simulated
//! * [`physics`]: what loss and RTT allow in closed form, beside what was reached
//! * [`reckon`]: simulating no more than it takes
//! * [`progress`]: a simulated test over time
//! * [`untested`]: a test of which no more is known than the rate and the RTT of its path
//! * [`words`]: what holds a transfer, and sizes, for people
//!
//! Inside: `host` reads settings from snapshots, `inputs` decides which of several sources counts.
//!
//! What is not known is assumed, and each assumption is written down with the result. `docs/expectation.md` lists them.

pub mod book;
pub mod case;
mod host;
mod inputs;
pub mod of_round;
pub mod physics;
pub mod progress;
pub mod reckon;
pub mod target;
pub mod transfer;
pub mod untested;
pub mod words;

use model::run::Run;

use book::Book;
use case::Case;

/// What each direction of a run should have reached, with no more than the run itself tells.
#[must_use]
pub fn of_run(run: &Run) -> Vec<model::expectation::Expectation> {
    Case::all(run).iter().map(|case| Book::default().expectation(case)).collect()
}
