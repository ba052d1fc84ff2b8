//! Tests by the installed iperf3 and nuttcp, over loopback, against their own servers.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail like tests.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use measure::stop::Stop;
use measure::tools::iperf3::Iperf3;
use measure::tools::nuttcp::Nuttcp;
use measure::tools::{Tool, ToolError, ToolOutcome, ToolRequest, run};
use model::measurement::Heading;
use model::run::{FailureKind, Outcome};
use model::spec::{Direction, Limit, Protocol, TestSpec};
use units::{ByteCount, DataRate};

/// A server that is ended with the test.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Starts it on a port that nobody has, and waits until the kernel's table says that it listens.
    fn start(program: &str, arguments: &[&str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let quiet = Stdio::null;
        let mut command = Command::new(program);
        let process = command.args(arguments).arg(port.to_string()).stdout(quiet()).stderr(quiet()).spawn();
        let mut server = Self { process: process.unwrap_or_else(|error| panic!("{program} is needed: {error}")), port };
        while !listens(port) {
            assert!(server.process.try_wait().unwrap().is_none(), "{program} ended before it listened");
            std::thread::yield_now();
        }
        server
    }

    fn iperf3() -> Self {
        Self::start("iperf3", &["-s", "-p"])
    }

    fn nuttcp() -> Self {
        Self::start("nuttcp", &["-S", "--nofork", "-P"])
    }

    fn run(&self, tool: Tool, spec: TestSpec) -> ToolOutcome {
        run(&request(tool, self.port, spec), &Stop::default()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn listens(port: u16) -> bool {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|file| std::fs::read_to_string(file).unwrap_or_default());
    let wanted = format!(":{port:04X} ");
    tables.iter().flat_map(|table| table.lines()).any(|line| line.contains(&wanted) && line.contains(" 0A "))
}

fn request(tool: Tool, port: u16, spec: TestSpec) -> ToolRequest {
    ToolRequest { tool, host: "127.0.0.1".to_owned(), port, spec }
}

fn second() -> TestSpec {
    TestSpec { limit: Limit::Time(Duration::from_secs(1)), ..TestSpec::default() }
}

#[test]
fn iperf3_both_ways_with_everything_that_it_tells() {
    let server = Server::iperf3();
    let mut spec = TestSpec { direction: Direction::Bidirectional, streams: 2, ..second() };
    spec.place.cpus = vec![0];
    let driven = server.run(&Iperf3, spec);
    assert_eq!(driven.finished.outcome, Outcome::Complete);
    assert!(driven.command.windows(2).any(|pair| pair == ["-A", "0"]), "{:?}", driven.command);
    assert!(driven.finished.local.software.as_ref().unwrap().starts_with("iperf3 3."));
    assert!(driven.finished.local.kernel.is_some());
    let found = driven.finished.measurement.unwrap();
    assert_eq!(
        found.totals.iter().map(|total| total.heading).collect::<Vec<_>>(),
        [Heading::Outbound, Heading::Inbound]
    );
    assert!(found.totals.iter().all(|total| total.received.unwrap() > ByteCount::ZERO));
    assert_eq!(found.flows.len(), 4);
    assert_eq!(driven.finished.samples.streams.len(), 4);
}

#[test]
fn iperf3_counts_datagrams() {
    let server = Server::iperf3();
    let spec = TestSpec {
        protocol: Protocol::Udp,
        rate: Some(DataRate::from_bps(10_000_000)),
        length: Some(ByteCount::new(1000)),
        limit: Limit::Blocks(500),
        ..TestSpec::default()
    };
    let found = server.run(&Iperf3, spec).finished.measurement.unwrap();
    let counts = found.totals[0].datagrams.unwrap();
    assert_eq!(counts.sent.get(), 500);
    assert_eq!(counts.received.get() + counts.lost.get(), 500);
}

#[test]
fn an_iperf3_that_ends_with_0_on_failure_is_a_failure() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let driven = run(&request(&Iperf3, port, second()), &Stop::default()).unwrap();
    let Outcome::Failed(failure) = driven.finished.outcome else { panic!("it cannot have worked") };
    assert_eq!(failure.kind, FailureKind::Unreachable);
    assert!(failure.detail.contains("Connection refused"), "{failure:?}");
}

#[test]
fn an_iperf3_that_is_stopped_tells_what_it_has() {
    let server = Server::iperf3();
    let stop = Stop::default();
    let spec = TestSpec { limit: Limit::Time(Duration::from_secs(600)), ..TestSpec::default() };
    let request = request(&Iperf3, server.port, spec);
    let driven = std::thread::scope(|scope| {
        let test = scope.spawn(|| run(&request, &stop).unwrap());
        // Its own connection to the server has come up: the second one in the table carries data.
        while !is_connected(server.port) {
            assert!(!test.is_finished(), "the test ended before it was connected");
            std::thread::yield_now();
        }
        stop.stop();
        test.join().unwrap()
    });
    let Outcome::Failed(failure) = driven.finished.outcome else { panic!("it cannot have ended") };
    assert_eq!(failure.kind, FailureKind::Interrupted);
    if let Some(found) = driven.finished.measurement {
        assert!(found.totals.iter().all(|total| total.received.is_none()), "only the server would know");
    }
}

fn is_connected(port: u16) -> bool {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let wanted = format!(":{port:04X} 01 ");
    table.lines().filter(|line| line.contains(&wanted)).count() >= 2
}

/// All of nuttcp's tests in one: its data port is always the same, so that two of them cannot run at once.
#[test]
fn nuttcp_both_ways_and_datagrams() {
    let server = Server::nuttcp();
    let driven = server.run(&Nuttcp, TestSpec { interval: Duration::from_millis(250), ..second() });
    assert_eq!(driven.finished.outcome, Outcome::Complete, "{driven:?}");
    let found = driven.finished.measurement.unwrap();
    assert_eq!(found.totals[0].heading, Heading::Outbound);
    assert!(found.totals[0].goodput > DataRate::ZERO);
    assert!(found.intervals.len() >= 2);

    let mut spec = TestSpec { direction: Direction::Reverse, protocol: Protocol::Udp, ..second() };
    spec.rate = Some(DataRate::from_bps(20_000_000));
    spec.place.cpus = vec![0];
    let driven = server.run(&Nuttcp, spec);
    let found = driven.finished.measurement.unwrap();
    assert_eq!(found.totals[0].heading, Heading::Inbound);
    assert!(found.totals[0].datagrams.unwrap().sent.get() > 0);
    assert!(driven.command.contains(&"0".to_owned()) || driven.command.contains(&"-xc0".to_owned()));

    drop(server);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let driven = run(&request(&Nuttcp, port, second()), &Stop::default()).unwrap();
    assert!(
        matches!(&driven.finished.outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Unreachable),
        "{driven:?}"
    );
}

#[test]
fn what_a_program_cannot_do_is_refused_by_name() {
    let spec = TestSpec { direction: Direction::Bidirectional, ..second() };
    let error = run(&request(&Nuttcp, 1, spec), &Stop::default()).unwrap_err();
    assert!(matches!(&error, ToolError::Unable(unable) if unable.option == "--bidir"), "{error:?}");
}
