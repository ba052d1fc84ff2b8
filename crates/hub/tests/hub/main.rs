//! A hub over real sockets: who joins, who is refused, and what is stored.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

mod archiving;
mod asking;
mod backing;
mod delivering;
mod intruders;
mod joining;
mod leasing;
mod linking;
mod mailing;
mod monitoring;
mod people;
mod prometheus;
mod running;
mod segmenting;
mod stopping;
mod testing;
mod transfers;
mod watching;
