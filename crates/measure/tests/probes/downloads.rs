//! Files over HTTP, from servers that say whatever a test has them say.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use measure::download::download;
use measure::stop::Stop;
use model::probe::download::{Download, DownloadSpec};
use model::run::{Failure, FailureKind, Outcome};
use model::series::field::Field;
use units::ByteCount;

use crate::network::{FAR, in_network, on};

/// A server of one connection: hears a question up to its empty line, then does what the test wants.
fn server(on: &str, act: impl FnOnce(TcpStream) + Send + 'static) -> (SocketAddr, thread::JoinHandle<String>) {
    let listener = TcpListener::bind(on).unwrap();
    let address = listener.local_addr().unwrap();
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut question = Vec::new();
        while !question.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            assert_eq!(stream.read(&mut byte).unwrap(), 1, "the client went away");
            question.extend(byte);
        }
        act(stream);
        String::from_utf8(question).unwrap()
    });
    (address, thread)
}

/// A server that says this and closes.
fn saying(text: impl Into<Vec<u8>>) -> (SocketAddr, thread::JoinHandle<String>) {
    let text = text.into();
    // A client that has heard enough may have closed before all is said.
    server("127.0.0.1:0", move |mut stream| drop(stream.write_all(&text)))
}

fn spec(address: SocketAddr) -> DownloadSpec {
    DownloadSpec { patience: Duration::from_secs(5), ..DownloadSpec::of(format!("http://{address}/file")) }
}

fn fetch(text: impl Into<Vec<u8>>) -> Download {
    let (address, server) = saying(text);
    let found = download(&spec(address), &Stop::default());
    server.join().unwrap();
    found
}

fn failure(found: &Download) -> &Failure {
    match &found.outcome {
        Outcome::Failed(failure) => failure,
        Outcome::Complete => panic!("{found:?}"),
    }
}

fn field(found: &Download, field: Field) -> u64 {
    found.tcp.iter().find(|known| known.field == field).unwrap().value
}

#[test]
fn every_byte_over_two_routers_is_counted_and_every_time_is_in_order() {
    in_network(module_path!(), "every_byte_over_two_routers_is_counted_and_every_time_is_in_order", || {
        for far in [format!("{}:0", FAR[0]), format!("[{}]:0", FAR[1])] {
            let (address, server) = on("far", || {
                server(&far, |mut stream| {
                    let head =
                        "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\nX-Served-By: dtn7\r\nVia: 1.1 a, 1.1 b\r\n\r\n";
                    stream.write_all(head.as_bytes()).unwrap();
                    stream.write_all(&[7; 3_000_000]).unwrap();
                })
            });
            let asked = DownloadSpec { congestion_control: Some("reno".to_owned()), ..spec(address) };
            let found = on("near", || download(&asked, &Stop::default()));
            assert_eq!((&found.outcome, found.body.get()), (&Outcome::Complete, 3_000_000));
            let answer = found.answer.as_ref().unwrap();
            assert_eq!((answer.status, answer.content_length), (200, Some(ByteCount::new(3_000_000))));
            assert_eq!(
                (answer.served_by.as_deref(), &answer.via[..]),
                (Some("dtn7"), &["1.1 a".to_owned(), "1.1 b".to_owned()][..])
            );
            let times = found.times;
            let order = [times.resolved, times.connected, times.first_byte, Some(times.total)].map(Option::unwrap);
            assert!(order.is_sorted() && order[0] < order[3], "{order:?}");
            assert!(found.goodput.unwrap() >= found.overall.unwrap());
            assert_eq!((found.peer_address, found.congestion_control.as_deref()), (Some(address), Some("reno")));
            // The kernel counts the head too, and what it has acknowledged of the end of the connection.
            assert!((3_000_000..3_000_300).contains(&field(&found, Field::BytesReceived)), "{found:?}");
            let question = server.join().unwrap();
            assert!(
                question.starts_with("GET /file HTTP/1.1\r\n") && question.contains(&format!("Host: {address}\r\n"))
            );
        }
    });
}

#[test]
fn bodies_of_every_framing_are_counted() {
    let cases: [(&str, u64); 5] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 5),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 5),
        ("HTTP/1.0 200 OK\r\n\r\nhello", 5),
        ("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 2),
        ("HTTP/1.1 204 No Content\r\n\r\n", 0),
    ];
    for (text, bytes) in cases {
        let found = fetch(text);
        assert_eq!((&found.outcome, found.body.get()), (&Outcome::Complete, bytes), "{text}");
    }
    assert_eq!(fetch("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi, and more than was announced").body.get(), 2);
}

#[test]
fn a_server_that_closes_early_is_told_with_what_came() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello",
    ] {
        let found = fetch(text);
        assert_eq!((failure(&found).kind, found.body.get()), (FailureKind::Lost, 5));
        assert!(failure(&found).detail.contains("after 5 bytes"), "{:?}", failure(&found));
    }
    assert_eq!(failure(&fetch("HTTP/1.1 200 OK\r\nConte")).kind, FailureKind::Lost);
    assert_eq!(failure(&fetch("")).kind, FailureKind::Lost);
}

#[test]
fn what_is_no_file_is_refused_and_what_is_no_http_is_a_broken_protocol() {
    let refused = fetch("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone");
    assert_eq!((failure(&refused).kind, refused.answer.as_ref().unwrap().status), (FailureKind::Refused, 404));
    let elsewhere = fetch("HTTP/1.1 302 Found\r\nLocation: https://b/\r\nContent-Length: 0\r\n\r\n");
    assert!(failure(&elsewhere).detail.contains("https://b/ (302)"));
    for junk in [
        "SSH-2.0-OpenSSH_9.6\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello".to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: lots\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\nA: {}", "a".repeat(1 << 20)),
        format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: a\r\n".repeat(1000)),
        "HTTP/1.1 100 Continue\r\n\r\n\0\0\0".to_owned(),
    ] {
        let start: String = junk.chars().take(60).collect();
        assert_eq!(failure(&fetch(junk)).kind, FailureKind::Protocol, "{start}");
    }
}

#[test]
fn a_server_that_falls_silent_or_dawdles_or_never_ends_is_left() {
    // It holds the connection until the client has closed.
    let hold = |text: &'static str| {
        server("127.0.0.1:0", move |mut stream| {
            stream.write_all(text.as_bytes()).unwrap();
            let _ = stream.read(&mut [0]);
        })
    };
    for text in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"] {
        let (address, server) = hold(text);
        let asked = DownloadSpec { patience: Duration::from_millis(100), ..spec(address) };
        let found = download(&asked, &Stop::default());
        assert!(failure(&found).detail.contains("nothing came or went for 100 ms"), "{found:?}");
        server.join().unwrap();
    }
    let endless = || {
        server("127.0.0.1:0", |mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(&[0; 1000]).is_ok() {}
        })
    };
    let (address, server) = endless();
    let found = download(&DownloadSpec { time_limit: Duration::from_millis(200), ..spec(address) }, &Stop::default());
    assert_eq!(failure(&found).kind, FailureKind::Lost);
    server.join().unwrap();
    let (address, server) = endless();
    let found = download(&DownloadSpec { limit: ByteCount::new(5_000_000), ..spec(address) }, &Stop::default());
    assert!(failure(&found).detail.contains("more than the 5.00 MB"), "{found:?}");
    server.join().unwrap();
}

#[test]
fn a_download_stops_when_it_is_told_to() {
    let stop = Stop::default();
    let (flows, flowing) = mpsc::channel();
    let (address, server) = server("127.0.0.1:0", move |mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello");
        flows.send(()).unwrap();
        let _ = stream.read(&mut [0]);
    });
    let found = thread::scope(|scope| {
        let fetching = scope.spawn(|| download(&spec(address), &stop));
        flowing.recv().unwrap();
        stop.stop();
        fetching.join().unwrap()
    });
    assert_eq!(failure(&found).kind, FailureKind::Interrupted);
    server.join().unwrap();
}

#[test]
fn where_nobody_listens_or_no_name_is_known_the_failure_says_so() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let found = download(&spec(closed), &Stop::default());
    assert_eq!((failure(&found).kind, found.times.connected), (FailureKind::Unreachable, None));
    assert!(found.times.resolved.is_some());
    let nowhere = download(&DownloadSpec::of("https://secure.example/"), &Stop::default());
    assert_eq!((failure(&nowhere).kind, nowhere.body), (FailureKind::Local, ByteCount::ZERO));
}
