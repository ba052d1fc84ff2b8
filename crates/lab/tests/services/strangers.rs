//! Whoever breaks the rules: clients that dawdle, shout or crowd, servers that lie, fall silent or are not there.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use lab::services::Limits;
use measure::http::head::MAX_HEAD_BYTES;
use model::probe::download::Download;
use model::run::{FailureKind, Outcome};

use crate::running::{Running, acting};

fn failure(found: &Download) -> (FailureKind, &str) {
    match &found.outcome {
        Outcome::Failed(failure) => (failure.kind, &failure.detail),
        Outcome::Complete => panic!("{found:?}"),
    }
}

#[test]
fn a_request_that_never_ends_is_given_up() {
    let limits = Limits { head_time: Duration::from_millis(100), ..Limits::default() };
    let server = Running::files("a", limits);
    // One byte now and nothing ever after.
    let mut client = TcpStream::connect(server.address).unwrap();
    client.write_all(b"G").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert_eq!(server.heard.recv().unwrap().status, Some(408));
    // A byte every so often does not help: the head as a whole has its time.
    let mut client = TcpStream::connect(server.address).unwrap();
    client.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nA: ").unwrap();
    let mut byte = [0];
    while client.read(&mut byte).is_err() {
        client.write_all(b"a").unwrap();
    }
    assert_eq!((byte[0], server.heard.recv().unwrap().status), (b'H', Some(408)));
}

#[test]
fn heads_that_are_too_long_and_bytes_that_are_no_request_are_refused() {
    let server = Running::files("a", Limits::default());
    let long = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(2 * MAX_HEAD_BYTES));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: a\r\n".repeat(100));
    for (bytes, status) in [
        (long.as_bytes(), 431),
        (many.as_bytes(), 431),
        (b"\x16\x03\x01\x02\x00", 400),
        (b"GET /1MB\r\n\r\n", 400),
        (b"GET http://elsewhere/ HTTP/1.1\r\n\r\n", 405),
        (b"CONNECT a:1 HTTP/1.1\r\n\r\n", 405),
    ] {
        let answer = server.say(bytes);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(server.heard.recv().unwrap().status, Some(status));
    }
    assert_eq!(server.fetch("1MB").outcome, Outcome::Complete, "it goes on serving");
}

#[test]
fn no_more_connections_are_served_than_may_be_and_places_come_free() {
    let server = Running::files("a", Limits { connections: 2, ..Limits::default() });
    let slow = || {
        let mut client = TcpStream::connect(server.address).unwrap();
        client.write_all(b"GET /50MB HTTP/1.1\r\n\r\n").unwrap();
        // It is served once the first byte is there.
        client.read_exact(&mut [0]).unwrap();
        client
    };
    let (first, second) = (slow(), slow());
    assert_eq!(failure(&server.fetch("1B")), (FailureKind::Refused, "the server answers 503 Service Unavailable"));
    assert_eq!(server.heard.recv().unwrap().status, Some(503));
    drop(first);
    let gone = server.heard.recv().unwrap();
    assert!(gone.broken.is_some() && gone.body_bytes.get() < 50_000_000, "{gone:?}");
    // The place is free when the visit has ended, which is told just before.
    while server.fetch("1B").outcome != Outcome::Complete {}
    drop(second);
}

#[test]
fn a_client_that_takes_nothing_is_left() {
    let server = Running::files("a", Limits { patience: Duration::from_millis(100), ..Limits::default() });
    let mut client = TcpStream::connect(server.address).unwrap();
    client.write_all(b"GET /1GB HTTP/1.1\r\n\r\n").unwrap();
    let heard = server.heard.recv().unwrap();
    assert_eq!(heard.broken.as_deref(), Some("nothing came or went for 100 ms"));
}

#[test]
fn a_service_ends_although_its_clients_do_not() {
    let server = Running::files("a", Limits::default());
    let mut taking_nothing = TcpStream::connect(server.address).unwrap();
    taking_nothing.write_all(b"GET /1GB HTTP/1.1\r\n\r\n").unwrap();
    taking_nothing.read_exact(&mut [0]).unwrap();
    let _saying_nothing = TcpStream::connect(server.address).unwrap();
    // Ending it waits for all visits; a test that hangs here has failed.
    drop(server);
}

#[test]
fn a_server_that_breaks_off_breaks_the_clients_connection_too() {
    let server = acting(|mut stream| stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").unwrap());
    let proxy = Running::proxy("proxy", vec![server], None);
    let found = proxy.fetch("file");
    assert_eq!((failure(&found).0, found.body.get()), (FailureKind::Lost, 5));
    let heard = proxy.heard.recv().unwrap();
    assert_eq!((heard.status, heard.broken.as_deref()), (Some(200), Some("the other side closed the connection")));
}

#[test]
fn a_server_that_says_more_than_it_announced_is_cut_off() {
    let server =
        acting(|mut stream| drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi and more")));
    let proxy = Running::proxy("proxy", vec![server], None);
    let answer = proxy.say(b"GET /file HTTP/1.1\r\n\r\n");
    assert!(answer.ends_with("\r\n\r\nhi"), "{answer}");
}

#[test]
fn servers_that_are_not_there_or_speak_no_http_are_named() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let junk = acting(|mut stream| drop(stream.write_all(b"SSH-2.0-OpenSSH\r\n")));
    let mute = acting(drop);
    let endless =
        acting(|mut stream| drop(stream.write_all(&[b"HTTP/1.1 200 OK\r\nA: ", &[b'a'; 1 << 20][..]].concat())));
    for (server, why) in [
        (closed, "nothing listens on this port"),
        (junk, "this is not HTTP/1.1"),
        (mute, "the other side closed the connection"),
        (endless, "the head is longer than 16384 bytes"),
    ] {
        let proxy = Running::proxy("proxy", vec![server], None);
        let answer = proxy.say(b"GET /file HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"), "{answer}");
        assert!(answer.contains(&server.to_string()) && answer.contains(why), "{answer}");
    }
    let alone = Running::proxy("proxy", Vec::new(), None);
    assert!(alone.say(b"GET /file HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 502 "));
}

#[test]
fn a_circle_of_proxies_is_noticed() {
    let circle = Running::circle();
    let found = circle.fetch("file");
    assert_eq!((failure(&found).0, found.answer.unwrap().status), (FailureKind::Refused, 508));
}
