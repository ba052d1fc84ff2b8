//! From a test of a plan to a test of a template.

use model::spec::{Direction, Family, Limit, Protocol, SendMethod, TestSpec};
use serde_json::{Map, Value, json};

use super::remark::Remarks;
use super::values::written;
use crate::plan::Test;
use crate::task::{Ping, Task};

/// The test; [`None`] with a remark where perfSONAR runs no such test.
pub(super) fn test(test: &Test, place: &str, remarks: &mut Remarks) -> Option<Value> {
    let mut spec = Map::new();
    spec.insert("source".to_owned(), json!("{% address[0] %}"));
    spec.insert("dest".to_owned(), json!("{% address[1] %}"));
    if let Some(family) = test.family {
        spec.insert("ip-version".to_owned(), json!(if family == Family::Ipv4 { 4 } else { 6 }));
    }
    let kind = match &test.task {
        Task::Tcp(flow) | Task::Udp(flow) => {
            throughput(&flow.spec, &mut spec, place, remarks);
            "throughput"
        }
        Task::Ping(Ping { count, interval, size }) => {
            spec.insert("count".to_owned(), json!(count));
            spec.insert("interval".to_owned(), json!(written(*interval)));
            spec.insert("length".to_owned(), json!(size.get()));
            "rtt"
        }
        Task::Mtu => "mtu",
        Task::Hops => "trace",
        Task::Http(_) => {
            remarks.add(place, "downloads between the hosts of a group have no counterpart in a template");
            return None;
        }
    };
    Some(json!({ "type": kind, "spec": spec }))
}

fn throughput(test: &TestSpec, spec: &mut Map<String, Value>, place: &str, remarks: &mut Remarks) {
    let usual = TestSpec::default();
    let mut put = |key: &str, value: Value| drop(spec.insert(key.to_owned(), value));
    match test.limit {
        Limit::Time(time) => put("duration", json!(written(time))),
        Limit::Bytes(_) | Limit::Blocks(_) => {
            remarks.add(place, "a test that ends with an amount becomes one of ten seconds");
            put("duration", json!("PT10S"));
        }
    }
    if test.protocol == Protocol::Udp {
        put("udp", json!(true));
        if test.rate.is_none() {
            remarks.add(place, "datagrams as fast as they go become datagrams at the tool's usual rate");
        }
    }
    if !test.omit.is_zero() {
        put("omit", json!(written(test.omit)));
    }
    if test.streams != usual.streams {
        put("parallel", json!(test.streams));
    }
    if test.interval != usual.interval {
        put("interval", json!(written(test.interval)));
    }
    let options = [
        ("bandwidth", test.rate.map(|rate| json!(rate.bps()))),
        ("congestion", test.congestion_control.as_ref().map(|name| json!(name))),
        ("mss", test.mss.map(|mss| json!(mss.get()))),
        ("window-size", test.window.map(|window| json!(window.get()))),
        ("ip-tos", test.dscp.map(|dscp| json!(u32::from(dscp.get()) << 2))),
        ("buffer-length", test.length.map(|length| json!(length.get()))),
    ];
    for (key, value) in options {
        if let Some(value) = value {
            put(key, value);
        }
    }
    match test.direction {
        Direction::Forward => {}
        Direction::Reverse => put("reverse", json!(true)),
        Direction::Bidirectional => remarks.add(place, "both directions at once become one after the other"),
    }
    match test.send {
        SendMethod::Auto | SendMethod::Write => {}
        SendMethod::Sendfile | SendMethod::Splice | SendMethod::Zerocopy => put("zero-copy", json!(true)),
    }
    if test.pace.is_some() {
        remarks.add(place, "pacing by the kernel has no counterpart in a template");
    }
}
