//! Bursts of a device: a program in the kernel counts packets in buckets of time, or, where that is denied, the device's
//! counters are read every 10 ms.
//!
//! * [`watcher`]: the loop
//!
//! Inside: `counters` is the way without the right, `drops` says when packets were dropped, `retransmits` when TCP retransmitted, `surroundings` what else is said of the device and its connections.

mod counters;
mod drops;
mod retransmits;
mod surroundings;
pub mod watcher;

pub use watcher::{BurstError, Progress, Request, watch};
