//! How results look: to people, to programs, to monitoring systems.
//!
//! Data goes to standard output, talk to standard error. Colour is never used to carry a meaning.

pub mod beside;
pub mod check;
pub mod compare;
pub mod demo;
pub mod detect;
pub mod error;
pub mod examine;
pub mod expectation;
pub mod explain;
pub mod gateways;
mod gateways_answers;
pub mod gateways_lab;
pub mod gateways_status;
pub mod grid;
pub mod hops;
pub mod host;
#[cfg(feature = "hub")]
pub mod hub;
#[cfg(feature = "hub")]
pub mod hub_demo;
pub mod import;
pub mod intervals;
pub mod json;
pub mod lab;
pub mod list;
pub mod live;
pub mod nagios;
mod next_test;
#[cfg(feature = "hub")]
pub mod people;
pub mod plan;
pub mod played;
pub mod plural;
pub mod probe;
pub mod probe_sessions;
pub mod progress;
pub mod proof;
mod repeat;
#[cfg(feature = "hub")]
pub mod replay;
pub mod round;
pub mod run;
pub mod score;
pub mod serve;
pub mod shared;
pub mod simulate;
pub mod sparkline;
pub mod statements;
pub mod sweep;
mod table;
#[cfg(feature = "hub")]
pub mod top;
pub mod trace;
pub mod trace_join;
pub mod trace_live;
pub mod tune;
pub mod watch;
pub mod when;
pub mod why;
pub mod why_gateways;
pub mod wrap;
