//! `linerate lab` as its users meet it: labs come up, are entered with real tools, and are gone after whatever happens; and what takes
//! minutes in a network of this machine, side by side: demonstrations, and transfers of which a hub finds that they have become slower.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

mod asking;
mod busy;
mod ending;
mod examining;
#[cfg(feature = "hub")]
mod hub_demo;
mod keeping;
mod playing;
#[cfg(feature = "hub")]
mod slower_transfers;
#[cfg(feature = "hub")]
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "other tests need other parts of it")]
mod support;
mod telling;
mod user;
