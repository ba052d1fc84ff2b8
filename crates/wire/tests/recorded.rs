//! What several versions of iperf3 have sent, recorded from the programs themselves (testdata/wire): the parameters of their
//! clients, and the results of their servers after a client that sent what is written beside them.

#![allow(clippy::unwrap_used)] // A recording that cannot be read fails the test.

use std::collections::BTreeMap;

use model::spec::{Direction, Limit, Protocol, TestSpec};
use serde_json::Value;
use units::{ByteCount, DataRate, Mss};
use wire::extension::Offer;
use wire::params::Params;
use wire::results::Results;

const RECORDINGS: [(&str, &str); 3] = [
    ("3.12", include_str!("../../../testdata/wire/iperf-3.12.json")),
    ("3.18", include_str!("../../../testdata/wire/iperf-3.18.json")),
    ("3.21", include_str!("../../../testdata/wire/iperf-3.21.json")),
];

fn recordings() -> impl Iterator<Item = (&'static str, Value)> {
    RECORDINGS.into_iter().map(|(version, text)| (version, serde_json::from_str(text).unwrap()))
}

fn spec(recording: &Value, test: &str) -> TestSpec {
    let params: Params = serde_json::from_value(recording["clients"][test]["params"].clone()).unwrap();
    params.to_spec().unwrap()
}

#[test]
fn the_parameters_of_every_version_are_understood() {
    for (version, recording) in recordings() {
        let plain = spec(&recording, "tcp");
        assert_eq!((plain.protocol, plain.direction), (Protocol::Tcp, Direction::Forward), "{version}");
        let amount = spec(&recording, "bytes_reverse");
        assert_eq!(amount.limit, Limit::Bytes(ByteCount::new(1_000_000)), "{version}");
        assert_eq!((amount.direction, amount.length), (Direction::Reverse, Some(ByteCount::new(131_072))), "{version}");
        let datagrams = spec(&recording, "udp_reverse");
        assert_eq!((datagrams.protocol, datagrams.streams), (Protocol::Udp, 2), "{version}");
        assert_eq!(datagrams.rate, Some(DataRate::from_bps(1_000_000_000)), "{version}");
        let all = spec(&recording, "everything");
        assert_eq!((all.direction, all.mss), (Direction::Bidirectional, Mss::new(1400).ok()), "{version}");
        assert_eq!((all.pace, all.dscp.map(|dscp| dscp.get())), (Some(DataRate::from_bps(20_000_000)), Some(46)));
        let wide: Params = serde_json::from_value(recording["clients"]["udp_64bit"]["params"].clone()).unwrap();
        assert!(wide.udp_counters_64bit && wide.get_server_output, "{version}");
    }
}

#[test]
fn every_key_that_we_send_has_the_type_in_which_every_version_sends_it() {
    let mut types: BTreeMap<String, std::mem::Discriminant<Value>> = BTreeMap::new();
    for (_, recording) in recordings() {
        for test in recording["clients"].as_object().unwrap().values() {
            let params = test["params"].as_object().unwrap();
            types.extend(params.iter().map(|(key, value)| (key.clone(), std::mem::discriminant(value))));
        }
    }
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        let spec = TestSpec { protocol, ..TestSpec::default() };
        let ours = serde_json::to_value(Params::from_spec(&spec, Offer::new(&spec))).unwrap();
        for (key, value) in ours.as_object().unwrap().iter().filter(|(key, _)| *key != "linerate") {
            assert_eq!(types.get(key), Some(&std::mem::discriminant(value)), "{key}: {value}");
        }
    }
}

#[test]
fn the_results_of_every_version_are_understood() {
    for (version, recording) in recordings() {
        let result = |test: &str| {
            let results: Results = serde_json::from_value(recording["servers"][test]["results"].clone()).unwrap();
            results
        };
        assert_eq!(result("tcp").streams[0].bytes, 1 << 20, "{version}");
        // Ten datagrams, the fourth of which was not sent.
        let told = result("udp_numbers");
        assert_eq!((told.streams[0].packets, told.streams[0].errors), (10, 1), "{version}");
        assert!(told.server_output_text.unwrap().contains("1/10 (10%)"), "{version}");
    }
}

/// Why the types matter and blocks are whole: what the servers say to a client that is careless of either.
#[test]
fn newer_servers_drop_keys_of_another_type_and_count_no_part_of_a_block() {
    let told = |version: &str, test: &str| {
        let (_, recording) = recordings().find(|(found, _)| *found == version).unwrap();
        let stream = &recording["servers"][test]["results"]["streams"][0];
        (stream["bytes"].as_u64().unwrap(), stream["packets"].as_u64().unwrap())
    };
    assert_eq!(told("3.12", "udp_booleans").1, 10);
    assert_eq!((told("3.18", "udp_booleans").1, told("3.21", "udp_booleans").1), (0, 0));
    assert_eq!((told("3.18", "tcp_partial_block").0, told("3.21", "tcp_partial_block").0), (100_000, 0));
}
