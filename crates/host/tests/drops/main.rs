//! Drops that are planted in network namespaces, and what is said of them.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

// These are used by other tests as well, not all by each.
#[allow(dead_code, unreachable_pub)]
#[path = "../live/sandbox.rs"]
mod sandbox;

mod planted;
mod unknown_vlan;
