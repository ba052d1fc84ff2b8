//! Test sessions on real sockets: the engine, the iperf3 protocol, telemetry, STAMP.
//!
//! This crate measures and never decides what a number means.
//!
//! * [`session`]: one test, asked for by this host
//! * [`serve`]: the partner of such tests
//! * [`engine`]: the streams' threads and the sampler
//! * [`stamp`]: latency probes, RFC 8762
//! * [`echo`]: ICMP echoes: round trips, hops, path MTU
//! * [`one_way`]: sessions of OWAMP and TWAMP
//! * [`download`], [`http`]: one file over HTTP
//! * `ndt7`: tests of NDT7, M-Lab's (feature `ndt7`)
//! * [`latency`]: from probes to round-trip times
//! * [`metrics`]: numbers for Prometheus
//! * [`tools`]: tests by iperf3 and nuttcp where they are installed
//! * [`telemetry`], [`counting`], [`contention`], [`identity`]: from the kernel's words to ours
//! * [`connect`], [`options`], [`control`], [`stop`]: sockets, their options, deadlines

pub mod connect;
pub mod contention;
pub mod control;
pub mod counting;
pub mod download;
pub mod echo;
pub mod engine;
pub mod http;
pub mod identity;
pub mod latency;
pub mod metrics;
#[cfg(feature = "ndt7")]
pub mod ndt7;
pub mod one_way;
pub mod options;
pub mod serve;
pub mod session;
pub mod stamp;
pub mod stop;
pub mod telemetry;
pub mod tools;

/// The port of iperf3, and so ours, for control, data and latency probes.
pub const DEFAULT_PORT: u16 = 5201;
