//! Bytes that are no messages, to either side: it says so, ends that connection and goes on.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use measure::stop::Stop;
use model::run::{Failure, FailureKind, Outcome};
use model::spec::Direction;
use tungstenite::handshake::derive_accept_key;

use super::server::{PATIENCE, Server};
use super::test;

/// Header lines of a request for a test.
fn request(path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: net.measurementlab.ndt.v7\r\n\r\n"
    )
}

/// A client that is let in and then sends these bytes.
fn intrude(server: SocketAddr, path: &str, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request(path).as_bytes()).unwrap();
    let mut lines = BufReader::with_capacity(1, stream.try_clone().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "HTTP/1.1 101 Switching Protocols");
    while !lines.next().unwrap().unwrap().is_empty() {}
    // It may have closed already.
    let _ = stream.write_all(bytes);
    stream
}

/// A frame of a client: masked by zero, so that the payload is legible.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[first, 0x80 | length, 0, 0, 0, 0], payload].concat()
}

fn failure(outcome: Outcome) -> Failure {
    match outcome {
        Outcome::Failed(failure) => failure,
        Outcome::Complete => panic!("it did not fail"),
    }
}

#[test]
fn each_breach_of_the_framing_ends_the_test_and_not_the_server() {
    let server = Server::start();
    let unmasked = [0x82, 0x01, 0x00].to_vec();
    let endless = [&[0x82, 0xff][..], &(1_u64 << 40).to_be_bytes(), &[0; 4]].concat();
    let beyond = [&[0x82, 0xff][..], &((1_u64 << 24) + 1).to_be_bytes(), &[0; 4]].concat();
    for (breach, bytes) in [
        ("a frame without a mask", unmasked),
        ("a length of 2^40", endless),
        ("a length above 2^24", beyond),
        ("an opcode that is reserved", frame(0x83, b"x")),
        ("a bit that is reserved", frame(0xc2, b"x")),
        ("a ping in fragments", frame(0x09, b"x")),
        ("a text that is no UTF-8", frame(0x81, &[0xff, 0xfe])),
        ("a continuation of nothing", frame(0x80, b"x")),
        ("a closing code of one byte", frame(0x88, &[3])),
    ] {
        let stream = intrude(server.address, "/ndt/v7/upload", &bytes);
        let found = failure(server.finished().outcome);
        assert_eq!(found.kind, FailureKind::Protocol, "{breach}: {}", found.detail);
        drop(stream);
    }
    assert_eq!(test(server.address, Direction::Forward, Duration::from_millis(100)).outcome, Outcome::Complete);
}

#[test]
fn payload_in_a_test_in_which_the_server_sends_ends_it() {
    let server = Server::start();
    let stream = intrude(server.address, "/ndt/v7/download", &frame(0x82, &[7; 100]));
    let found = failure(server.finished().outcome);
    assert!(found.kind == FailureKind::Protocol && found.detail.contains("payload"), "{}", found.detail);
    drop(stream);
}

#[test]
fn requests_that_are_none_are_answered_or_dropped_and_named() {
    let server = Server::start();
    let no_protocol = request("/ndt/v7/upload").replace("net.measurementlab.ndt.v7", "chat");
    let long = request(&format!("/ndt/v7/upload?a={}", "x".repeat(5_000)));
    for (request, answered) in [
        (request("/other"), "HTTP/1.1 404"),
        (no_protocol, "HTTP/1.1 400"),
        (long, "HTTP/1.1 400"),
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), ""),
        ("\u{0}\u{1}\r\n\r\n".to_owned(), ""),
        (format!("GET / HTTP/1.1\r\n{}", "a: b\r\n".repeat(20_000)), ""),
    ] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        // What the server does not want to read any more, it resets.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with(answered), "{answer}");
        let why = server.nuisance();
        assert!(why.starts_with("is no client of NDT7: "), "{why}");
    }
}

#[test]
fn mutated_frames_never_stop_the_server() {
    let server = Server::start();
    let whole =
        [frame(0x82, &[7; 64]), frame(0x81, br#"{"AppInfo":{"ElapsedTime":1,"NumBytes":2}}"#), frame(0x89, b"ping")];
    let whole = [whole.concat(), frame(0x88, &[3, 232])].concat();
    let mut state = 0x7ace_u64;
    let mut random = |below: usize| {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for number in 0..200 {
        let mut bytes = whole.clone();
        for _ in 0..=random(4) {
            let (at, bit) = (random(bytes.len()), random(8));
            bytes[at] ^= 1 << bit;
        }
        bytes.truncate(1 + random(whole.len()));
        let path = if number % 2 == 0 { "/ndt/v7/upload" } else { "/ndt/v7/download" };
        drop(intrude(server.address, path, &bytes));
        // However it ended, it ended.
        server.finished();
    }
    assert_eq!(test(server.address, Direction::Forward, Duration::from_millis(100)).outcome, Outcome::Complete);
}

/// A server that answers the handshake, says these bytes and closes. What our client makes of it.
fn told_by_server(bytes: &[u8], direction: Direction) -> (Outcome, Option<u64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let bytes = bytes.to_vec();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut key = String::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            match line.split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("sec-websocket-key") => key = value.trim().to_owned(),
                _ if line == "\r\n" => break,
                _ => {}
            }
        }
        let accept = derive_accept_key(key.as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\
             Sec-WebSocket-Protocol: net.measurementlab.ndt.v7\r\n\r\n"
        );
        let mut stream = stream;
        // The client may have gone already.
        let _ = stream.write_all(answer.as_bytes());
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
    });
    let found = test(address, direction, Duration::from_secs(10));
    server.join().unwrap();
    let received = found.measurement.and_then(|found| found.totals.first()?.received).map(units::ByteCount::get);
    (found.outcome, received)
}

/// A frame of a server, without a mask.
fn bare(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_be_bytes();
    [&[first, 127], &length[..], payload].concat()
}

#[test]
fn a_message_of_the_largest_size_in_fragments_is_payload_as_any_other() {
    let half = vec![7; 1 << 23];
    let bytes = [bare(0x02, &half), bare(0x80, &half), vec![0x88, 2, 3, 232]].concat();
    let (outcome, received) = told_by_server(&bytes, Direction::Reverse);
    assert_eq!((outcome, received), (Outcome::Complete, Some(1 << 24)));
}

#[test]
fn what_a_server_may_not_send_is_a_failure_of_the_protocol() {
    let masked = frame(0x82, b"x");
    for bytes in [masked, bare(0x83, b"x"), bare(0x82, &[7; (1 << 24) + 1]), vec![0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]]
    {
        let (outcome, _) = told_by_server(&bytes, Direction::Reverse);
        assert_eq!(failure(outcome).kind, FailureKind::Protocol);
    }
    let (outcome, _) = told_by_server(&bare(0x82, b"x"), Direction::Forward);
    assert_eq!(failure(outcome).kind, FailureKind::Protocol, "payload in an upload");
}

#[test]
fn a_server_that_goes_at_once_is_lost_and_one_that_closes_gives_what_it_sent() {
    let (outcome, _) = told_by_server(b"", Direction::Reverse);
    assert_eq!(failure(outcome).kind, FailureKind::Lost);
    let (outcome, _) = told_by_server(&[0x88, 2, 3, 232], Direction::Reverse);
    assert_eq!(failure(outcome).kind, FailureKind::Lost, "no payload is no result");
    let (outcome, received) =
        told_by_server(&[bare(0x82, &[7; 8_192]), vec![0x88, 2, 3, 232]].concat(), Direction::Reverse);
    assert_eq!((outcome, received), (Outcome::Complete, Some(8_192)));
}

#[test]
fn a_request_that_is_stopped_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap()).parse().unwrap();
    let stop = Stop::default();
    stop.stop();
    let spec = measure::ndt7::spec(Direction::Reverse, Duration::from_secs(1));
    let request = measure::ndt7::client::Ndt7Request { url, spec, trust: None, length: Duration::from_secs(1) };
    let found = measure::ndt7::client::run(&request, &stop);
    assert_eq!(failure(found.outcome).kind, FailureKind::Interrupted);
}
