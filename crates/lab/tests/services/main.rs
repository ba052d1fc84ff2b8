//! File servers and proxies, and clients and servers that behave well and badly towards them.
//!
//! * `running`: services that run beside a test
//! * `sharing`: who gets which request
//! * `strangers`: whoever breaks the rules
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod running;
mod sharing;
mod strangers;
