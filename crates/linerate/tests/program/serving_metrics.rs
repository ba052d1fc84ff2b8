//! What `linerate serve --metrics` counts, read as Prometheus would.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::actors::linerate::{Server, test};

/// The answer to a request for numbers, without its head.
fn numbers(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    body.to_owned()
}

#[test]
fn tests_that_were_served_are_counted_and_promtool_finds_nothing_wrong() {
    // Free now; who else takes it would have to be quick.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let server = Server::start(&["--metrics", &address]);
    let tested = test(server.port, &["--bytes", "10MB"]);
    assert_eq!(tested.code, Some(0), "{}", tested.stderr);
    server.run();
    let text = numbers(&address);
    for line in [
        "linerate_serve_tests_total{protocol=\"tcp\",outcome=\"complete\"} 1",
        "linerate_serve_running_tests 0",
        "linerate_serve_refused_tests_total 0",
        "linerate_serve_received_bytes_total 10000000",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}: {text}");
    }
    let mut checking = Command::new("promtool");
    checking.args(["check", "metrics"]);
    let checking = checking.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut checking = checking.unwrap_or_else(|error| panic!("promtool: {error}: run scripts/setup test"));
    checking.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let checked = checking.wait_with_output().unwrap();
    assert!(checked.status.success() && checked.stderr.is_empty(), "{}", String::from_utf8_lossy(&checked.stderr));
}
