//! A peer that is not there, or not any more, or not what it should be.

use std::io::{Read, Write};
use std::net::TcpListener;

use archive::Archive;
use model::run::{FailureKind, Outcome, Run};

use crate::actors::iperf3;
use crate::actors::linerate::{ArchiveFile, Server, failure, measured, program, start_test, test_host};
use crate::actors::process::{Ended, Lines, Process};

/// A test that is kept and runs until something happens, and what it says.
fn long_test(port: u16, archive: &ArchiveFile, args: &[&str]) -> (Process, Lines) {
    let port = port.to_string();
    let mut command = program();
    command.args(["test", "127.0.0.1", "--port", &port, "--archive", archive.arg(), "--time", "60s"]);
    let mut process = Process::start(command.args(["--interval", "100ms", "--rate", "40Mbit/s"]).args(args));
    let talk = process.stderr();
    (process, talk)
}

/// Waits until payload has been counted.
fn await_data(talk: &Lines) {
    talk.wait_for("the second interval", |line| line.contains("0.2 s "));
}

/// The only run of an archive.
fn kept(archive: &ArchiveFile) -> Run {
    let archive = Archive::open(&archive.path).unwrap();
    let runs = archive.list(&archive::Filter::default()).unwrap();
    assert_eq!(runs.len(), 1);
    let samples = archive.samples(&runs[0].id).unwrap();
    assert!(!samples.streams.is_empty(), "the samples until then are kept");
    archive.run(&runs[0].id).unwrap()
}

/// Asserts that a run that ended early was kept with what had been measured.
fn kept_until_then(archive: &ArchiveFile, kind: FailureKind) {
    let run = kept(archive);
    assert_eq!(failure(&run).kind, kind);
    let total = &measured(&run).totals[0];
    let moved = total.received.or(total.sent).unwrap();
    assert!(moved.get() >= 500_000, "{total:?}");
    assert!(!measured(&run).intervals.is_empty());
}

#[test]
fn a_server_that_is_killed_leaves_a_run_with_what_was_measured() {
    for way in [&[][..], &["-R"], &["--bidir"], &["-u"], &["-P", "3"]] {
        let mut server = Server::start(&[]);
        let archive = ArchiveFile::new();
        let (client, talk) = long_test(server.port, &archive, way);
        await_data(&talk);
        server.process().kill();
        let ended = client.finish();
        assert_eq!(ended.code, Some(6), "{way:?}: {}", ended.stdout);
        assert!(ended.stdout.contains("failed  "), "{}", ended.stdout);
        talk.wait_for("the way out", |line| line.starts_with("hint: what was measured until then is kept"));
        kept_until_then(&archive, FailureKind::Lost);
    }
}

#[test]
fn an_iperf3_that_is_killed_leaves_a_run_with_what_was_measured() {
    for way in [&[][..], &["-R"]] {
        let mut server = iperf3::Server::start();
        let archive = ArchiveFile::new();
        let (client, talk) = long_test(server.port, &archive, way);
        await_data(&talk);
        server.kill();
        assert_eq!(client.finish().code, Some(6), "{way:?}");
        kept_until_then(&archive, FailureKind::Lost);
    }
}

#[test]
fn a_user_who_has_seen_enough_gets_what_was_measured() {
    for signal in ["INT", "TERM"] {
        let server = Server::start(&[]);
        let archive = ArchiveFile::new();
        let (client, talk) = long_test(server.port, &archive, &[]);
        await_data(&talk);
        client.signal(signal);
        let ended = client.finish();
        assert_eq!(ended.code, Some(130), "{signal}: {}", ended.stdout);
        kept_until_then(&archive, FailureKind::Interrupted);
        assert_eq!(failure(&server.run()).kind, FailureKind::Lost, "the server knows that it was no whole test");
    }
}

#[test]
fn datagrams_that_a_user_stopped_are_not_said_to_have_arrived() {
    let server = Server::start(&[]);
    let archive = ArchiveFile::new();
    let (client, talk) = long_test(server.port, &archive, &["-u"]);
    await_data(&talk);
    client.signal("INT");
    let ended = client.finish();
    assert_eq!(ended.code, Some(130), "{}", ended.stdout);
    assert!(ended.stdout.contains("goodput      unknown "), "{}", ended.stdout);
    assert!(ended.stdout.contains(" sent; not known how many of them arrived\n"), "{}", ended.stdout);
    for claim in ["0 lost", "no datagram was lost", "lost on the path", "next, here"] {
        assert!(!ended.stdout.contains(claim), "{claim}: {}", ended.stdout);
    }
}

#[test]
fn a_user_in_the_queue_may_leave_it() {
    let server = Server::start(&[]);
    let first = start_test("127.0.0.1", server.port, &["--time", "60s", "--rate", "1Mbit/s"]);
    server.talk.wait_for("the start", |line| line.contains(" starts: "));
    let second = start_test("127.0.0.1", server.port, &["--time", "1s"]);
    server.talk.wait_for("the queue", |line| line.contains(" waits for its turn"));
    second.signal("INT");
    let ended = second.finish();
    assert_eq!(ended.code, Some(130));
    first.signal("INT");
    assert_eq!(first.finish().code, Some(130));
}

#[test]
fn a_server_that_is_told_to_stop_ends_the_test_in_good_order() {
    let mut server = Server::start(&[]);
    let archive = ArchiveFile::new();
    let (client, talk) = long_test(server.port, &archive, &[]);
    await_data(&talk);
    server.process().signal("TERM");
    assert_eq!(client.finish().code, Some(6));
    kept_until_then(&archive, FailureKind::Lost);
    assert_eq!(failure(&server.run()).kind, FailureKind::Interrupted);
    assert_eq!(server.process().wait().code(), Some(0));
}

#[test]
fn a_client_that_is_killed_is_not_missed_for_long() {
    let server = Server::start(&[]);
    let mut first = start_test("127.0.0.1", server.port, &["--time", "60s", "-R"]);
    server.talk.wait_for("the start", |line| line.contains(" starts: "));
    first.kill();
    assert_eq!(failure(&server.run()).kind, FailureKind::Lost);
    let next = start_test("127.0.0.1", server.port, &["--bytes", "1MB", "--wait", "0s"]).finish();
    assert_eq!(next.code, Some(0), "{}", next.stderr);
}

/// Runs a test that cannot be, and returns its end with the run that it keeps.
fn unreachable(host: &str, port: u16, args: &[&str]) -> (Ended, Run) {
    let archive = ArchiveFile::new();
    let port = port.to_string();
    let args = [&["test", host, "--port", &port, "--archive", archive.arg()], args].concat();
    let ended = Process::start(program().args(args)).finish();
    let archive = Archive::open(&archive.path).unwrap();
    let runs = archive.list(&archive::Filter::default()).unwrap();
    let run = archive.run(&runs[0].id).unwrap();
    (ended, run)
}

#[test]
fn where_nobody_listens_is_said_and_kept() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (ended, run) = unreachable("127.0.0.1", closed, &[]);
    assert_eq!((ended.code, failure(&run).kind), (Some(3), FailureKind::Unreachable));
    let told = format!("error: 127.0.0.1:{closed} refuses the connection: nothing listens on this port\nhint: ");
    assert!(ended.stderr.starts_with(&told), "{}", ended.stderr);
    assert!(run.measurement.is_none());
}

#[test]
fn a_name_that_nobody_has_is_said_and_kept() {
    // RFC 6761: the top-level domain `invalid` never resolves.
    let (ended, run) = unreachable("nonesuch.invalid", 5201, &[]);
    assert_eq!((ended.code, failure(&run).kind), (Some(3), FailureKind::Unreachable));
    assert!(ended.stderr.starts_with("error: `nonesuch.invalid` does not resolve to an address: "), "{}", ended.stderr);
}

#[test]
fn a_family_that_a_host_does_not_have_is_said() {
    let (ended, run) = unreachable("127.0.0.1", 5201, &["-6"]);
    assert_eq!((ended.code, failure(&run).kind), (Some(3), FailureKind::Unreachable));
    assert!(ended.stderr.starts_with("error: `127.0.0.1` has no IPv6 address\n"), "{}", ended.stderr);
}

#[test]
fn a_server_of_something_else_is_a_broken_protocol() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.read_exact(&mut [0; 37]).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // Open until the client goes.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let client = test_host("127.0.0.1", port, &[]);
    assert_eq!((client.code, failure(&client.run).kind), (Some(7), FailureKind::Protocol));
    assert!(client.stderr.starts_with("error: the peer broke the protocol: control byte 0x48 has no meaning\n"));
    server.join().unwrap();
}

#[test]
fn a_port_that_is_taken_is_said_with_the_way_out() {
    let server = Server::start(&[]);
    let port = server.port.to_string();
    let ended = Process::start(program().args(["serve", "--no-archive", "--port", &port])).finish();
    assert_eq!(ended.code, Some(8));
    let told = format!("error: cannot serve: port {port} cannot be opened: Address already in use (os error 98)\n");
    assert!(ended.stderr.starts_with(&told), "{}", ended.stderr);
    assert!(ended.stderr.contains("--port picks another"), "{}", ended.stderr);
    assert_eq!(Outcome::Complete, test_host("127.0.0.1", server.port, &["--bytes", "1kB"]).run.outcome);
}
