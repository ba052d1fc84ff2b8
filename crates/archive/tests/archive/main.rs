//! The archive as its users meet it.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod changes;
mod damage;
mod exporting;
mod keeping;
mod killing;
mod refusing;
mod rounds;
mod runs;
mod snapshots;
mod tearing;
mod transfers;
