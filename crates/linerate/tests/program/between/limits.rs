//! What a server allows.

use model::run::FailureKind;

use crate::actors::iperf3;
use crate::actors::linerate::{Server, failure, measured, succeeded, test, test_host};

/// Asserts that a linerate and an iperf3 are refused, and what the first is told.
fn refused(limit: [&str; 2], linerate: &[&str], told: &str, iperf3: &[&str], told_iperf3: &str) {
    let server = Server::start(&limit);
    let client = test(server.port, linerate);
    assert_eq!((client.code, failure(&client.run).kind), (Some(4), FailureKind::Refused), "{limit:?}");
    assert_eq!(failure(&client.run).detail, told);
    server.talk.wait_for("the refusal", |line| {
        line.contains("is not let in: ") || line.contains("is not in an allowed network")
    });
    let ended = iperf3::start_test("127.0.0.1", server.port, &[], iperf3).finish();
    assert_eq!(ended.code, Some(1), "{limit:?}");
    assert!(ended.stderr.contains(told_iperf3), "{limit:?}: {}", ended.stderr);
}

#[test]
fn a_test_without_a_rate_is_refused_where_the_rate_is_limited() {
    refused(
        ["--max-rate", "100Mbit/s"],
        &["--bytes", "1MB", "-P", "2"],
        "the peer refuses: tests are limited to 100 Mbit/s over all streams; ask for --rate 50Mbit/s or less for each",
        &["-n", "1M"],
        "total required bandwidth is larger than server limit",
    );
}

#[test]
fn datagrams_have_a_limit_of_their_own() {
    refused(
        ["--max-udp-rate", "10Mbit/s"],
        &["-u", "--rate", "20Mbit/s"],
        "the peer refuses: tests are limited to 10.0 Mbit/s over all streams; ask for --rate 10Mbit/s or less for each",
        &["-u", "-b", "20M"],
        "total required bandwidth is larger than server limit",
    );
}

#[test]
fn a_test_that_takes_too_long_is_refused() {
    refused(
        ["--max-time", "5s"],
        &["--time", "6s"],
        "the peer refuses: tests are limited to 5.00 s",
        &["-t", "6"],
        // What iperf3 3.12 makes of the number that newer versions have for it.
        "int_errno=37",
    );
}

#[test]
fn too_many_streams_are_refused() {
    refused(
        ["--max-streams", "2"],
        &["-P", "3"],
        "the peer refuses: tests are limited to 2 streams in one direction",
        &["-P", "3"],
        "number of parallel streams too large",
    );
}

#[test]
fn a_client_outside_the_allowed_networks_is_refused() {
    refused(
        ["--allow", "192.0.2.0/24"],
        &["--bytes", "1MB"],
        "the peer reports error 142: the server does not let this client in, by its address or for want of a user name and password",
        &["-n", "1M"],
        "test authorization failed",
    );
}

#[test]
fn a_client_inside_an_allowed_network_is_let_in_over_either_family() {
    let server = Server::start(&["--allow", "192.0.2.0/24,127.0.0.0/8", "--allow", "::1/128"]);
    succeeded(&test(server.port, &["--bytes", "1kB"]));
    succeeded(&test_host("::1", server.port, &["--bytes", "1kB"]));
    succeeded(&test(server.port, &["--bytes", "1kB", "-u", "--rate", "1Mbit/s"]));
}

#[test]
fn a_test_within_the_limits_runs() {
    let limits = ["--max-rate", "100Mbit/s", "--max-time", "5s", "--max-streams", "2"];
    let server = Server::start(&limits);
    let client = test(server.port, &["--time", "1s", "--rate", "20Mbit/s", "-P", "2", "--bidir"]);
    succeeded(&client);
    assert_eq!(measured(&client.run).flows.len(), 4);
}

#[test]
fn a_server_for_one_test_ends_after_it() {
    let mut server = Server::start(&["--once"]);
    succeeded(&test(server.port, &["--bytes", "1MB"]));
    assert_eq!(server.process().wait().code(), Some(0));
    let mut server = Server::start(&["--once"]);
    assert_eq!(iperf3::test(server.port, &["-n", "1M"]).code, Some(0));
    assert_eq!(server.process().wait().code(), Some(0));
}

#[test]
fn a_refused_test_is_not_the_one_test() {
    let mut server = Server::start(&["--once", "--max-streams", "1"]);
    assert_eq!(test(server.port, &["--bytes", "1MB", "-P", "2"]).code, Some(4));
    succeeded(&test(server.port, &["--bytes", "1MB"]));
    assert_eq!(server.process().wait().code(), Some(0));
}

#[test]
fn an_amount_that_takes_longer_than_allowed_is_ended_then() {
    let server = Server::start(&["--max-time", "1s"]);
    // It would take 10 s.
    let client = test(server.port, &["--bytes", "100MB", "--rate", "80Mbit/s"]);
    assert_eq!((client.code, failure(&client.run).kind), (Some(6), FailureKind::Lost), "{}", client.stderr);
    assert!(client.stderr.contains("hint: a server ends a test that takes longer than it allows"), "{}", client.stderr);
    assert!(measured(&client.run).totals[0].sent.unwrap().get() < 50_000_000, "{:?}", client.run);
}
