//! The mesh as a whole.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod board;
mod expectations;
mod faults;
mod incidents;
mod several;
mod timetable;
