//! A hub and its agents while things go wrong: no run is lost, and none has two results.
//!
//! * [`world`]: the hub and two agents, as processes on a loopback of their own
//! * [`killed`]: `kill -9` at each step of a run
//! * [`full`]: disks that are full for a while
//! * [`shown`]: what a terminal shows of it
//! * [`calendar`]: clocks that are an hour apart

mod calendar;
mod full;
mod killed;
mod shown;
mod world;
