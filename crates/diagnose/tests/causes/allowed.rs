//! What flows attained of what their settings allow, where nobody saw what they waited for.

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{Weighing, diagnose, weigh};
use model::host::{BufferSizes, TcpBuffers};
use model::measurement::{Latency, RttSummary};
use model::played::Finding;
use model::round::{Round, Tested};
use units::{ByteCount, PacketCount};

use crate::world::{Tcp, round, tcp};

/// 4 MiB of send buffer and 64 MiB of receive buffer, of which a flow over 190 ms has about 150 Mbit/s.
const UNTUNED: (u64, u64) = (4 << 20, 64 << 20);
const TUNED: (u64, u64) = (256 << 20, 256 << 20);

/// A test over 190 ms without samples, between hosts with a send and a receive buffer.
fn unseen(mbps: u64, (send, receive): (u64, u64)) -> Tested {
    let mut tested = tcp("a", "c", 0, Tcp { mbps, ..Tcp::GOOD });
    tested.samples = None;
    let Finding::Run(run) = &mut tested.finding else { return tested };
    let sizes = |most: u64| BufferSizes {
        least: ByteCount::new(4_096),
        first: ByteCount::new(131_072),
        most: ByteCount::new(most),
        most_asked: Some(ByteCount::new(most)),
    };
    let buffers = TcpBuffers { receive: sizes(receive), send: sizes(send) };
    (run.local.tcp, run.peer.host.tcp) = (Some(buffers), Some(buffers));
    if let Some(measurement) = &mut run.measurement {
        let idle = RttSummary {
            sent: PacketCount::new(5),
            min_us: Some(190_000),
            median_us: Some(190_100),
            ..RttSummary::default()
        };
        measurement.latency = Some(Latency { idle: Some(idle), ..Latency::default() });
        let flow = serde_json::json!({
            "stream": 1, "heading": "outbound", "local_address": "192.0.2.1:40000",
            "peer_address": "192.0.2.2:5201", "mss_bytes": 1_448, "congestion_control": "cubic",
        });
        measurement.flows = vec![serde_json::from_value(flow).unwrap()];
    }
    tested
}

fn state(weighing: &Weighing<'_>) -> Option<&'static str> {
    weighing.flows[0].state("allowed")
}

fn weighed(round: &Round) -> Weighing<'static> {
    weigh(round, Catalogue::built_in(), &Rules::built_in())
}

#[test]
fn a_flow_that_has_what_its_send_buffer_allows_is_held_by_it() {
    let round = round(vec![unseen(130, UNTUNED)]);
    assert_eq!(state(&weighed(&round)), Some("send-buffer"));
    let diagnosis = diagnose(&round, Catalogue::built_in(), &Rules::built_in());
    // The buffer is the kernel's own.
    let first = &diagnosis.problems[0].ranking[0];
    assert!(["send-buffer-small", "host-untuned"].contains(&&*first.cause), "{:#?}", diagnosis.problems[0]);
}

#[test]
fn a_flow_that_has_far_less_is_not() {
    // What an untuned host gets over 190 ms is 150 Mbit/s; 1.7 is something else.
    let far_less = weighed(&round(vec![unseen(2, UNTUNED)]));
    assert_eq!(state(&far_less), Some("far-less"));
    let probability = |weighing: &Weighing<'_>| -> f64 {
        let of =
            weighing.standings[0].hypotheses.iter().filter(|hypothesis| hypothesis.cause.id == "send-buffer-small");
        of.map(|hypothesis| hypothesis.probability).sum()
    };
    let all_of_it = weighed(&round(vec![unseen(130, UNTUNED)]));
    assert!(probability(&all_of_it) > 4.0 * probability(&far_less), "{}", probability(&far_less));
    assert_eq!(state(&weighed(&round(vec![unseen(130, TUNED)]))), Some("far-less"), "no buffer holds it");
}

#[test]
fn what_was_seen_is_not_told_twice() {
    let mut seen = unseen(130, UNTUNED);
    seen.samples = tcp("a", "c", 0, Tcp { mbps: 130, window_limited: 0.97, ..Tcp::GOOD }).samples;
    let weighing = weighed(&round(vec![seen]));
    assert!(weighing.flows[0].state("limit").is_some() && state(&weighing).is_none());
}
