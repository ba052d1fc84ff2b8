//! The one table of exit codes. docs/exit-codes.md says the same to users, and a test holds the two together.

use std::process::ExitCode;

use archive::fault::Fault;
use model::run::{FailureKind, Outcome};

/// How a command ended, by what its user would do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Success,
    /// Something that should not happen; worth a report.
    Unexpected,
    /// The command line, or a value in it, is wrong.
    Usage,
    /// The peer does not answer, or its name does not resolve.
    Unreachable,
    /// The peer does not want this test.
    Refused,
    /// The peer is running another test, and waiting was not wanted or took too long.
    Busy,
    /// The connection broke or fell silent during the test.
    Lost,
    /// The peer broke the protocol.
    Protocol,
    /// This host cannot do it.
    Local,
    /// A run or file that was asked for is not there or not readable.
    NotFound,
    /// The audit found what costs rate, or what was compared differs.
    Found,
    /// A change was taken back.
    TakenBack,
    /// No test of a round gave a result.
    NothingMeasured,
    /// Stopped by the user.
    Interrupted,
    /// One of the monitoring system's own codes (`--nagios`).
    Nagios(u8),
    /// The code of another process of this program, which has said why.
    Passed(u8),
}

impl Exit {
    /// Every code with its meaning, in order.
    pub const TABLE: [(Self, u8, &'static str); 14] = [
        (Self::Success, 0, "done"),
        (Self::Unexpected, 1, "an internal failure, worth a report"),
        (Self::Usage, 2, "the command line, or a value in it, is wrong"),
        (Self::Unreachable, 3, "the peer does not answer, or its name does not resolve"),
        (Self::Refused, 4, "the peer does not want this test"),
        (Self::Busy, 5, "the peer is running another test, and waiting was not wanted or took too long"),
        (Self::Lost, 6, "the connection broke or fell silent during the test"),
        (Self::Protocol, 7, "the peer broke the protocol"),
        (Self::Local, 8, "this host cannot do it: a missing right, device or kernel feature, or the archive"),
        (Self::NotFound, 9, "the run or file that was asked for is not there, or not readable"),
        (Self::Found, 10, "the audit found what costs rate, or what was compared differs"),
        (Self::TakenBack, 11, "a fix was undone: no gain was proven, or nobody confirmed it"),
        (Self::NothingMeasured, 12, "no test of the round gave a result"),
        (Self::Interrupted, 130, "stopped by the user"),
    ];

    /// Exit status of the process, as docs/exit-codes.md lists it.
    pub fn code(self) -> u8 {
        if let Self::Nagios(code) | Self::Passed(code) = self {
            return code;
        }
        Self::TABLE.iter().find(|(exit, ..)| *exit == self).map_or(1, |(_, code, _)| *code)
    }

    /// How a run's outcome ends the command.
    pub fn of_outcome(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Complete => Self::Success,
            Outcome::Failed(failure) => match failure.kind {
                FailureKind::Unreachable => Self::Unreachable,
                FailureKind::Refused => Self::Refused,
                FailureKind::Busy => Self::Busy,
                FailureKind::Lost => Self::Lost,
                FailureKind::Protocol => Self::Protocol,
                FailureKind::Local => Self::Local,
                FailureKind::Interrupted => Self::Interrupted,
            },
        }
    }

    /// The code that an error carries; one that carries none is unexpected, unless the archive is its cause.
    pub fn of_error(error: &anyhow::Error) -> Self {
        let of_archive = || match error.chain().find_map(|cause| cause.downcast_ref::<Fault>()) {
            Some(fault) if fault.is_of_the_disk() => Self::Local,
            Some(Fault::Damaged(_) | Fault::Checksum { .. } | Fault::NotSqlite(_)) => Self::NotFound,
            _ => Self::Unexpected,
        };
        error.downcast_ref::<Complaint>().map_or_else(of_archive, |complaint| complaint.exit)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error with its exit code and the way out, attached to the chain of causes as its outermost link.
#[derive(Debug)]
pub struct Complaint {
    exit: Exit,
    what: String,
    hints: Vec<String>,
}

impl Complaint {
    /// A complaint about `what`.
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self { exit, what: what.into(), hints: Vec::new() }
    }

    /// Adds a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The ways out.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Complaint {}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_documentation_has_the_same_table() {
        let page = include_str!("../../../docs/exit-codes.md");
        for (_, code, meaning) in Exit::TABLE {
            assert!(
                page.contains(&format!("| {code} | {meaning} |")),
                "docs/exit-codes.md lacks | {code} | {meaning} |"
            );
        }
    }
}
