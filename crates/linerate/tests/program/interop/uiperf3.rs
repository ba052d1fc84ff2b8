//! Tests with uiperf3, both ways: what holds of every program that speaks the protocol, not only of iperf3's own code.

use model::measurement::Heading;
use model::run::{Outcome, Run};

use crate::actors::linerate::{Server, test, total};
use crate::actors::uiperf3;

/// Its datagrams.
const LENGTH: &str = "1000B";

fn client_of(args: &[&str]) -> Run {
    let server = uiperf3::Server::start();
    let tested = test(server.port, args);
    assert_eq!(tested.code, Some(0), "{}", tested.stderr);
    assert_eq!(tested.run.outcome, Outcome::Complete);
    server.finish();
    tested.run
}

#[test]
fn what_is_sent_to_its_server_arrives_in_whole_blocks() {
    let run = client_of(&["--time", "1s"]);
    let total = total(&run, Heading::Outbound);
    assert_eq!(total.received.unwrap().get() % (128 << 10), 0, "{total:?}");
    assert!(total.received.unwrap().get() > 0 && total.received <= total.sent, "{total:?}");
}

#[test]
fn what_its_server_sends_arrives() {
    let run = client_of(&["--time", "1s", "-R"]);
    let total = total(&run, Heading::Inbound);
    let [sent, received] = [total.sent, total.received].map(|bytes| bytes.unwrap().get());
    // It goes on writing until the end has reached it, and no longer counts.
    assert!(received > 0 && received / 100 * 98 <= sent, "{total:?}");
}

#[test]
fn datagrams_to_its_server_are_counted_by_both() {
    let run = client_of(&["-u", "--rate", "2Mbit/s", "--length", LENGTH, "--time", "1s"]);
    let datagrams = total(&run, Heading::Outbound).datagrams.unwrap();
    assert!((200..=260).contains(&datagrams.sent.get()), "{datagrams:?}");
    // It counts what came, and no losses before that.
    assert_eq!(datagrams.lost, datagrams.lost_at_tail, "{datagrams:?}");
    assert!(datagrams.received.get() >= 200, "{datagrams:?}");
}

#[test]
fn a_server_that_gives_up_in_the_middle_is_told_from_a_test_that_lost_everything() {
    // Its server sends datagrams without naming their receiver, which is an error everywhere but on a microcontroller.
    let server = uiperf3::Server::start();
    let tested = test(server.port, &["-u", "--rate", "2Mbit/s", "--length", LENGTH, "--time", "1s", "-R"]);
    assert_eq!(tested.code, Some(6), "{}", tested.stderr);
    assert!(tested.stderr.contains("the peer closed the control connection"), "{}", tested.stderr);
    assert_ne!(tested.run.outcome, Outcome::Complete);
    let datagrams = total(&tested.run, Heading::Inbound).datagrams.unwrap();
    assert_eq!((datagrams.lost.get(), datagrams.received.get()), (0, 0), "{datagrams:?}");
}

#[test]
fn its_client_tests_both_ways_with_both_protocols() {
    for (options, heading, udp) in [
        ("", Heading::Inbound, false),
        (", reverse=True", Heading::Outbound, false),
        (", udp=True, bandwidth=2000000", Heading::Inbound, true),
        (", udp=True, bandwidth=2000000, reverse=True", Heading::Outbound, true),
    ] {
        let server = Server::start(&[]);
        let ended = uiperf3::test(server.port, options);
        assert_eq!(ended.code, Some(0), "{options}: {}{}", ended.stdout, ended.stderr);
        let run = server.run();
        assert_eq!(run.outcome, Outcome::Complete, "{options}");
        let total = total(&run, heading);
        assert!(total.sent.unwrap().get() > 0, "{options}: {total:?}");
        if udp {
            let datagrams = total.datagrams.unwrap();
            // 2 Mbit/s of 1,458 bytes for a second are 171, give or take a busy machine.
            assert!((80..=260).contains(&datagrams.sent.get()), "{options}: {datagrams:?}");
            assert!(datagrams.lost.get() * 10 <= datagrams.sent.get(), "{options}: {datagrams:?}");
        }
    }
}
