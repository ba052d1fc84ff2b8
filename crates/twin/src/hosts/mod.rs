//! The facts that a host would tell of itself.
//!
//! * `kernel`: a host on which nobody set anything
//! * `snapshot`: a host of a network, with its settings and counters at a moment
//! * `identity`: the little that a run keeps of each side

pub(crate) mod identity;
pub(crate) mod kernel;
pub(crate) mod snapshot;
