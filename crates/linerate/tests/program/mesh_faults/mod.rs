//! A hub and its agents while things go wrong: no run is lost, and none has two results.
//!
//! * [`world`]: the hub and two agents, as processes on a loopback of their own
//! * [`killed`]: `kill -9` at each step of a run
//! * [`full`]: disks that are full for a while
//! * [`shown`]: what a terminal shows of it
//! * [`sharing`]: two hubs on one PostgreSQL, each killed in turn
//! * [`calendar`]: clocks that are an hour apart

mod calendar;
#[path = "../../../../hub/tests/on_postgres/cluster.rs"]
mod cluster;
mod full;
mod killed;
mod sharing;
mod shown;
mod world;
