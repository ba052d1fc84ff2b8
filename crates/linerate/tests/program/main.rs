//! The program as its users meet it: processes over loopback, and what they print, keep and answer.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

mod accounts;
#[path = "../actors/mod.rs"]
#[allow(dead_code, reason = "other tests need other parts of it")]
mod actors;
mod between;
mod checking;
mod detecting;
mod documented;
mod expecting;
mod faults;
mod following;
mod helper;
mod host_audit;
mod host_diff;
mod host_drops;
mod host_fix;
mod host_foreign;
mod host_log;
mod import;
mod interop;
#[cfg(feature = "hub")]
mod mesh_faults;
#[cfg(feature = "hub")]
mod packaging;
mod pasted;
mod planning;
mod plots;
mod probing;
mod replaying;
#[cfg(feature = "hub")]
mod replaying_incidents;
mod round_run;
mod serving_metrics;
mod shaped;
mod simulating;
mod simulating_gateways;
mod sweeping;
mod traced_signs;
mod tracing;
mod tracing_parts;
mod tuning;
mod typing;
mod watching;
mod watching_gateways;
mod watching_without;
mod why_gateways;
