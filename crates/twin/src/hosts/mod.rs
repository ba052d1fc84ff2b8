//! The facts that a host would tell of itself.
//!
//! * `kernel`: a host on which nobody set anything
//! * `snapshot`: a host of a network, with its settings and counters at a moment
//! * `recorded`: facts of hardware that a scenario records
//! * `identity`: the little that a run keeps of each side

pub(crate) mod identity;
pub(crate) mod kernel;
mod recorded;
pub(crate) mod snapshot;
