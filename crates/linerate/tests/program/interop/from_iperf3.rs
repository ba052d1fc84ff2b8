//! iperf3 clients against `linerate serve`.

use model::measurement::Heading;
use model::run::{Role, Run};
use model::spec::{Direction, Limit, Protocol};
use units::ByteCount;

use super::{about, agree};
use crate::actors::iperf3::{self, Report};
use crate::actors::linerate::{Server, measured, total};

/// Runs an iperf3 client against a server of its own, and returns what each reported. What must always agree does.
fn tested(args: &[&str]) -> (Report, Run) {
    let server = Server::start(&[]);
    let report = iperf3::test(server.port, args);
    let run = server.run();
    assert_eq!(run.role, Role::Server);
    agree(&report, &run);
    (report, run)
}

#[test]
fn tcp_reports_in_both_formats_have_the_same_conditions() {
    let (report, run) = tested(&["-t", "1"]);
    assert_eq!((run.spec.protocol, run.spec.direction), (Protocol::Tcp, Direction::Forward));
    assert_eq!(run.spec.limit, Limit::Time(std::time::Duration::from_secs(1)));
    assert_eq!(run.peer.host.software.as_deref(), Some(&*format!("iperf {}", version(&report))));
    let connected = &report.list("/start/connected")[0];
    let flow = &measured(&run).flows[0];
    assert!(flow.peer_address.ends_with(&format!(":{}", connected["local_port"])), "{flow:?}, {connected}");
}

/// `3.12` of `iperf 3.12`.
fn version(report: &Report) -> &str {
    report.text("/start/version").trim_start_matches("iperf ")
}

#[test]
fn parallel_streams_are_counted_each() {
    let (_, run) = tested(&["-t", "1", "-P", "3"]);
    assert!(measured(&run).flows.iter().all(|flow| flow.received > Some(ByteCount::ZERO)));
}

#[test]
fn reverse_data_comes_from_the_server() {
    let (_, run) = tested(&["-t", "1", "-R"]);
    assert_eq!(measured(&run).flows[0].heading, Heading::Outbound);
}

#[test]
fn both_ways_at_once_are_counted_apart() {
    let (_, run) = tested(&["-t", "1", "--bidir"]);
    assert_eq!(run.spec.direction, Direction::Bidirectional);
}

#[test]
fn parallel_streams_both_ways_go_by_the_order_in_which_they_came() {
    let (report, run) = tested(&["-t", "1", "-P", "2", "--bidir"]);
    let headings: Vec<Heading> = measured(&run).flows.iter().map(|flow| flow.heading).collect();
    assert_eq!(headings, [Heading::Inbound, Heading::Inbound, Heading::Outbound, Heading::Outbound]);
    let senders: Vec<_> = report.list("/end/streams").iter().map(|stream| stream["sender"]["sender"].clone()).collect();
    assert_eq!(senders, [true, true, false, false]);
}

#[test]
fn an_amount_of_bytes_arrives_whole() {
    let (_, run) = tested(&["-n", "4M"]);
    let total = total(&run, Heading::Inbound);
    let amount = Some(ByteCount::new(4 << 20));
    assert_eq!((total.sent, total.received), (amount, amount));
}

#[test]
fn an_amount_of_bytes_comes_back_whole() {
    let (_, run) = tested(&["-n", "4M", "-R"]);
    let total = total(&run, Heading::Outbound);
    let amount = Some(ByteCount::new(4 << 20));
    assert_eq!((total.sent, total.received), (amount, amount));
}

#[test]
fn a_number_of_blocks_arrives_whole() {
    let (_, run) = tested(&["-k", "20", "-l", "10K"]);
    assert_eq!(run.spec.limit, Limit::Blocks(20));
    assert_eq!(total(&run, Heading::Inbound).received, Some(ByteCount::new(20 * 10_240)));
}

#[test]
fn a_rate_is_kept_by_the_client_and_by_the_server() {
    for way in [&["-t", "1"][..], &["-t", "1", "-R"]] {
        let (report, run) = tested(&[way, &["-b", "40M"]].concat());
        assert_eq!(run.spec.rate.map(|rate| rate.bps()), Some(40_000_000));
        about(report.count("/end/sum_received/bytes"), 5_000_000);
    }
}

#[test]
fn the_start_is_left_out_on_both_sides() {
    let (report, run) = tested(&["-t", "1", "-O", "1", "-b", "40M"]);
    assert_eq!(run.spec.omit, std::time::Duration::from_secs(1));
    about(report.count("/end/sum_sent/bytes"), 5_000_000);
    about(report.count("/end/sum_received/bytes"), 5_000_000);
}

#[test]
fn the_segment_size_is_the_one_asked_for() {
    let (_, run) = tested(&["-n", "1M", "-M", "1400", "-R"]);
    // Time stamps take 12 bytes of each segment (RFC 7323).
    assert_eq!(measured(&run).flows[0].mss, Some(1_388));
}

#[test]
fn the_window_is_the_one_asked_for() {
    let (report, run) = tested(&["-n", "1M", "-w", "64K"]);
    assert_eq!(run.spec.window, Some(ByteCount::new(64 << 10)));
    assert_eq!(report.count("/start/sock_bufsize"), 64 << 10);
}

#[test]
fn the_congestion_control_is_the_one_asked_for() {
    let (report, run) = tested(&["-n", "1M", "-C", "reno", "-R"]);
    assert_eq!(measured(&run).flows[0].congestion_control.as_deref(), Some("reno"));
    assert_eq!(report.text("/end/sender_tcp_congestion"), "reno");
}

#[test]
fn slow_datagrams_are_all_received() {
    let (report, run) = tested(&["-u", "-b", "4M", "-t", "1"]);
    let datagrams = total(&run, Heading::Inbound).datagrams.unwrap();
    assert_eq!(datagrams.lost.get(), 0);
    assert_eq!(datagrams.received, datagrams.sent);
    assert_eq!(report.count("/end/sum/packets"), datagrams.sent.get());
    assert_eq!(report.count("/end/sum/lost_packets"), 0);
    about(report.count("/end/sum_received/bytes"), 500_000);
}

#[test]
fn slow_datagrams_to_the_client_are_all_received() {
    let (report, run) = tested(&["-u", "-b", "4M", "-t", "1", "-R"]);
    let datagrams = total(&run, Heading::Outbound).datagrams.unwrap();
    assert_eq!(report.count("/end/sum/lost_packets"), 0);
    assert_eq!(datagrams.received.get(), report.count("/end/sum/packets"));
    about(report.count("/end/sum_received/bytes"), 500_000);
}

#[test]
fn datagrams_both_ways_are_counted_apart() {
    let (report, run) = tested(&["-u", "-b", "4M", "-t", "1", "--bidir"]);
    for (heading, place) in
        [(Heading::Inbound, "/end/sum_received"), (Heading::Outbound, "/end/sum_received_bidir_reverse")]
    {
        let datagrams = total(&run, heading).datagrams.unwrap();
        assert_eq!(datagrams.lost, datagrams.lost_at_tail, "{heading:?}: {datagrams:?}");
        about(report.count(&format!("{place}/bytes")), 500_000);
    }
}

#[test]
fn datagrams_of_several_streams_are_matched_to_their_streams() {
    let (report, run) = tested(&["-u", "-b", "2M", "-t", "1", "-P", "3"]);
    for (flow, stream) in measured(&run).flows.iter().zip(report.list("/end/streams")) {
        assert_eq!(stream["udp"]["packets"].as_u64(), flow.datagrams.map(|counts| counts.sent.get()));
    }
}

#[test]
fn datagrams_with_wide_numbers_are_understood() {
    let (_, run) = tested(&["-u", "-b", "4M", "-t", "1", "--udp-counters-64bit"]);
    assert_eq!(total(&run, Heading::Inbound).datagrams.unwrap().lost.get(), 0);
}

#[test]
fn intervals_are_as_short_as_the_client_wants() {
    let (report, _) = tested(&["-t", "1", "-i", "0.2", "-b", "40M"]);
    about(report.list("/intervals").len() as u64, 5);
}

#[test]
fn both_families_are_served_by_one_socket() {
    let server = Server::start(&[]);
    for (host, option) in [("127.0.0.1", "-4"), ("::1", "-6")] {
        for protocol in [&["-n", "64K"][..], &["-u", "-b", "4M", "-n", "64K"]] {
            let report = iperf3::test_host(host, server.port, &[protocol, &[option]].concat());
            let run = server.run();
            agree(&report, &run);
            assert!(run.peer.address.unwrap().contains(host), "{host}");
        }
    }
}

#[test]
fn the_servers_output_is_sent_where_it_is_asked_for() {
    let (report, _) = tested(&["-n", "1M", "--get-server-output"]);
    assert!(report.text("/server_output_text").contains("received 1048576 bytes"), "{:#}", report.json);
}

#[test]
fn data_sent_without_a_copy_arrives_whole() {
    let (_, run) = tested(&["-n", "4M", "-Z"]);
    assert_eq!(total(&run, Heading::Inbound).received, Some(ByteCount::new(4 << 20)));
}

#[test]
fn an_amount_that_is_no_multiple_of_a_block_comes_back_in_whole_blocks() {
    // A newer client counts whole blocks, and waits for the million until they have come.
    let (_, run) = tested(&["-n", "1000000", "-R"]);
    assert_eq!(total(&run, Heading::Outbound).sent, Some(ByteCount::new(8 * 131_072)));
}
