//! What can go wrong in a session, and what kind of failure it is to the user.

use std::io;
use std::time::Duration;

use model::run::{Failure, FailureKind};
use units::duration::show;

use crate::connect::ConnectError;
use crate::control::ControlError;
use crate::options::OptionError;
use wire::extension::{Refusal, RefusalKind};
use wire::params::ParamsError;

/// Why a session ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The peer could not be reached.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A data connection could not be opened, though the control connection could.
    #[error("data connection {stream} cannot be opened")]
    DataConnect {
        /// Number of the stream.
        stream: usize,
        /// Why.
        source: ConnectError,
    },
    /// The control connection is of no more use.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A socket option was refused by this host.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The parameters describe no test.
    #[error("the parameters describe no test")]
    Params(#[from] ParamsError),
    /// This host could not do its part.
    #[error("{what}")]
    Local {
        /// What it could not do.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The peer is busy or does not want this client; an iperf3 does not say which.
    #[error("the peer is busy with another test, or does not want this client")]
    Denied,
    /// The peer, a linerate, will not run this test.
    #[error("the peer refuses: {}", .0.detail)]
    Refused(Refusal),
    /// The peer failed and gave iperf3's error number.
    #[error("the peer reports error {code}{}", iperf3_meaning(*code))]
    ServerFailed {
        /// iperf3's number.
        code: i32,
    },
    /// The peer's counts cannot be true.
    #[error("{0}")]
    Disbelieved(String),
    /// This host, as a server, does not allow the test.
    #[error("{}", .0.detail)]
    NotAllowed(Refusal),
    /// The peer gave up.
    #[error("the peer ended the test")]
    Terminated,
    /// The queue was longer than the user's patience.
    #[error("the peer's queue did not come to this test within {}", show(*.0))]
    QueueTooLong(Duration),
    /// Datagrams do not get through.
    #[error("no answer to the first datagram of stream {stream} within {}", show(*waited))]
    NoDatagrams {
        /// Number of the stream.
        stream: usize,
        /// How long.
        waited: Duration,
    },
    /// Fewer data connections came than were announced.
    #[error("{came} of {wanted} data connections came within {}", show(*waited))]
    MissingStreams {
        /// Those that came.
        came: usize,
        /// Those announced.
        wanted: usize,
        /// How long.
        waited: Duration,
    },
    /// A data connection broke during the test.
    #[error("the data connection of stream {stream} broke")]
    StreamBroke {
        /// Number of the stream.
        stream: u32,
        /// What the kernel said.
        source: io::Error,
    },
    /// The test went on for longer than its limit.
    #[error("the test was not over after {}, the longest that is allowed", show(*.0))]
    Overran(Duration),
    /// The user stopped it.
    #[error("stopped by the user")]
    Interrupted,
}

impl SessionError {
    /// What kind of failure this is.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Option(_) | Self::Local { .. } => FailureKind::Local,
            Self::Connect(error) if error.is_local() => FailureKind::Local,
            Self::Connect(_) => FailureKind::Unreachable,
            Self::DataConnect { .. }
            | Self::NoDatagrams { .. }
            | Self::MissingStreams { .. }
            | Self::StreamBroke { .. }
            | Self::Terminated
            | Self::Overran(_) => FailureKind::Lost,
            Self::Control(ControlError::Wire(_) | ControlError::Unwritable(_))
            | Self::Params(_)
            | Self::Disbelieved(_) => FailureKind::Protocol,
            Self::Control(_) => FailureKind::Lost,
            Self::Denied | Self::QueueTooLong(_) => FailureKind::Busy,
            Self::Refused(refusal) | Self::NotAllowed(refusal) if refusal.kind == RefusalKind::Busy => {
                FailureKind::Busy
            }
            Self::Refused(_) | Self::NotAllowed(_) | Self::ServerFailed { .. } => FailureKind::Refused,
            Self::Interrupted => FailureKind::Interrupted,
        }
    }

    /// The failure as it is stored: its kind, and the chain of causes in one line.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let mut detail = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            detail.push_str(": ");
            detail.push_str(&error.to_string());
            cause = error.source();
        }
        Failure { kind: self.kind(), detail }
    }
}

/// What iperf3 means by its number (src/iperf_api.h, 3.21), for those that servers send.
fn iperf3_meaning(code: i32) -> &'static str {
    match code {
        27 => ": the total rate is over the server's limit",
        37 | 160 => ": the test is longer than the server allows",
        121 => ": the server is busy",
        123 => ": it cannot set the segment size",
        124 | 141 => ": its kernel does not give socket buffers of that size, see net.core.rmem_max and wmem_max there",
        134 => ": its kernel does not have that congestion control, or does not let it",
        142 => ": the server does not let this client in, by its address or for want of a user name and password",
        _ => "",
    }
}
