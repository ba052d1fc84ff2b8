//! Numbers for Prometheus: text of its exposition format 0.0.4, and a small server of them over HTTP.
//!
//! One request is answered at a time, within a second or two, so nobody who reads slowly costs a test anything. Names follow
//! Prometheus's conventions: base units, `_total` behind what only grows.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use linux::clock;
use units::WallTime;

use crate::stop::Stop;

/// The text of all numbers, family by family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exposition(String);

/// A family of numbers.
#[derive(Debug, Clone, Copy)]
pub struct Family<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What it counts or measures, in a line.
    pub help: &'a str,
}

/// A number of a family, with what tells it from the others.
#[derive(Debug, Clone)]
pub struct Labelled<'a> {
    /// Names of labels and their values.
    pub labels: Vec<(&'a str, String)>,
    /// Count, bytes or seconds, as the name of the family says.
    pub value: u64,
}

impl Exposition {
    /// A number that only grows.
    pub fn counter(&mut self, family: Family<'_>, value: u64) {
        self.family(family, "counter");
        self.line(&format!("{} {value}", family.name));
    }

    /// A number that goes up and down.
    pub fn gauge(&mut self, family: Family<'_>, value: u64) {
        self.family(family, "gauge");
        self.line(&format!("{} {value}", family.name));
    }

    /// Numbers that only grow, by labels.
    pub fn counters(&mut self, family: Family<'_>, values: &[Labelled<'_>]) {
        self.family(family, "counter");
        for Labelled { labels, value } in values {
            let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", quoted(value)));
            self.line(&format!("{}{{{}}} {value}", family.name, labels.collect::<Vec<_>>().join(",")));
        }
    }

    /// A moment, in seconds since 1970-01-01 UTC.
    pub fn moment(&mut self, family: Family<'_>, at: WallTime) {
        self.gauge(family, at.unix_seconds());
    }

    /// Text that Prometheus reads, family by family.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    fn family(&mut self, family: Family<'_>, kind: &str) {
        self.line(&format!("# HELP {} {}\n# TYPE {} {kind}", family.name, family.help, family.name));
    }

    fn line(&mut self, line: &str) {
        // Writing to a text cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

/// A server of numbers whose port is open.
#[derive(Debug)]
pub struct MetricsServer {
    listener: TcpListener,
}

impl MetricsServer {
    /// Opens the port.
    ///
    /// # Errors
    /// Where the address is taken or none of this host's.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What asking a socket gives.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `stop`.
    pub fn serve(&self, stop: &Stop, numbers: &(dyn Fn() -> Exposition + Sync)) {
        while !stop.is_stopped() {
            match self.listener.accept() {
                // How a request ends is its own matter: Prometheus asks again.
                Ok((stream, _)) => drop(answer(stream, numbers)),
                // Nobody asks, or this process is out of descriptors: those of others come free meanwhile.
                Err(_) => thread::sleep(GLANCE),
            }
        }
    }
}

fn answer(mut stream: TcpStream, numbers: &(dyn Fn() -> Exposition + Sync)) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = head(&mut stream)?;
    let mut words = head.split(' ');
    let (status, media, body) = match (words.next(), words.next().map(|path| path.split('?').next())) {
        (Some("GET"), Some(Some("/metrics"))) => ("200 OK", "text/plain; version=0.0.4", numbers().0),
        (Some("GET"), _) => ("404 Not Found", "text/plain", "numbers are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", "GET alone\n".to_owned()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: {media}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// The first line of a request, once its head has come.
fn head(stream: &mut TcpStream) -> io::Result<String> {
    let until = clock::now() + PATIENCE;
    let (mut head, mut some) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.since(clock::now());
        if left.is_zero() || head.len() > LARGEST_HEAD {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let count = stream.read(&mut some)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&some[..count]);
    }
    Ok(String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned())
}

/// How soon a request and the wish to stop are seen.
const GLANCE: Duration = Duration::from_millis(100);
/// How long the head of a request may take to come.
const PATIENCE: Duration = Duration::from_secs(2);
/// That of Prometheus has 300 bytes.
const LARGEST_HEAD: usize = 8 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Exposition {
        let mut text = Exposition::default();
        text.counter(Family { name: "linerate_x_total", help: "Things" }, 7);
        let values = [Labelled { labels: vec![("of", "a\"b\\c\nd".to_owned())], value: 1 }];
        text.counters(Family { name: "linerate_y_total", help: "Others" }, &values);
        text
    }

    #[test]
    fn labels_of_strangers_stay_within_their_quotes() {
        assert!(numbers().text().ends_with("linerate_y_total{of=\"a\\\"b\\\\c\\nd\"} 1\n"), "{}", numbers().text());
    }

    #[test]
    fn numbers_are_served_and_nothing_else_is() {
        let server = MetricsServer::open("127.0.0.1:0".parse().unwrap()).unwrap();
        let (address, stop) = (server.address().unwrap(), Stop::default());
        thread::scope(|scope| {
            scope.spawn(|| server.serve(&stop, &numbers));
            let ask = |line: &str| {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(format!("{line} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).unwrap();
                let mut text = String::new();
                stream.read_to_string(&mut text).unwrap();
                text
            };
            assert!(ask("GET /metrics").ends_with(numbers().text()));
            assert!(ask("GET /etc/passwd").starts_with("HTTP/1.1 404"));
            assert!(ask("POST /metrics").starts_with("HTTP/1.1 405"));
            stop.stop();
        });
    }
}
