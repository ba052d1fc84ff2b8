//! Hubs on PostgreSQL: all that a hub on SQLite does, and what several hubs do that share a database.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

mod backing;
mod cluster;
mod crowd;
mod opening;
mod sharing;

#[path = "../hub/asking.rs"]
mod asking;
#[path = "../hub/delivering.rs"]
mod delivering;
#[path = "../hub/intruders.rs"]
mod intruders;
#[path = "../hub/joining.rs"]
mod joining;
#[path = "../hub/leasing.rs"]
mod leasing;
#[path = "../hub/monitoring.rs"]
mod monitoring;
#[path = "../hub/people.rs"]
mod people;
#[path = "../hub/running.rs"]
mod running;
#[path = "../hub/segmenting.rs"]
mod segmenting;
#[path = "../hub/stopping.rs"]
mod stopping;
#[path = "../hub/testing.rs"]
mod testing;
#[path = "../hub/watching.rs"]
mod watching;
