//! Robust statistics over measurements: steady state, summaries, rank tests.
//!
//! * [`association`]: whether two properties go together
//! * [`correlation`]: whether two series rise and fall together
//! * [`steady`]: where the ramp-up of a run ends
//! * [`summary`]: quantiles and spread of a set of values
//! * [`rank`]: whether two sets of values differ, and by how much
//! * [`level`]: where a series changes its level
//! * [`proportion`]: how often something happens, and whether a change makes it rarer
//! * [`gain`]: whether a change made something larger by more than noise
//! * [`normal`]: tails and quantiles of the normal distribution
//!
//! Pure: numbers in, numbers out. Everything is `f64`; each module says what it does with NaN.

pub mod association;
pub mod correlation;
pub mod gain;
pub mod level;
pub mod normal;
pub mod proportion;
pub mod rank;
pub mod steady;
pub mod summary;
