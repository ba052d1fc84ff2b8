//! Which hosts test what, when.
//!
//! * [`plan`]: hosts, what lies between them, and which of them test what
//! * [`task`]: what a test measures, in the keys that plans and scenarios of the lab share
//! * [`read`]: plans as people write them (docs/formats/plan.md); [`Plan::to_toml`] writes one
//! * [`psconfig`]: the template of perfSONAR's psConfig, read and written
//! * [`partners`]: lists of hosts that others publish
//! * [`init`]: a first plan, from hosts' snapshots
//! * [`operation`]: periods, budgets and maintenance of a plan that runs for good
//! * [`pairs`]: the directed pairs that a group stands for
//! * [`schedule`]: when each test of a round begins

pub mod downloads;
pub mod init;
pub mod operation;
pub mod pairs;
pub mod partners;
pub mod plan;
pub mod psconfig;
pub mod read;
pub mod schedule;
pub mod task;
mod topology;
mod write;
mod written;

pub use crate::plan::Plan;
pub use crate::read::PlanError;
pub use crate::schedule::Schedule;
