//! Scenario files: what comes with the program, what is refused, and what a network is worked out to.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod blueprint;
mod library;
mod pages;
mod refusals;
mod strangers;
