//! Truth tests of the lab: what is measured in it is what the scenario says, and the kernel's TCP in it does what is known
//! of TCP.
//!
//! They need user namespaces or root, and TAP devices. Rates are low, so that a machine that does other things as well
//! carries them in time.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod capturing;
mod expectation;
mod kernel;
mod machine;
mod measured;
mod processor;
mod replaying;
mod response;
mod stage;
