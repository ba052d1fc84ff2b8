//! How results look: to people, to programs, to monitoring systems.
//!
//! Data goes to standard output, talk to standard error. Colour is never used to carry a meaning.

pub mod compare;
pub mod demo;
pub mod error;
pub mod examine;
pub mod expectation;
pub mod explain;
pub mod grid;
pub mod hops;
pub mod host;
pub mod import;
pub mod intervals;
pub mod json;
pub mod lab;
pub mod list;
pub mod live;
pub mod nagios;
pub mod played;
pub mod plot;
pub mod probe;
pub mod progress;
pub mod proof;
pub mod round;
pub mod run;
pub mod score;
pub mod serve;
pub mod shared;
pub mod simulate;
pub mod sparkline;
pub mod sweep;
mod table;
pub mod tune;
pub mod when;
pub mod why;
mod wrap;
