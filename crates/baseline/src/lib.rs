//! What is normal for a path, and what is a change: series of measurements, alone and pooled over a mesh.
//!
//! * [`analysis`]: all that a whole series says
//! * [`screen`]: the rank statistic at every result
//! * [`edpelt`], [`place`]: where a change lies
//! * [`modes`], [`cycle`]: two levels and times of day, which are no changes
//! * [`watch`]: one series as its results come in, with a baseline that is frozen while a change is open
//! * [`expectation`]: what a series should have, whatever it usually has
//! * [`pool`]: which host, direction, site or segment moves many series at once
//! * [`ranked`]: a result against the history of its series
//! * [`recent`]: the same in a small mesh, by several results of each series
//! * [`monitor`]: a mesh as its rounds come in, and its incidents
//! * [`csv`]: series from files
//! * [`rules`]: WLCG's and SLAC's rules, for comparison
//! * [`families`], [`mesh`], [`score`]: generated series with a known change, and how well a detector does on them
//!
//! Pure: samples in, findings out. Time and random seeds are arguments.

// Counts of samples are far below 2^52, and statistics are no more exact than their input.
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

pub mod analysis;
pub mod csv;
pub mod cycle;
mod drift;
pub mod edpelt;
pub mod expectation;
pub mod families;
pub mod mesh;
pub mod modes;
pub mod monitor;
pub mod place;
pub mod pool;
pub mod ranked;
pub mod recent;
pub mod rules;
pub mod score;
pub mod screen;
pub mod series;
mod short;
pub mod watch;
