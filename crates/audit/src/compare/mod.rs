//! Hosts compared: with themselves at another time, with each other, with the rest of their kind.
//!
//! * [`changes`]: what is set otherwise on one of two

mod changes;

pub use changes::{Change, Uncertain, changes, uncertain};
