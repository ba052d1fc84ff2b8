//! Facts of real namespaces against what was planted in them with iproute2, ethtool and sysctl.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

mod namespace;
mod others;
mod recorded;
mod sandbox;
