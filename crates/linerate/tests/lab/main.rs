//! `linerate lab` as its users meet it: labs come up, are entered with real tools, and are gone after whatever happens.
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
mod telling;
mod user;
