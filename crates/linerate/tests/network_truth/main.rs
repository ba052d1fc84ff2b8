//! Truth tests on networks of namespaces: a cause is planted, and what the program measures or watches must name it.
//!
//! * `balance`: where datagrams were dropped, to the datagram
//! * `waterfall`: what held a transfer back
//! * `watch`: the same of transfers of others, which are only watched
//!
//! They need root, `ip`, `tc`, `nft`, `ethtool` and `sysctl`.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

mod balance;
#[path = "../support/mod.rs"]
mod support;
mod watch;
mod waterfall;
