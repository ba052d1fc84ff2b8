//! Test sessions on real sockets: the engine, the iperf3 protocol, telemetry, STAMP.
//!
//! This crate measures and never decides what a number means.
//!
//! * [`session`]: one test, asked for by this host
//! * [`serve`]: the partner of such tests
//! * [`engine`]: the streams' threads and the sampler
//! * [`wire`]: the control protocol, as pure state machines
//! * [`stamp`]: latency probes, RFC 8762
//! * [`echo`]: ICMP echoes: round trips, hops, path MTU
//! * [`download`], [`http`]: one file over HTTP
//! * [`report`]: from what both sides counted to one measurement
//! * [`foreign`]: what other tools have printed, read into our nouns
//! * [`tools`]: tests by iperf3 and nuttcp where they are installed
//! * [`telemetry`], [`counting`], [`identity`]: from the kernel's words to ours
//! * [`connect`], [`options`], [`control`], [`clock`], [`stop`]: sockets, their options, deadlines, two clocks on one

pub mod clock;
pub mod connect;
pub mod control;
pub mod counting;
pub mod download;
pub mod echo;
pub mod engine;
pub mod foreign;
pub mod http;
pub mod identity;
pub mod options;
pub mod report;
pub mod serve;
pub mod session;
pub mod stamp;
pub mod stop;
pub mod telemetry;
pub mod tools;
pub mod wire;

/// The port of iperf3, and so ours, for control, data and latency probes.
pub const DEFAULT_PORT: u16 = 5201;
