//! The packed form of samples: what comes back of it, and how small it is.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

mod size;
mod survival;
