//! A hub and its agents while things go wrong: no run is lost, and none has two results.
//!
//! * [`world`]: the hub and two agents, as processes on a loopback of their own
//! * [`killed`]: `kill -9` at each step of a run
//! * [`flood`]: thousands of connections that ask for nothing, or slowly
//! * [`full`]: disks that are full for a while
//! * [`shown`]: what a terminal shows of it
//! * [`sharing`]: two hubs on one PostgreSQL, each killed in turn
//! * [`kinds`]: each kind of test that a plan may have
//! * [`segments`]: samples that are to be in Parquet, while the hub is killed and its disk is full
//! * [`calendar`]: clocks that are an hour apart

mod calendar;
#[path = "../../../../hub/tests/on_postgres/cluster.rs"]
mod cluster;
mod flood;
mod full;
mod killed;
mod kinds;
mod segments;
mod sharing;
mod shown;
mod world;
