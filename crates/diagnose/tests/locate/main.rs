//! Where bad cells come from: a real incident, and faults planted in random networks.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail like tests.

mod hundred;
mod nrao;
mod planted;
mod random;
mod rounds;
mod world;
