//! uiperf3, which speaks iperf3's protocol and shares no code with it: one stream, both ways, TCP and UDP.
//!
//! It knows one port and one length of a test; both are changed in its text before it runs.

use std::process::Command;
use std::time::Instant;

use super::from_registry;
use super::iperf3::{free_port, listens};
use super::process::{Ended, PATIENCE, Process};

/// Runs the module with another port and a test of one second, then what `call` says.
const DRIVER: &str = r#"
import sys
path, port, call = sys.argv[1], sys.argv[2], sys.argv[3]
text = open(path).read().replace("5201", port).replace("'time': 10", "'time': 1").replace("time.sleep(1)", "pass")
module = {"__name__": "uiperf3"}
exec(compile(text, path, "exec"), module)
eval(call, module)
"#;

fn start(port: u16, call: &str) -> Process {
    let path = from_registry("uiperf3/uiperf3.py");
    Process::start(Command::new("python3").args(["-u", "-c", DRIVER]).arg(path).args([&port.to_string(), call]))
}

/// A server for one test.
#[derive(Debug)]
pub struct Server {
    /// Its port.
    pub port: u16,
    process: Process,
}

impl Server {
    /// Starts it, and waits until it listens.
    pub fn start() -> Self {
        let port = free_port();
        let mut process = start(port, "server_once()");
        let deadline = Instant::now() + PATIENCE;
        while !listens(port) {
            assert!(Instant::now() < deadline, "uiperf3 does not listen on port {port}");
            assert!(process.is_running(), "uiperf3 ended before it listened: {:#?}", process.finish());
            std::thread::yield_now();
        }
        Self { port, process }
    }

    /// Waits for the end of its test, which must be a good one.
    pub fn finish(self) {
        let ended = self.process.finish();
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    }
}

/// Runs a client against a port of this host for a second.
pub fn test(port: u16, options: &str) -> Ended {
    start(port, &format!("client('127.0.0.1'{options})")).finish()
}
