//! A mesh that is measured for good: which pair is tested when, who may run a test, what became of it, and what is
//! worse than it was.
//!
//! * [`timetable`]: from a plan to runs, each at a moment of its slot; [`fit`] says whether they fit, [`day`] what a day looks like, [`check`] both
//! * [`run`]: a run from its plan to its result, a row of a table
//! * [`board`]: all runs that are not over: who gets which, what is delivered, what is lost
//! * [`observer`]: which leases are over, by a clock that does not step
//! * [`agent`]: what an agent has on disk, and what it does next
//! * [`expected`]: what a plan expects of the results of a test
//! * [`incident`]: what is worse, from the first sign until it is fixed and verified; [`notify`] says whom to tell
//! * [`judged`]: generated quarters, and how many incidents of them are right
//! * [`simulation`]: hubs, agents and their network in virtual time, with faults
//!
//! Pure: the hub and its agents bring clocks, disks and connections. Whether a run is due is decided by calendar time; who
//! may run never is, so a clock that steps makes tests early or late, and none twice.

pub mod agent;
pub mod board;
pub mod check;
pub mod clock;
mod crossing;
pub mod day;
pub mod expected;
pub mod fit;
pub mod incident;
pub mod judged;
pub mod notify;
pub mod observer;
pub mod rules;
pub mod run;
pub mod simulation;
pub mod timetable;
