//! Experiments: policies over clusters that differ, each run with many seeds.
//!
//! * [`description`]: an experiment as it is written in a file; [`cell`]: its combinations
//! * [`row`]: the numbers of one run; [`table`]: all of them as a Parquet file, and back, and from several shares one
//! * [`report`]: what the rows say, with intervals

pub mod cell;
pub mod description;
pub mod report;
pub mod row;
pub mod table;
