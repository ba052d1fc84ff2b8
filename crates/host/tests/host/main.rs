//! Hosts made of namespaces, whose settings are planted, read, watched, changed and taken back.
//!
//! * [`sandbox`]: namespaces of a test's own
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

mod drops;
mod fix;
mod live;
mod mistakes_of_others;
mod sandbox;
mod watch;
