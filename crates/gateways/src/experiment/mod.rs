//! Experiments: policies over clusters that differ, each run with many seeds.
//!
//! * [`description`]: an experiment as it is written in a file; [`cell`]: its combinations
//! * [`row`]: the numbers of one run; [`table`]: all of them as a Parquet file, and back, and from several shares one
//! * [`summary`]: what the rows of one combination say, with intervals; [`answers`]: what all of them answer
//! * [`report`]: all of that as a document

pub mod answers;
pub mod cell;
pub mod description;
pub mod report;
pub mod row;
pub mod summary;
pub mod table;
