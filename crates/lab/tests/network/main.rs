//! Networks on this kernel: as root where the tests run as root, and as root of a user namespace in any case.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

mod ending;
mod everywhere;
mod furnishing;
mod hardware;
mod sketch;
mod traffic;
