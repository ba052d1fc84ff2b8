//! `linerate test` against iperf3 servers.

use model::measurement::Heading;
use model::run::{Role, Run};
use model::spec::Limit;
use units::ByteCount;

use super::{about, agree};
use crate::actors::iperf3::{self, Report};
use crate::actors::linerate::{measured, test, test_host, total};

/// Runs `linerate test` against an iperf3 of its own, and returns what each reported. What must always agree does.
fn tested(args: &[&str]) -> (Run, Report) {
    let server = iperf3::Server::start();
    let tested = test(server.port, args);
    let report = server.report();
    assert_eq!(tested.code, Some(0), "{}", tested.stderr);
    assert_eq!(tested.run.role, Role::Client);
    agree(&report, &tested.run);
    (tested.run, report)
}

#[test]
fn tcp_reports_in_both_formats_have_the_same_conditions() {
    let (run, report) = tested(&["--time", "1s"]);
    assert_eq!(report.text("/start/test_start/protocol"), "TCP");
    assert_eq!(report.count("/start/test_start/duration"), 1);
    assert_eq!(run.peer.host.software.as_deref(), Some("iperf3"));
    let connected = &report.list("/start/connected")[0];
    let flow = &measured(&run).flows[0];
    assert!(flow.local_address.ends_with(&format!(":{}", connected["remote_port"])), "{flow:?}, {connected}");
}

#[test]
fn parallel_streams_are_counted_each() {
    let (run, report) = tested(&["--time", "1s", "-P", "3"]);
    assert_eq!(report.count("/start/test_start/num_streams"), 3);
    assert!(measured(&run).flows.iter().all(|flow| flow.received > Some(ByteCount::ZERO)));
}

#[test]
fn reverse_data_comes_from_the_server() {
    let (run, report) = tested(&["--time", "1s", "-R"]);
    assert_eq!(report.count("/start/test_start/reverse"), 1);
    assert_eq!(measured(&run).flows[0].heading, Heading::Inbound);
}

#[test]
fn both_ways_at_once_are_counted_apart() {
    let (run, _) = tested(&["--time", "1s", "--bidir"]);
    assert_eq!(measured(&run).totals.len(), 2);
}

#[test]
fn parallel_streams_both_ways_go_by_the_order_in_which_they_came() {
    let (run, _) = tested(&["--time", "1s", "-P", "2", "--bidir"]);
    let headings: Vec<Heading> = measured(&run).flows.iter().map(|flow| flow.heading).collect();
    assert_eq!(headings, [Heading::Outbound, Heading::Outbound, Heading::Inbound, Heading::Inbound]);
}

#[test]
fn an_amount_of_bytes_is_sent_exactly() {
    let (run, report) = tested(&["--bytes", "4MiB"]);
    assert_eq!(report.count("/start/test_start/bytes"), 4 << 20);
    assert_eq!(total(&run, Heading::Outbound).sent, Some(ByteCount::new(4 << 20)));
}

#[test]
fn an_amount_of_bytes_comes_back_whole() {
    let (run, _) = tested(&["--bytes", "4MiB", "-R"]);
    assert_eq!(total(&run, Heading::Inbound).received, Some(ByteCount::new(4 << 20)));
}

#[test]
fn a_number_of_blocks_is_sent_exactly() {
    let (run, report) = tested(&["--blocks", "20", "--length", "10KiB"]);
    assert_eq!(run.spec.limit, Limit::Blocks(20));
    assert_eq!(report.count("/start/test_start/blocks"), 20);
    assert_eq!(total(&run, Heading::Outbound).sent, Some(ByteCount::new(20 * 10_240)));
}

#[test]
fn a_rate_is_kept_by_the_client_and_by_the_server() {
    for way in [&["--time", "1s"][..], &["--time", "1s", "-R"]] {
        let (run, report) = tested(&[way, &["--rate", "40Mbit/s"]].concat());
        assert_eq!(report.count("/start/target_bitrate"), 40_000_000);
        let heading = measured(&run).totals[0].heading;
        about(total(&run, heading).received.unwrap().get(), 5_000_000);
    }
}

#[test]
fn the_start_is_left_out_on_both_sides() {
    let (run, _) = tested(&["--time", "1s", "--omit", "1s", "--rate", "40Mbit/s"]);
    let total = total(&run, Heading::Outbound);
    about(total.sent.unwrap().get(), 5_000_000);
    about(total.received.unwrap().get(), 5_000_000);
}

#[test]
fn the_segment_size_is_the_one_asked_for() {
    let (run, _) = tested(&["--bytes", "1MiB", "--mss", "1400B"]);
    // Time stamps take 12 bytes of each segment (RFC 7323).
    assert_eq!(measured(&run).flows[0].mss, Some(1_388));
}

#[test]
fn the_window_is_the_one_asked_for() {
    let (_, report) = tested(&["--bytes", "1MiB", "--window", "64KiB"]);
    assert_eq!(report.count("/start/sock_bufsize"), 64 << 10);
}

#[test]
fn the_congestion_control_is_the_one_asked_for() {
    let (run, report) = tested(&["--bytes", "1MiB", "--cca", "reno"]);
    assert_eq!(measured(&run).flows[0].congestion_control.as_deref(), Some("reno"));
    assert_eq!(report.text("/end/receiver_tcp_congestion"), "reno");
}

#[test]
fn slow_datagrams_are_all_received() {
    let (run, report) = tested(&["-u", "--rate", "4Mbit/s", "--time", "1s"]);
    assert_eq!(report.text("/start/test_start/protocol"), "UDP");
    let datagrams = total(&run, Heading::Outbound).datagrams.unwrap();
    assert_eq!(report.count("/end/sum/lost_packets"), 0);
    assert_eq!(datagrams.received.get(), report.count("/end/sum/packets"));
    about(report.count("/end/sum_received/bytes"), 500_000);
}

#[test]
fn slow_datagrams_to_the_client_are_all_received() {
    let (run, _) = tested(&["-u", "--rate", "4Mbit/s", "--time", "1s", "-R"]);
    let datagrams = total(&run, Heading::Inbound).datagrams.unwrap();
    assert_eq!(datagrams.lost, datagrams.lost_at_tail, "{datagrams:?}");
    about(total(&run, Heading::Inbound).received.unwrap().get(), 500_000);
}

#[test]
fn datagrams_both_ways_are_counted_apart() {
    let (run, _) = tested(&["-u", "--rate", "4Mbit/s", "--time", "1s", "--bidir"]);
    for total in &measured(&run).totals {
        let datagrams = total.datagrams.unwrap();
        assert_eq!(datagrams.lost, datagrams.lost_at_tail, "{total:?}");
        about(total.received.unwrap().get(), 500_000);
    }
}

#[test]
fn datagrams_of_several_streams_are_matched_to_their_streams() {
    let (run, report) = tested(&["-u", "--rate", "2Mbit/s", "--time", "1s", "-P", "3"]);
    for (flow, stream) in measured(&run).flows.iter().zip(report.list("/end/streams")) {
        let received = stream["udp"]["packets"].as_u64();
        assert_eq!(received, flow.datagrams.map(|counts| counts.received.get()), "stream {}", flow.stream);
    }
}

#[test]
fn intervals_are_as_short_as_asked_for() {
    let (run, _) = tested(&["--time", "1s", "--interval", "200ms", "--rate", "40Mbit/s"]);
    about(measured(&run).intervals.len() as u64, 5);
}

#[test]
fn both_families_are_reached() {
    for (host, option) in [("127.0.0.1", "-4"), ("::1", "-6")] {
        for protocol in [&["--bytes", "64KiB"][..], &["-u", "--rate", "4Mbit/s", "--bytes", "64KiB"]] {
            let server = iperf3::Server::start();
            let tested = test_host(host, server.port, &[protocol, &[option]].concat());
            agree(&server.report(), &tested.run);
            assert!(tested.run.peer.address.unwrap().contains(host), "{host}");
        }
    }
}

#[test]
fn what_the_server_printed_is_kept() {
    let (run, _) = tested(&["--bytes", "1MiB"]);
    let output = measured(&run).peer_output.clone().unwrap();
    let output: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert!(output["start"]["version"].as_str().unwrap().starts_with("iperf 3"), "{output:#}");
}

#[test]
fn every_way_of_sending_arrives() {
    for method in ["write", "sendfile", "splice", "zerocopy"] {
        let (run, _) = tested(&["--bytes", "4MiB", "--send", method]);
        let flow = &measured(&run).flows[0];
        let used = serde_json::to_value(flow.sent_by).unwrap();
        assert_eq!((used.as_str(), flow.sent), (Some(method), Some(ByteCount::new(4 << 20))));
    }
}

#[test]
fn an_amount_that_is_no_multiple_of_a_block_arrives_whole() {
    // A newer receiver counts whole blocks only; an older one counts every byte.
    for (amount, bytes) in [("100000B", 100_000), ("1000000B", 8 * 131_072)] {
        let (run, _) = tested(&["--bytes", amount]);
        let total = total(&run, Heading::Outbound);
        assert_eq!(
            (total.sent, total.received),
            (Some(ByteCount::new(bytes)), Some(ByteCount::new(bytes))),
            "{amount}"
        );
    }
}

#[test]
fn datagrams_of_an_amount_are_all_sent_counted_and_not_lost() {
    let (run, report) = tested(&["-u", "--rate", "8Mbit/s", "--bytes", "100000B", "--length", "1000B"]);
    let datagrams = total(&run, Heading::Outbound).datagrams.unwrap();
    assert_eq!((datagrams.sent.get(), datagrams.received.get(), datagrams.lost.get()), (100, 100, 0));
    assert_eq!(report.count("/end/sum/packets"), 100);
}

#[test]
fn what_the_server_printed_is_shown_where_it_is_asked_for() {
    let server = iperf3::Server::start();
    let port = server.port.to_string();
    let args = ["test", "127.0.0.1", "--port", &port, "--time", "1s", "--no-archive", "--get-server-output"];
    let ended = crate::actors::linerate::linerate(&args);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("\nwhat the peer saw\n"), "{}", ended.stdout);
}
