//! What runs should have reached, from runs that were made up.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::ops::RangeInclusive;

use model::expectation::{Bound, Expected, How, KnownValue, Prediction, Writer};
use model::run::Run;
use predict::book::Book;
use predict::case::{Case, Unpredictable};
use serde_json::{Value, json};

/// A run of eight seconds over 190 ms with the kernel's default buffers, of a host that nobody tuned.
fn untuned() -> Value {
    let sizes = |first: u64, most: u64| json!({"least": 4096, "first": first, "most": most, "most_asked": 212_992});
    let host = |name: &str| {
        json!({
            "name": name, "software": "linerate 0.1.0",
            "tcp": {"receive_bytes": sizes(131_072, 6 << 20), "send_bytes": sizes(16_384, 4 << 20)},
        })
    };
    let mut peer = host("east");
    peer["target"] = json!("10.0.5.1");
    json!({
        "format": 1, "id": "01M7ZPBXJ04T1XC9X8BXREGHGD", "started_unix_ns": 1_795_286_234_688_893_860_u64,
        "role": "client", "command": [], "declared_line_rate_bps": 500_000_000,
        "spec": {
            "protocol": "tcp", "direction": "forward", "limit": {"time_ms": 8_000}, "streams": 1, "interval_ms": 1_000,
            "sample_every_us": 10_000, "probe_every_us": 10_000, "connect_timeout_ms": 5_000,
        },
        "local": host("west"), "peer": peer, "outcome": {"state": "complete"},
        "measurement": {
            "totals": [{
                "heading": "outbound", "received_bytes": 1_700_000, "elapsed_us": 8_000_000, "goodput_bps": 1_700_000,
                "steady": {"state": "not_reached"},
            }],
            "flows": [{
                "stream": 1, "heading": "outbound", "local_address": "10.0.1.1:40000",
                "peer_address": "10.0.5.1:5201", "mss_bytes": 1_448, "congestion_control": "cubic",
            }],
            "intervals": [], "telemetry": [],
            "latency": {"idle": {"sent": 10, "lost": 0, "min_us": 190_121, "median_us": 190_200}},
        },
    })
}

fn run(value: Value) -> Run {
    serde_json::from_value(value).unwrap()
}

fn prediction(value: Value) -> Prediction {
    let run = run(value);
    let [case] = &Case::all(&run)[..] else { panic!("one direction") };
    Book::default().prediction(case).unwrap()
}

fn why_not(value: Value) -> Unpredictable {
    let run = run(value);
    Book::default().prediction(&Case::all(&run)[0]).unwrap_err()
}

fn mbit(rate: units::DataRate) -> f64 {
    rate.bps() as f64 / 1e6
}

fn assert_within(bounds: RangeInclusive<f64>, found: f64) {
    assert!(bounds.contains(&found), "{found} is outside {bounds:?}");
}

#[test]
fn an_untuned_host_gets_what_its_buffers_allow_and_no_fraction_of_it() {
    let prediction = prediction(untuned());
    // Half of 6 MiB over 190 ms is 132 Mbit/s, of which the start costs some.
    assert_eq!(
        (prediction.limit, prediction.because.as_str()),
        (Bound::ReceiveWindow, "receive window, 6 MiB buffer at RTT 190 ms")
    );
    assert_within(80.0..=132.5, mbit(prediction.goodput));
    assert_within(125.0..=132.5, mbit(prediction.steady));
    assert_within(0.012..=0.022, prediction.attained.unwrap());
}

#[test]
fn the_smaller_of_two_buffers_is_named() {
    let mut small = untuned();
    small["local"]["tcp"]["send_bytes"]["most"] = json!(2 << 20);
    let prediction = prediction(small);
    assert_eq!(
        (prediction.limit, prediction.because.as_str()),
        (Bound::SendBuffer, "send buffer, 2 MiB at RTT 190 ms")
    );
    // The sender that waits in its write fills it with whole frames, whose heads take little: nearly 2 MiB over 190 ms, which
    // are 88 Mbit/s.
    assert_within(78.0..=88.4, mbit(prediction.steady));
}

#[test]
fn a_sender_that_asks_before_it_writes_uses_two_thirds_of_its_buffer() {
    let mut polls = untuned();
    polls["local"]["tcp"]["send_bytes"]["most"] = json!(2 << 20);
    polls["local"]["software"] = json!("iperf 3.12");
    let prediction = prediction(polls);
    assert_eq!(prediction.inputs.writer.value, Writer::Polls);
    assert_within(52.0..=66.0, mbit(prediction.steady));
}

#[test]
fn tuned_hosts_fill_their_path() {
    let mut tuned = untuned();
    for (end, way) in [("local", "send_bytes"), ("peer", "receive_bytes")] {
        tuned[end]["tcp"][way]["most"] = json!(256 << 20);
    }
    tuned["measurement"]["latency"]["idle"]["min_us"] = json!(20_000);
    let prediction = prediction(tuned);
    assert_eq!((prediction.limit, prediction.because.as_str()), (Bound::Path, "the path carries 500 Mbit/s"));
    assert_within(420.0..=480.0, mbit(prediction.goodput));
}

#[test]
fn a_window_that_was_asked_for_is_no_larger_than_the_host_allows() {
    let mut asked = untuned();
    asked["spec"]["window_bytes"] = json!(16 << 20);
    let prediction = prediction(asked);
    let sent = &prediction.inputs.send_buffer;
    assert_eq!((sent.value.get(), sent.how), (2 * 212_992, How::Given));
    assert!(sent.from.contains("the host allows"), "{}", sent.from);
}

#[test]
fn what_a_test_asks_for_is_the_most_it_can_get() {
    let mut asked = untuned();
    asked["spec"]["rate_bps"] = json!(20_000_000);
    let prediction = prediction(asked);
    assert_eq!((prediction.limit, prediction.because.as_str()), (Bound::Asked, "the test asks for 20.0 Mbit/s"));
    assert_within(17.0..=20.1, mbit(prediction.goodput));
}

#[test]
fn many_streams_share_what_few_of_them_stand_for() {
    let streams = |count: u16| {
        let mut many = untuned();
        many["spec"]["streams"] = json!(count);
        many["measurement"]["latency"]["idle"]["min_us"] = json!(20_000);
        mbit(prediction(many).goodput)
    };
    let (few, many) = (streams(8), streams(20));
    assert_within(400.0..=480.0, few);
    assert_within(0.9..=1.1, many / few);
}

#[test]
fn bytes_take_as_long_as_the_start_and_what_follows_need() {
    let mut bytes = untuned();
    bytes["spec"]["limit"] = json!({"bytes": 100_000_000});
    let prediction = prediction(bytes);
    // 100 MB at 132 Mbit/s take 6.1 s, and the start about two more.
    assert_within(80.0..=120.0, mbit(prediction.goodput));
}

#[test]
fn losses_that_were_measured_are_told_apart_from_what_should_be() {
    let run = run(untuned());
    let mut case = Case::all(&run).remove(0);
    case.path.loss = Some(KnownValue::new(0.001, How::Measured, "10 of 10000 datagrams"));
    let prediction = Book::default().prediction(&case).unwrap();
    assert_within(80.0..=132.5, mbit(prediction.goodput));
    // In the mean cubic has 10 Mbit/s at this loss (RFC 9438 §5.2); a start that is lucky for some round trips has more.
    assert_within(1.0..=50.0, mbit(prediction.with_loss.unwrap()));
}

#[test]
fn long_tests_of_fast_paths_are_cut_short_and_say_so() {
    let mut long = untuned();
    long["declared_line_rate_bps"] = json!(100_000_000_000_u64);
    for (end, way) in [("local", "send_bytes"), ("peer", "receive_bytes")] {
        long[end]["tcp"][way]["most"] = json!(256 << 20);
    }
    long["measurement"]["latency"]["idle"]["min_us"] = json!(5_000);
    long["measurement"]["flows"][0]["mss_bytes"] = json!(8_948);
    long["measurement"]["totals"][0]["elapsed_us"] = json!(600_000_000_u64);
    let prediction = prediction(long);
    assert!(prediction.simulated < prediction.inputs.time / 10, "{:?}", prediction.simulated);
    assert_within(70_000.0..=99_500.0, mbit(prediction.goodput));
}

#[test]
fn what_is_not_known_is_assumed_and_said_to_be() {
    let mut bare = untuned();
    for end in ["local", "peer"] {
        bare[end].as_object_mut().unwrap().remove("tcp");
    }
    let inputs = prediction(bare).inputs;
    assert_eq!((inputs.send_buffer.how, inputs.send_buffer.value.get()), (How::Assumed, 4 << 20));
    assert_eq!((inputs.receive_buffer.how, inputs.receive_buffer.value.get()), (How::Assumed, 6 << 20));
    assert_eq!((inputs.rtt_us.how, inputs.path_rate.how), (How::Measured, How::Given));
    let rows = predict::words::rows(&inputs);
    assert!(rows.iter().all(|row| row.iter().all(|cell| !cell.is_empty())), "{rows:?}");
}

#[test]
fn without_a_rate_or_a_model_there_is_a_reason_in_its_place() {
    let mut nowhere = untuned();
    nowhere.as_object_mut().unwrap().remove("declared_line_rate_bps");
    nowhere["local"]["device"] = json!({"name": "lo", "mtu_bytes": 65_536});
    nowhere["peer"]["device"] = json!({"name": "veth0", "driver": "veth", "speed_bps": 10_000_000_000_u64});
    let mut namespaces = nowhere.clone();
    namespaces["peer"]["name"] = json!("west");
    namespaces["peer"]["target"] = json!("192.0.2.9");
    let why = why_not(namespaces).to_string();
    assert!(why.contains("lo of west and veth0 of 192.0.2.9 "), "two network namespaces of one machine: {why}");
    let why = why_not(nowhere).to_string();
    assert!(
        why.contains("lo of west and veth0 of east (veth, whose speed is made up) report no link speed")
            && why.contains("--expect"),
        "{why}"
    );
    let mut strange = untuned();
    strange["measurement"]["flows"][0]["congestion_control"] = json!("vegas");
    assert_eq!(why_not(strange), Unpredictable::Algorithm("vegas".to_owned()));
    let mut deaf = untuned();
    deaf["measurement"].as_object_mut().unwrap().remove("latency");
    assert_eq!(why_not(deaf), Unpredictable::NoRoundTrip);
}

#[test]
fn cards_tell_the_rate_of_a_path_where_nobody_else_does() {
    let mut cards = untuned();
    cards.as_object_mut().unwrap().remove("declared_line_rate_bps");
    cards["local"]["device"] = json!({"name": "eth0", "driver": "mlx5_core", "speed_bps": 100_000_000_000_u64});
    cards["peer"]["device"] = json!({"name": "eth1", "driver": "ixgbe", "speed_bps": 10_000_000_000_u64});
    let inputs = prediction(cards).inputs;
    assert_eq!((inputs.path_rate.value.bps(), inputs.path_rate.from.as_str()), (10_000_000_000, "eth1 of east"));
    assert_eq!((inputs.adapter_rate.value.bps(), inputs.adapter_rate.how), (100_000_000_000, How::Host));
}

#[test]
fn the_same_run_is_expected_the_same_and_survives_its_document() {
    let run = run(untuned());
    let (first, again) = (predict::of_run(&run), predict::of_run(&run));
    assert_eq!(first, again);
    let text = serde_json::to_string(&first).unwrap();
    let read: Vec<model::expectation::Expectation> = serde_json::from_str(&text).unwrap();
    assert!(matches!(&read[0].expected, Expected::Predicted(_)), "{text}");
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}
