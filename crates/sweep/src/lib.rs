//! Experiments of many simulated transfers.
//!
//! * [`parameter`] and [`value`]: what can be set of a transfer, and how it is written
//! * [`experiment`]: combinations of them, each repeated; [`description`]: one as it is written in a file; [`axis`]: lists and ranges in it
//! * [`case`]: one transfer of it, over its [`bottleneck`] link, and [`row`] what came of that; [`share`]: which transfers one machine of several does
//! * [`table`]: all rows as a Parquet file, and back; [`merge`]: one table from those of several machines
//! * [`selection`], [`summary`], [`expectation`], [`figure`] and [`report`]: what the rows say together
//!
//! Nothing here owns a thread or a file: whoever runs an experiment takes [`case::Case`]s and hands back [`row::Row`]s.

pub mod axis;
pub mod bottleneck;
pub mod case;
pub mod description;
pub mod expectation;
pub mod experiment;
pub mod figure;
pub mod merge;
pub mod parameter;
pub mod report;
pub mod row;
pub mod selection;
pub mod share;
pub mod summary;
pub mod table;
pub mod value;

pub use case::Case;
pub use description::{Sweep, SweepError};
pub use experiment::Experiment;
pub use report::Report;
pub use row::{BuffersAsked, Measure, Row};
pub use share::Share;
