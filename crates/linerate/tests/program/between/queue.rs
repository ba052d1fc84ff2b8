//! One test at a time, and nobody disturbs it.

use model::run::{FailureKind, Outcome};
use model::spec::Limit;
use units::ByteCount;

use crate::actors::iperf3;
use crate::actors::linerate::{Server, failure, measured, program, start_test, succeeded, test};
use crate::actors::process::Process;

/// A test that runs until the others have met it. Its rate leaves the processors to them.
const LONG: [&str; 4] = ["--time", "2s", "--rate", "40Mbit/s"];

/// A server in the middle of a test, and the client of it.
fn busy(args: &[&str]) -> (Server, Process) {
    let server = Server::start(args);
    let first = start_test("127.0.0.1", server.port, &LONG);
    server.talk.wait_for("the start of the first test", |line| line.contains(" starts: "));
    (server, first)
}

/// Asserts that the first test ended as if it had been alone.
fn undisturbed(server: &Server, first: Process) {
    let ended = first.finish();
    let run: model::run::Run = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &run.outcome), (Some(0), &Outcome::Complete), "{}", ended.stderr);
    let total = &measured(&run).totals[0];
    assert_eq!(total.sent, total.received);
    assert_eq!(server.run().spec.limit, run.spec.limit);
}

#[test]
fn who_comes_second_is_told_its_place_and_runs_next() {
    let (server, first) = busy(&[]);
    let port = server.port.to_string();
    let args = ["test", "127.0.0.1", "--port", &port, "--bytes", "1MB", "--no-archive"];
    let mut second = Process::start(program().args(args));
    let talk = second.stderr();
    server.talk.wait_for("the second in the queue", |line| line.ends_with(" waits for its turn, 1 before it"));
    talk.wait_for("its place", |line| line.starts_with("waiting in the queue: 1 test comes first, about "));
    undisturbed(&server, first);
    server.talk.wait_for("the start of the second test", |line| line.contains(" starts: "));
    let run = server.run();
    assert_eq!(run.spec.limit, Limit::Bytes(ByteCount::new(1_000_000)));
    assert_eq!(run.outcome, Outcome::Complete);
    assert_eq!(second.finish().code, Some(0));
}

#[test]
fn an_iperf3_that_comes_second_hears_that_the_server_is_busy_and_the_first_goes_on() {
    let (server, first) = busy(&[]);
    // With JSON, iperf3 3.12 ends with 0 whatever happens.
    let ended = iperf3::start_test("127.0.0.1", server.port, &[], &["-n", "1M"]).finish();
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("the server is busy running a test. try again later"), "{}", ended.stderr);
    undisturbed(&server, first);
}

#[test]
fn who_does_not_want_to_wait_is_told_so_at_once() {
    let (server, first) = busy(&[]);
    let second = test(server.port, &["--bytes", "1MB", "--wait", "0s"]);
    assert_eq!((second.code, failure(&second.run).kind), (Some(5), FailureKind::Busy));
    assert!(
        second.stderr.contains("error: the peer refuses: it is busy, 1 test is before this one"),
        "{}",
        second.stderr
    );
    undisturbed(&server, first);
}

#[test]
fn a_queue_without_room_sends_away() {
    let (server, first) = busy(&["--max-queue", "0"]);
    let second = test(server.port, &["--bytes", "1MB"]);
    assert_eq!((second.code, failure(&second.run).kind), (Some(5), FailureKind::Busy));
    undisturbed(&server, first);
}

#[test]
fn who_leaves_the_queue_gives_up_its_place() {
    let (server, first) = busy(&[]);
    let mut second = start_test("127.0.0.1", server.port, &["--bytes", "1MB"]);
    server.talk.wait_for("the second in the queue", |line| line.ends_with(" waits for its turn, 1 before it"));
    second.kill();
    server.talk.wait_for("its end", |line| line.contains(" is no client: "));
    let third = start_test("127.0.0.1", server.port, &["--bytes", "1MB"]);
    server.talk.wait_for("the third in its place", |line| line.ends_with(" waits for its turn, 1 before it"));
    undisturbed(&server, first);
    assert_eq!(third.finish().code, Some(0));
}

#[test]
fn iperf3_tests_in_a_row_need_no_pause() {
    let server = Server::start(&[]);
    for _ in 0..5 {
        assert_eq!(iperf3::start_test("127.0.0.1", server.port, &[], &["-n", "64K"]).finish().code, Some(0));
    }
    for _ in 0..5 {
        succeeded(&test(server.port, &["--bytes", "64KiB", "--wait", "0s"]));
    }
}
