//! A test of which no more is known than the rate and the RTT of its path: hosts on which nobody set anything.

use std::time::Duration;

use model::expectation::{How, Inputs, KnownValue, Pacing, Writer};
use sim::Kernel;
use units::DataRate;
use units::duration::micros;

use crate::inputs::{ETHERNET, RECEIVER, SENDER, queue};

/// What a transfer of 10 s over such a path is simulated from.
#[must_use]
pub fn untested(rate: DataRate, rtt: Duration) -> Inputs {
    Inputs {
        path_rate: KnownValue::new(rate, How::Given, "as typed"),
        adapter_rate: assumed(rate, "no faster than the path"),
        rtt_us: KnownValue::new(micros(rtt), How::Given, "as typed"),
        queue: queue(rate, rtt),
        loss: None,
        segment_bytes: assumed(ETHERNET, "that of Ethernet"),
        congestion_control: assumed(SENDER.algorithm.name().to_owned(), LINUX),
        streams: assumed(1, "one"),
        initial_window_segments: assumed(SENDER.initial_window, LINUX),
        send_buffer: assumed(SENDER.buffer, LINUX),
        first_receive_buffer: assumed(RECEIVER.buffer_default, LINUX),
        receive_buffer: assumed(RECEIVER.buffer, LINUX),
        window_percent: assumed(Kernel::V6_1.window_percent(), LINUX),
        writer: assumed(Writer::Blocks, "as linerate writes"),
        pacing: assumed(Pacing::Algorithm, "no fq is known of"),
        pace: None,
        application_rate: None,
        time: Duration::from_secs(10),
        bytes: None,
    }
}

fn assumed<T>(value: T, from: &str) -> KnownValue<T> {
    KnownValue::new(value, How::Assumed, from)
}

const LINUX: &str = "what Linux has";
