//! Hubs, agents, their database and their network in virtual time, with faults.
//!
//! The board, the journal and the observer are those that ship. Around them stand a database whose transactions may be lost or
//! whose answer may be, hubs and agents that are killed between any two steps, calendars that jump by an hour, and a network that
//! loses, delays, repeats and parts. A ledger knows the truth, and says what must never be:
//!
//! * two runs at once on a host or a shared segment;
//! * a run that is carried out twice, or has two results;
//! * a run that has been planned and has neither a result nor a reason after all is healed;
//! * a result that an agent had on its disk, and that is not stored.
//!
//! Model: a process that is killed takes its test with it, and no process is stopped and goes on later.
//!
//! | file | what it has |
//! |---|---|
//! | `mod` | the whole |
//! | `settings` | what is simulated, and what came of it |
//! | `world` | events in order of time |
//! | `database` | rows, transactions, crashes |
//! | `hub` | a hub: its calendar, its observer |
//! | `machine` | an agent and its disk |
//! | `network` | messages and what becomes of them |
//! | `faults` | what goes wrong when |
//! | `ledger` | the truth, and what must never be |

mod database;
mod faults;
mod hub;
mod ledger;
mod machine;
mod network;
mod settings;
mod world;

use path::Seed;

pub use ledger::Violation;
pub use settings::{Settings, SimulationError, Summary};

/// Simulates a mesh; the same seed gives the same run.
///
/// # Errors
/// Where a plan of so many agents does not fit.
pub fn run(settings: Settings, seed: Seed) -> Result<Summary, SimulationError> {
    Ok(world::World::new(settings, seed)?.run())
}
