//! Why a fix is not applied, not confirmed or not taken back.

use std::io;
use std::path::PathBuf;

use linux::Reason;
use linux::netns::NetnsError;
use linux::set::SetError;
use model::host::fix::Unfit;
use model::host::fix::journal::FixId;
use model::host::fix::talk::{Refusal, RefusalKind};

/// Why a fix is not applied, not confirmed or not taken back.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    /// A step may not be tried.
    #[error("step {step}: {source}")]
    Unfit {
        /// Which, from 1.
        step: usize,
        /// Why.
        source: Unfit,
    },
    /// There is nothing to do, or too much.
    #[error("a fix has 1 to {most} steps, not {found}")]
    Count {
        /// How many steps a fix may have.
        most: usize,
        /// How many were given.
        found: usize,
    },
    /// Another fix has to be decided first.
    #[error("fix {fix} waits to be confirmed or undone")]
    Open {
        /// Which.
        fix: FixId,
    },
    /// Another helper is at work on the same journal.
    #[error("another helper is at work on {}", directory.display())]
    Locked {
        /// The directory of the journal.
        directory: PathBuf,
    },
    /// There is no such fix.
    #[error("{}", no_such(*fix))]
    NoSuchFix {
        /// Which; the last that holds where it is absent.
        fix: Option<FixId>,
    },
    /// An entry of the journal cannot be read, so it is not known what its fix has changed, nor whether it waits.
    #[error("what fix {fix} has changed is not known: {what}")]
    Unreadable {
        /// Which.
        fix: FixId,
        /// The file, and what is wrong with it.
        what: String,
    },
    /// The caller may not ask this.
    #[error("user {uid} may not ask about the network namespace {namespace}")]
    Closed {
        /// User of the process at the other end of the helper's socket, as the kernel reports it.
        uid: u32,
        /// The network namespace that a step is about, and that the policy closes to this user.
        namespace: String,
    },
    /// The fix is in another state.
    #[error("fix {fix} {how}")]
    State {
        /// Which.
        fix: FixId,
        /// How it stands.
        how: String,
    },
    /// A confirmation over the connection over which the fix was applied.
    #[error("fix {fix} is confirmed over a new connection only, so that it shows that one can be made")]
    OldConnection {
        /// Which.
        fix: FixId,
    },
    /// Somebody has changed the same settings since.
    #[error("somebody has changed since what fix {fix} had set: {}", what.join("; "))]
    Changed {
        /// Which.
        fix: FixId,
        /// What.
        what: Vec<String>,
    },
    /// A namespace cannot be entered.
    #[error(transparent)]
    Namespace(#[from] NetnsError),
    /// A namespace or device has the name of another one that was there before.
    #[error("{what} is not the one that it was")]
    Another {
        /// What.
        what: String,
    },
    /// A setting cannot be read or written.
    #[error("{}", with_source(.0))]
    Set(#[from] SetError),
    /// A file of the kernel cannot be read or written.
    #[error("{what}: {source}")]
    File {
        /// What it is.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel took a value and made another of it.
    #[error("{what} is {found}, not {wanted}: the kernel or the driver has not taken it")]
    NotTaken {
        /// What was set: a file below `/proc` or `/sys`, or the setting in words.
        what: String,
        /// What was to be.
        wanted: String,
        /// What is.
        found: String,
    },
    /// There is nothing of the kind here.
    #[error("{what}")]
    Nothing {
        /// What is missing.
        what: String,
    },
    /// A step failed; the steps before it are taken back.
    #[error("step {step} failed, and nothing is changed: {source}")]
    Step {
        /// Which, from 1.
        step: usize,
        /// Why.
        source: Box<FixError>,
    },
    /// Not all old values could be written back.
    #[error("fix {fix} is not undone in whole: {}", left.join("; "))]
    Stuck {
        /// Which.
        fix: FixId,
        /// What is not as it was.
        left: Vec<String>,
    },
    /// The journal cannot be read or written.
    #[error("cannot {what} the journal at {}: {source}", path.display())]
    Journal {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl FixError {
    /// The same as it is told to a caller.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        Refusal { kind: self.kind(), reason: self.to_string(), hints: self.hint().into_iter().collect() }
    }

    /// Whether a file of the kernel is not there.
    pub(super) fn is_absence(&self) -> bool {
        matches!(self, Self::File { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    fn kind(&self) -> RefusalKind {
        match self {
            Self::Unfit { .. } | Self::Count { .. } | Self::OldConnection { .. } => RefusalKind::Invalid,
            Self::Open { .. } | Self::Locked { .. } => RefusalKind::Busy,
            Self::NoSuchFix { .. } | Self::State { .. } | Self::Another { .. } => RefusalKind::Absent,
            Self::Changed { .. } => RefusalKind::Changed,
            Self::Stuck { .. } | Self::Unreadable { .. } => RefusalKind::Stuck,
            Self::Closed { .. } => RefusalKind::Denied,
            Self::Namespace(NetnsError::Denied { .. }) => RefusalKind::Denied,
            Self::Namespace(_) => RefusalKind::Absent,
            Self::Set(error) => of_reason(&error.reason()),
            Self::File { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => RefusalKind::Denied,
            Self::File { source, .. } if source.kind() == io::ErrorKind::NotFound => RefusalKind::Absent,
            Self::Nothing { .. } => RefusalKind::Unsupported,
            Self::Step { source, .. } => source.kind(),
            Self::File { .. } | Self::NotTaken { .. } | Self::Journal { .. } => RefusalKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Open { fix } => format!("confirm fix {fix} or undo it, or wait until it is undone by itself"),
            Self::OldConnection { .. } => "connect anew and confirm then".to_owned(),
            Self::Changed { .. } => "look what has changed; an undo that overwrites it must be asked for".to_owned(),
            Self::Locked { .. } => "ask that helper, or wait until it has ended".to_owned(),
            Self::Unreadable { .. } => {
                "compare the settings with an earlier snapshot (`linerate host diff`), then move that file away"
                    .to_owned()
            }
            Self::Closed { .. } => {
                "be root, or have the helper started with --netns and the name of that namespace".to_owned()
            }
            Self::Step { source, .. } => return source.hint(),
            _ => return None,
        })
    }
}

fn of_reason(reason: &Reason) -> RefusalKind {
    match reason {
        Reason::Unsupported => RefusalKind::Unsupported,
        Reason::Denied => RefusalKind::Denied,
        Reason::Absent => RefusalKind::Absent,
        Reason::Failed { .. } => RefusalKind::Failed,
    }
}

fn no_such(fix: Option<FixId>) -> String {
    match fix {
        Some(fix) => format!("there is no fix {fix} in the journal"),
        None => "nothing to undo: no fix of the journal holds".to_owned(),
    }
}

/// An error with what caused it, in one line.
fn with_source(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
