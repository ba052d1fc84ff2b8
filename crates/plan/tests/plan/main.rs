//! Plans as people write them, and the order in which they are carried out.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod files;
mod schedule;
