//! Tests by other programs that are installed here: iperf3 and nuttcp.
//!
//! * [`run`]: from a specification to a finished test, by way of the program's own arguments and output
//! * [`arguments`]: what a specification is in a program's words, or why it cannot be said in them
//! * `process`: the program, until it ends or is ended
//!
//! Nothing is shown while the program runs: both tell their numbers reliably only at the end.

pub mod arguments;
mod process;

use std::io;
use std::time::Duration;

use linux::netns::{NetnsError, NetnsRef, NetnsRefError};
use model::measurement::Measurement;
use model::run::{Failure, FailureKind, Outcome, Peer};
use model::series::RunSamples;
use model::spec::{Limit, TestSpec};
use units::duration::show;

use crate::foreign::{self, Imported};
use crate::identity;
use crate::session::client::Finished;
use crate::stop::Stop;
use arguments::Unable;
use process::{Ended, Output};

/// A program that can run a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// iperf3, from 3.7 on.
    Iperf3,
    /// nuttcp, from 6.1 on.
    Nuttcp,
}

impl Tool {
    /// The name of the program.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Iperf3 => "iperf3",
            Self::Nuttcp => "nuttcp",
        }
    }

    /// The port of its server, where nobody says otherwise.
    #[must_use]
    pub const fn usual_port(self) -> u16 {
        match self {
            Self::Iperf3 => crate::DEFAULT_PORT,
            Self::Nuttcp => 5000,
        }
    }
}

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Errand {
    /// By which program.
    pub tool: Tool,
    /// Name or address of the peer.
    pub host: String,
    /// The peer's control port.
    pub port: u16,
    /// The test.
    pub spec: TestSpec,
}

/// A test that was run by a program.
#[derive(Debug)]
pub struct Driven {
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
        /// The program.
        program: &'static str,
    },
    /// It cannot do what was asked for.
    #[error(transparent)]
    Unable(#[from] Unable),
    /// It does not start.
    #[error("{program} cannot be started")]
    Start {
        /// The program.
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
pub fn run(errand: &Errand, stop: &Stop) -> Result<Driven, ToolError> {
    let program = errand.tool.program();
    let version = process::version(errand.tool).map_err(|source| missing_or(program, source))?;
    let command = arguments::of(errand, version)?;
    let limit = time_limit(&errand.spec);
    let start = || process::run(&command, limit, stop);
    let ended = match errand.spec.place.netns.as_deref() {
        None => start(),
        Some(netns) => linux::netns::with_netns(&NetnsRef::parse(netns)?, start)?,
    };
    let output = ended.map_err(|source| missing_or(program, source))?;
    let spec = TestSpec { sample_every: Duration::ZERO, probe_every: Duration::ZERO, ..errand.spec.clone() };
    Ok(Driven { finished: finished(errand, version, &command, &output), command, spec })
}

fn missing_or(program: &'static str, source: io::Error) -> ToolError {
    match source.kind() {
        io::ErrorKind::NotFound => ToolError::Missing { program },
        _ => ToolError::Start { program, source },
    }
}

/// What came of it, from what was printed and how the program ended.
fn finished(errand: &Errand, version: Version, command: &[String], output: &Output) -> Finished {
    let told = told(command, output);
    let mut local = identity::local(None);
    local.software = Some(format!("{} {version}", errand.tool.program()));
    let peer = |address| Peer { target: errand.host.clone(), address, host: model::host::HostIdentity::default() };
    let (outcome, address, measurement, samples) = match told {
        Some(test) => (test.outcome, test.peer.address, test.measurement, test.samples),
        None => (unreadable(errand.tool, output), None, None, RunSamples::default()),
    };
    Finished {
        local,
        peer: peer(address),
        outcome: judged(outcome, errand, output),
        measurement: measurement.map(|found| Measurement { anomalies: relevant(found.anomalies), ..found }),
        samples,
    }
}

/// The test on standard output; where there is none, errors may be on the other one. As in a terminal, the command
/// stands before: nuttcp does not print the direction.
fn told(command: &[String], output: &Output) -> Option<Imported> {
    let prompt = format!("$ {}\n", command.join(" "));
    let first = |parts: &[&[u8]]| foreign::read(&parts.concat()).tests.into_iter().next();
    first(&[prompt.as_bytes(), &output.stdout])
        .or_else(|| first(&[prompt.as_bytes(), &output.stdout, b"\n", &output.stderr]))
}

/// What is assumed of an output alone is known here.
fn relevant(anomalies: Vec<String>) -> Vec<String> {
    anomalies.into_iter().filter(|note| !note.contains("is not told; it is taken as")).collect()
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
fn judged(outcome: Outcome, errand: &Errand, output: &Output) -> Outcome {
    let program = errand.tool.program();
    let failed = |kind, detail: String| Outcome::Failed(Failure { kind, detail });
    match (&output.ended, outcome) {
        (Ended::Stopped, _) => failed(FailureKind::Interrupted, "stopped by the user".to_owned()),
        (Ended::Overdue, _) => {
            failed(FailureKind::Lost, format!("{program} did not end within {}", show(time_limit(&errand.spec))))
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
