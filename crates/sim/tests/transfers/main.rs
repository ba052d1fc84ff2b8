//! Simulated transfers as a whole, against closed forms, accounts, recorded transfers of kernels, and what must hold of all.
//!
//! One program: the engine is generic, and each program that uses it compiles it anew.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod allocation;
mod buffers;
mod coarse;
mod oracle;
mod recovery;
mod response;
mod shared;
mod support;
mod whole;
