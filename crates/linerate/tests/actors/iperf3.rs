//! iperf3, as a client and as a server, both with JSON on standard output.

use std::net::{TcpListener, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;

use serde_json::Value;

use super::process::{Ended, PATIENCE, Process};

/// What an iperf3 reported.
#[derive(Debug)]
pub struct Report {
    /// Its exit code.
    pub code: Option<i32>,
    /// Its JSON.
    pub json: Value,
}

impl Report {
    /// The whole number at a place.
    pub fn count(&self, place: &str) -> u64 {
        let found = self.json.pointer(place).and_then(Value::as_u64);
        found.unwrap_or_else(|| panic!("no whole number at {place}: {:#}", self.json))
    }

    /// The list at a place.
    pub fn list(&self, place: &str) -> &[Value] {
        let found = self.json.pointer(place).and_then(Value::as_array);
        found.unwrap_or_else(|| panic!("no list at {place}: {:#}", self.json))
    }

    /// The text at a place.
    pub fn text(&self, place: &str) -> &str {
        let found = self.json.pointer(place).and_then(Value::as_str);
        found.unwrap_or_else(|| panic!("no text at {place}: {:#}", self.json))
    }

    fn of(ended: &Ended) -> Self {
        let json = serde_json::from_str(&ended.stdout);
        let json = json.unwrap_or_else(|error| panic!("no JSON on standard output ({error}): {ended:#?}"));
        Self { code: ended.code, json }
    }
}

/// Runs an iperf3 client against a port of this host.
pub fn test(port: u16, args: &[&str]) -> Report {
    test_host("127.0.0.1", port, args)
}

/// The same against a host by name.
pub fn test_host(host: &str, port: u16, args: &[&str]) -> Report {
    Report::of(&start_test(host, port, &["-J"], args).finish())
}

/// Starts an iperf3 client without waiting for its end.
pub fn start_test(host: &str, port: u16, format: &[&str], args: &[&str]) -> Process {
    Process::start(Command::new("iperf3").args(["-c", host, "-p", &port.to_string()]).args(format).args(args))
}

/// An iperf3 server for one test.
#[derive(Debug)]
pub struct Server {
    /// Its port.
    pub port: u16,
    process: Process,
}

impl Server {
    /// Starts `iperf3 -s -1 -J`, and waits until it listens.
    pub fn start() -> Self {
        let port = free_port();
        let mut process = Process::start(Command::new("iperf3").args(["-s", "-1", "-J", "-p", &port.to_string()]));
        // With JSON it prints nothing before the end, so the kernel is asked.
        let deadline = Instant::now() + PATIENCE;
        while !listens(port) {
            assert!(Instant::now() < deadline, "iperf3 does not listen on port {port}");
            assert!(process.is_running(), "iperf3 -s ended before it listened: {:#?}", process.finish());
            std::thread::yield_now();
        }
        Self { port, process }
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Waits for the end of its test, and returns what it reported.
    pub fn report(self) -> Report {
        Report::of(&self.process.finish())
    }
}

/// A port that nobody has, below those that the kernel gives to clients: those of other tests come and go.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 10_000).unwrap();
    loop {
        let port = 20_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000;
        if TcpListener::bind(("::", port)).is_ok() && UdpSocket::bind(("::", port)).is_ok() {
            return port;
        }
    }
}

/// Whether somebody listens on a port, by the kernel's table of TCP sockets.
pub fn listens(port: u16) -> bool {
    const LISTEN: &str = "0A";
    let table = ["/proc/net/tcp", "/proc/net/tcp6"].map(|file| std::fs::read_to_string(file).unwrap_or_default());
    let wanted = format!(":{port:04X}");
    table.iter().flat_map(|table| table.lines()).any(|line| {
        let mut words = line.split_whitespace();
        words.nth(1).is_some_and(|local| local.ends_with(&wanted)) && words.nth(1) == Some(LISTEN)
    })
}
