//! A watcher of real namespaces, whose settings are changed with sysctl, ip, tc and ethtool.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

mod changes;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../live/sandbox.rs"]
mod sandbox;
mod troubles;
mod watcher;
