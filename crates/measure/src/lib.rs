//! Test sessions on real sockets: the engine, the iperf3 protocol, telemetry, STAMP.
//!
//! This crate measures and never decides what a number means.
//!
//! * [`wire`]: the control protocol, as pure state machines

pub mod wire;
