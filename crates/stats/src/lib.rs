//! Robust statistics over measurements: steady state, summaries, rank tests.
//!
//! * [`correlation`]: whether two series rise and fall together
//! * [`steady`]: where the ramp-up of a run ends
//! * [`summary`]: quantiles and spread of a set of values
//! * [`rank`]: whether two sets of values differ, and by how much
//! * [`gain`]: whether a change made something larger by more than noise
//!
//! Pure: numbers in, numbers out. Everything is `f64`; each module says what it does with NaN.

pub mod correlation;
pub mod gain;
mod normal;
pub mod rank;
pub mod steady;
pub mod summary;
