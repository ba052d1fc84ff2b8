//! Fixes: steps planned from what rules propose, applied with the old values captured, and taken back exactly.
//!
//! * [`step`]: from an operation of a rule to a step, or to advice; [`tc`]: options as `tc` writes them

pub mod step;
pub mod tc;

pub use step::{Planned, StepError, plan};
