//! Tests by other programs that are installed here: iperf3 and nuttcp.
//!
//! * [`run`]: from a specification to a finished test, by way of the program's own arguments and output
//! * [`TestTool`]: what there is to know of a program; `iperf3` and `nuttcp` are a folder each
//! * [`command_line`]: arguments as they are put together
//! * `process`: the program, until it ends or is ended
//!
//! Nothing is shown while the program runs: both tell their numbers reliably only at the end.

pub mod command_line;
pub mod iperf3;
pub mod nuttcp;
mod process;

use std::io;
use std::time::Duration;

use linux::netns::{NetnsError, NetnsRef, NetnsRefError};
use model::measurement::Measurement;
use model::run::{Failure, FailureKind, Outcome, Peer};
use model::series::RunSamples;
use model::spec::{Limit, TestSpec};
use units::duration::show;

use crate::identity;
use crate::session::client::Finished;
use crate::stop::Stop;
use command_line::Unable;
use import::Imported;
use process::{Ended, Output};

/// A program that can run a test: what linerate has to know of it to ask it. What it prints is read by
/// [`import`]. A tool is a folder here, and a line in [`ALL`].
pub trait TestTool: std::fmt::Debug + Sync {
    /// The name of the program.
    fn program(&self) -> &'static str;

    /// The port of its server, where nobody says otherwise.
    fn usual_port(&self) -> u16;

    /// What has to run on the peer, as a person types it.
    fn server(&self) -> &'static str;

    /// The option by which it prints its version.
    fn version_option(&self) -> &'static str;

    /// The program and its arguments.
    ///
    /// # Errors
    /// If this version of it cannot do what is asked for.
    fn arguments(&self, request: &ToolRequest, version: Version) -> Result<Vec<String>, Unable>;
}

/// One of [`ALL`].
pub type Tool = &'static dyn TestTool;

/// Every tool.
pub const ALL: [Tool; 2] = [&iperf3::Iperf3, &nuttcp::Nuttcp];

/// The tool whose program has this name.
#[must_use]
pub fn named(program: &str) -> Option<Tool> {
    ALL.into_iter().find(|tool| tool.program() == program)
}

/// What is to be run.
#[derive(Debug, Clone)]
pub struct ToolRequest {
    /// By which program.
    pub tool: Tool,
    /// Name or address of the peer.
    pub host: String,
    /// The peer's control port.
    pub port: u16,
    /// What to measure; options that the program does not have are refused.
    pub spec: TestSpec,
}

/// A test that was run by a program.
#[derive(Debug)]
pub struct ToolOutcome {
    /// The program with all its arguments.
    pub command: Vec<String>,
    /// What was asked for, without what the program does not do: it takes no samples and sends no probes.
    pub spec: TestSpec,
    /// What came of it.
    pub finished: Finished,
}

/// Why a program was not even started.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It is not installed.
    #[error("{program} is not installed")]
    Missing {
        /// Name under which it was looked for in `PATH`.
        program: &'static str,
    },
    /// It cannot do what was asked for.
    #[error(transparent)]
    Unable(#[from] Unable),
    /// It does not start.
    #[error("{program} cannot be started")]
    Start {
        /// Name under which it was looked for in `PATH`.
        program: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The network namespace is none.
    #[error(transparent)]
    NetnsName(#[from] NetnsRefError),
    /// The network namespace cannot be entered.
    #[error(transparent)]
    Netns(#[from] NetnsError),
}

/// Runs the test, and reads what the program prints. A test that fails is a result; `stop` ends it early.
///
/// # Errors
/// If the program is not started at all.
pub fn run(request: &ToolRequest, stop: &Stop) -> Result<ToolOutcome, ToolError> {
    let program = request.tool.program();
    let version = process::version(request.tool).map_err(|source| missing_or(program, source))?;
    let command = request.tool.arguments(request, version)?;
    let limit = time_limit(&request.spec);
    let start = || process::run(&command, limit, stop);
    let ended = match request.spec.place.netns.as_deref() {
        None => start(),
        Some(netns) => linux::netns::with_netns(&NetnsRef::parse(netns)?, start)?,
    };
    let output = ended.map_err(|source| missing_or(program, source))?;
    let spec = TestSpec { sample_every: Duration::ZERO, probe_every: Duration::ZERO, ..request.spec.clone() };
    Ok(ToolOutcome { finished: finished(request, version, &command, &output), command, spec })
}

fn missing_or(program: &'static str, source: io::Error) -> ToolError {
    match source.kind() {
        io::ErrorKind::NotFound => ToolError::Missing { program },
        _ => ToolError::Start { program, source },
    }
}

/// What came of it, from what was printed and how the program ended.
fn finished(request: &ToolRequest, version: Version, command: &[String], output: &Output) -> Finished {
    let told = told(command, output);
    let mut local = identity::local(None);
    local.software = Some(format!("{} {version}", request.tool.program()));
    let peer = |address| Peer { target: request.host.clone(), address, host: model::host::HostIdentity::default() };
    let (outcome, address, measurement, samples) = match told {
        Some(test) => {
            (test.outcome, test.peer.address, without_assumptions(test.measurement, &test.assumed), test.samples)
        }
        None => (unreadable(request.tool, output), None, None, RunSamples::default()),
    };
    Finished { local, peer: peer(address), outcome: judged(outcome, request, output), measurement, samples }
}

/// The test on standard output; where there is none, errors may be on the other one. As in a terminal, the command
/// stands before: nuttcp does not print the direction.
fn told(command: &[String], output: &Output) -> Option<Imported> {
    let prompt = format!("$ {}\n", command.join(" "));
    let first = |parts: &[&[u8]]| import::read(&parts.concat()).tests.into_iter().next();
    first(&[prompt.as_bytes(), &output.stdout])
        .or_else(|| first(&[prompt.as_bytes(), &output.stdout, b"\n", &output.stderr]))
}

/// What an output alone leaves to assumption is known to whoever ran the tool.
fn without_assumptions(measurement: Option<Measurement>, assumed: &[String]) -> Option<Measurement> {
    let mut measurement = measurement?;
    measurement.anomalies.retain(|note| !assumed.contains(note));
    Some(measurement)
}

fn unreadable(tool: Tool, output: &Output) -> Outcome {
    let said = [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned());
    let said = said.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| "it printed nothing".to_owned());
    let first = said.lines().next().unwrap_or_default();
    Outcome::Failed(Failure {
        kind: FailureKind::Local,
        detail: format!("{} printed no result: {first}", tool.program()),
    })
}

/// The program's end corrects its words: an iperf3 before 3.14 ends with 0 though it failed, and what ends a program
/// early is known only here.
fn judged(outcome: Outcome, request: &ToolRequest, output: &Output) -> Outcome {
    let program = request.tool.program();
    let failed = |kind, detail: String| Outcome::Failed(Failure { kind, detail });
    match (&output.ended, outcome) {
        (Ended::Stopped, _) => failed(FailureKind::Interrupted, "stopped by the user".to_owned()),
        (Ended::Overdue, _) => {
            failed(FailureKind::Lost, format!("{program} did not end within {}", show(time_limit(&request.spec))))
        }
        (Ended::By(status), Outcome::Complete) if !status.success() => {
            failed(FailureKind::Lost, format!("{program} ended with {status}"))
        }
        (Ended::By(_), outcome) => outcome,
    }
}

/// How long the program may take.
fn time_limit(spec: &TestSpec) -> Duration {
    /// For connecting, for data under way at the end, and for a machine that is busy.
    const GRACE: Duration = Duration::from_secs(60);
    /// For an amount, which takes as long as it takes.
    const AMOUNT: Duration = Duration::from_secs(6 * 3_600);
    let test = match spec.limit {
        Limit::Time(time) => time,
        Limit::Bytes(_) | Limit::Blocks(_) => AMOUNT,
    };
    test.saturating_add(spec.omit).saturating_add(spec.connect_timeout).saturating_add(GRACE)
}

/// A program's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 3 of 3.12.
    pub major: u32,
    /// 12 of 3.12.
    pub minor: u32,
    /// 2 of 6.1.2; zero where there is none.
    pub patch: u32,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.patch > 0 { write!(f, ".{}", self.patch) } else { Ok(()) }
    }
}
