//! What holds a transfer, and sizes, for people.

use std::time::Duration;

use model::expectation::{Bound, Inputs, KnownValue, Pacing, Writer};
use units::duration::show;
use units::{ByteCount, DataRate, Percent};

/// What holds a transfer, with its size.
#[must_use]
pub fn because(bound: Bound, inputs: &Inputs) -> String {
    let rtt = show(Duration::from_micros(inputs.rtt_us.value));
    match bound {
        Bound::Path => format!("the path carries {}", inputs.path_rate.value),
        Bound::SendBuffer => format!("send buffer, {} at RTT {rtt}", binary(inputs.send_buffer.value)),
        // A part of the buffer pays for the overhead of packets: "6 MiB over 100 ms" would be read as a window of 6 MiB.
        Bound::ReceiveWindow => format!("receive window, {} buffer at RTT {rtt}", binary(inputs.receive_buffer.value)),
        Bound::Asked => match inputs.pace.as_ref().or(inputs.application_rate.as_ref()) {
            Some(rate) => {
                format!("the test asks for {}{}", rate.value, if inputs.streams.value > 1 { " a stream" } else { "" })
            }
            None => "the test asks for no more".to_owned(),
        },
        Bound::Start => format!("the start, {} over {rtt}", show(inputs.time)),
        Bound::CongestionWindow => format!("{} after its own losses, over {rtt}", inputs.congestion_control.value),
        Bound::Loss => {
            let loss = inputs.loss.as_ref().map_or(0.0, |loss| loss.value * 100.0);
            format!("{} with {loss:.3} % lost, over {rtt}", inputs.congestion_control.value)
        }
    }
}

/// A size of memory: hosts set these in powers of two.
#[must_use]
pub fn binary(bytes: ByteCount) -> String {
    for (unit, name) in [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
        if bytes.get() >= unit && bytes.get().is_multiple_of(unit) {
            return format!("{} {name}", bytes.get() / unit);
        }
    }
    bytes.to_string()
}

/// Each thing that a prediction is reckoned from: what it is, its value, how it is known and from where.
#[must_use]
pub fn rows(inputs: &Inputs) -> Vec<[String; 4]> {
    let mut rows = vec![
        row("path", &inputs.path_rate, DataRate::to_string),
        row("NIC", &inputs.adapter_rate, DataRate::to_string),
        row("RTT", &inputs.rtt_us, |micros| show(Duration::from_micros(*micros))),
        row("queue", &inputs.queue, ByteCount::to_string),
        row("segment", &inputs.segment_bytes, |bytes| format!("{bytes} B")),
        row("congestion control", &inputs.congestion_control, String::clone),
        row("streams", &inputs.streams, u16::to_string),
        row("initial window", &inputs.initial_window_segments, |segments| format!("{segments} segments")),
        row("send buffer", &inputs.send_buffer, |bytes| binary(*bytes)),
        row("receive buffer", &inputs.receive_buffer, |bytes| binary(*bytes)),
        row("  at first", &inputs.first_receive_buffer, |bytes| binary(*bytes)),
        row("  of it window", &inputs.window_percent, Percent::to_string),
        row("writer", &inputs.writer, |writer| match writer {
            Writer::Polls => "polls".to_owned(),
            Writer::Blocks => "blocks".to_owned(),
        }),
        row("pacing", &inputs.pacing, |pacing| match pacing {
            Pacing::Algorithm => "by the algorithm".to_owned(),
            Pacing::Fq => "fq".to_owned(),
        }),
    ];
    rows.extend(inputs.loss.iter().map(|loss| row("loss", loss, |part| format!("{:.4} %", part * 100.0))));
    rows.extend(inputs.pace.iter().map(|rate| row("paced at", rate, DataRate::to_string)));
    rows.extend(inputs.application_rate.iter().map(|rate| row("asked for", rate, DataRate::to_string)));
    rows
}

fn row<T>(name: &str, known: &KnownValue<T>, text: impl Fn(&T) -> String) -> [String; 4] {
    [name.to_owned(), text(&known.value), known.how.name().to_owned(), known.from.clone()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_named_as_hosts_set_them() {
        assert_eq!(binary(ByteCount::new(6 << 20)), "6 MiB");
        assert_eq!(binary(ByteCount::new(131_072)), "128 KiB");
        assert_eq!(binary(ByteCount::new(6_291_457)), "6.29 MB");
    }
}
