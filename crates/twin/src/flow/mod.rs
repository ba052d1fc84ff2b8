//! Tests over TCP and UDP.
//!
//! * `settings`: from how hosts are set to what the simulator takes
//! * `tcp`: streams of one direction, simulated, with their samples
//! * `udp`: datagrams of one direction
//! * `columns`: samples of a stream, as they are collected
//! * `latency`: probes before and beside the streams
//! * `packet_times`: what large packets need more than small ones
//! * `account`: what flows leave in everybody's counters
//! * `sums`: totals, intervals and the steady part
//! * `run`: the whole of a test

mod account;
mod columns;
mod latency;
mod packet_times;
pub(crate) mod run;
mod settings;
mod sums;
mod tcp;
mod udp;

use std::time::Duration;

use model::measurement::{Flow, Heading};
use model::series::StreamSamples;
use model::spec::TestSpec;
use sim::ProbeTimes;
use units::ByteCount;

/// One direction of a test: how it is set, and which way its payload goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneWay<'a> {
    pub(crate) spec: &'a TestSpec,
    pub(crate) heading: Heading,
}

/// What came of one direction of a test.
pub(crate) struct Direction {
    pub(crate) heading: Heading,
    pub(crate) flows: Vec<Flow>,
    pub(crate) samples: Vec<StreamSamples>,
    /// Payload that had come to the receiving program by each instant, over all streams.
    pub(crate) received: Vec<(Duration, ByteCount)>,
    pub(crate) elapsed: Duration,
    /// Probes beside the streams, from where the data comes: when each was sent, and how long it took; [`None`] where it was lost.
    pub(crate) probes: Vec<(Duration, Option<ProbeTimes>)>,
    /// Part of a CPU that the sending and the receiving program used.
    pub(crate) cpu: [f64; 2],
}
