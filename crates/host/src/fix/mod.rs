//! Fixes: steps planned from what rules propose, applied with the old values captured, and taken back exactly.
//!
//! * [`step`]: from an operation of a rule to a step, or to advice; [`tc`]: options as `tc` writes them
//! * [`engine`]: the transaction; [`journal`]: what survives a loss of power
//! * `capture`: the values that a change can touch; `apply`: one change; `restore`: old values written back
//! * `here`: the namespace in which that is done; `hardware`: features and rings of its devices; `module`: modules of the kernel

mod apply;
mod capture;
pub mod engine;
pub mod error;
mod hardware;
mod here;
pub mod journal;
mod module;
mod restore;
pub mod step;
pub mod tc;

pub use engine::Engine;
pub use error::FixError;
pub use journal::Journal;
pub use step::{Planned, StepError, plan};
