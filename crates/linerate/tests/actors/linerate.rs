//! This program: `linerate serve` and `linerate test`.

use std::path::PathBuf;
use std::process::Command;

use model::measurement::{DirectionTotal, Heading, Measurement};
use model::run::{Failure, Outcome, Run};
use tempfile::TempDir;

use super::process::{Ended, Lines, Process};

/// The program, with nothing of this machine's settings.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env_remove("LINERATE_ARCHIVE").env("TZ", "UTC").env("COLUMNS", "100");
    command
}

/// A test partner on a port that the kernel picked.
#[derive(Debug)]
pub struct Server {
    /// Its port.
    pub port: u16,
    /// What it says.
    pub talk: Lines,
    process: Process,
    runs: Lines,
}

impl Server {
    /// Starts `linerate serve` with these arguments, and waits until it listens.
    pub fn start(args: &[&str]) -> Self {
        Self::started_by(program(), args)
    }

    /// The same by a command that may do something before.
    pub fn started_by(mut command: Command, args: &[&str]) -> Self {
        let mut process = Process::start(command.args(["serve", "--port", "0", "--json", "--no-archive"]).args(args));
        let (talk, runs) = (process.stderr(), process.stdout());
        let line = talk.wait_for("`listening on`", |line| line.contains("listening on"));
        let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(", ").next()).unwrap();
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        Self { port, talk, process, runs }
    }

    /// Waits for the next run that it reports.
    pub fn run(&self) -> Run {
        serde_json::from_str(&self.runs.wait_for("a run", |_| true)).unwrap()
    }

    /// The process.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Most memory that it has held so far, in KiB.
    pub fn most_memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
    }
}

/// A `linerate test` that is over.
#[derive(Debug)]
pub struct Tested {
    /// Its exit code.
    pub code: Option<i32>,
    /// The run it printed.
    pub run: Run,
    /// What it said.
    pub stderr: String,
}

/// Runs `linerate test` against a port of this host, and reads the run that it prints.
pub fn test(port: u16, args: &[&str]) -> Tested {
    test_host("127.0.0.1", port, args)
}

/// The same against a host by name.
pub fn test_host(host: &str, port: u16, args: &[&str]) -> Tested {
    let ended = start_test(host, port, args).finish();
    let run = serde_json::from_str(&ended.stdout);
    let run = run.unwrap_or_else(|error| panic!("no run on standard output ({error}): {ended:#?}"));
    Tested { code: ended.code, run, stderr: ended.stderr }
}

/// Starts `linerate test` without waiting for its end.
pub fn start_test(host: &str, port: u16, args: &[&str]) -> Process {
    let port = port.to_string();
    Process::start(program().args(["test", host, "--port", &port, "--json", "--no-archive"]).args(args))
}

/// Runs the program with any arguments.
pub fn linerate(args: &[&str]) -> Ended {
    Process::start(program().args(args)).finish()
}

/// An archive of its own, in a folder that goes with it.
#[derive(Debug)]
pub struct ArchiveFile {
    /// Where it is.
    pub path: PathBuf,
    _folder: TempDir,
}

impl ArchiveFile {
    /// A place for an archive, where there is none yet.
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        Self { path: folder.path().join("archive.db"), _folder: folder }
    }

    /// Makes it, with one run: a test that nobody answers.
    pub fn make(&self) {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let ended = linerate(&["test", "127.0.0.1", "--port", &closed, "--archive", self.arg()]);
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    }

    /// The place as an argument.
    pub fn arg(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

/// What a run found, which must be there.
pub fn measured(run: &Run) -> &Measurement {
    run.measurement.as_ref().unwrap_or_else(|| panic!("nothing was measured: {:?}", run.outcome))
}

/// The sums of one direction, which must be there.
pub fn total(run: &Run, heading: Heading) -> &DirectionTotal {
    let mut totals = measured(run).totals.iter();
    totals.find(|total| total.heading == heading).unwrap_or_else(|| panic!("no totals {heading:?}: {run:#?}"))
}

/// Why a run failed, which it must have.
pub fn failure(run: &Run) -> &Failure {
    match &run.outcome {
        Outcome::Failed(failure) => failure,
        Outcome::Complete => panic!("the run did not fail"),
    }
}

/// Asserts that a test worked, without anything odd.
#[track_caller]
pub fn succeeded(client: &Tested) {
    assert_eq!((client.code, &client.run.outcome), (Some(0), &Outcome::Complete), "{}", client.stderr);
    assert_eq!(measured(&client.run).anomalies, [""; 0]);
    assert_eq!(client.stderr, "", "a machine that reads JSON is told nothing else");
}
