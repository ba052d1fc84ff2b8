//! The shared nouns of linerate and their JSON schema.
//!
//! * [`spec`]: what a test should do
//! * [`run`]: one execution of a test, with its outcome
//! * [`archived`]: what programs are told of stored runs
//! * [`measurement`]: what a run found: flows, intervals, steady state, latency
//! * [`series`]: samples over time, column by column, and their packed form
//! * [`counters`]: what a host counted before and after
//! * [`host`]: who measured, and all facts of a host at one moment
//! * [`played`]: a scenario of the lab, played: what was found, and the truth
//! * [`round`]: a whole plan, run once
//! * [`quality`]: what disturbed a measurement that is no part of the path
//! * [`expectation`]: what a test should have reached, and from what that was reckoned
//! * [`target`]: the rate that a flow is judged against, and how that is known
//! * [`bursts`]: what passed a device in buckets of a millisecond or less
//! * [`int`]: in-band network telemetry of switches
//! * [`transfer`]: transfers of real applications, watched without test traffic
//! * [`transfer_rates`]: what those reached with each peer over some minutes
//! * [`probe`]: small measurements of one path: echoes, hops, path MTU, one download
//! * [`value`]: the same types from JSON that is parsed already
//!
//! Every stored or exported object is one of these types, so a run can be written out, read back on another machine
//! and diagnosed there. Names of fields carry their unit (`rtt_us`, `goodput_bps`).

pub mod archived;
pub mod bursts;
pub mod counters;
pub mod expectation;
mod heading;
pub mod host;
pub mod int;
mod json;
pub mod measurement;
pub mod plausible;
pub mod played;
pub mod probe;
pub mod quality;
pub mod round;
pub mod run;
#[cfg(feature = "schema")]
pub mod schema;
pub mod series;
pub mod spec;
pub mod target;
pub mod transfer;
pub mod transfer_rates;
pub mod value;
