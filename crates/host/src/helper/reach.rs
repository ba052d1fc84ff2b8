//! Finding a helper for this network namespace, or starting one as a child.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use linux::netns;

use model::host::fix::journal::Entry;

use super::client::{AskError, Client};
use super::{SYSTEM_SOCKET, default_state, own_socket};
use crate::fix::{FixError, Journal};

/// A helper that answers. One that was started for it ends once this is dropped and nothing waits to be confirmed.
#[derive(Debug)]
pub struct Reached {
    /// Where it listens; each [`Client::connect`] there is a new connection.
    pub socket: PathBuf,
    /// Keeps it.
    pub client: Client,
}

/// Why there is no helper.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// The one that was named does not answer.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// It sits in another network namespace than the caller.
    #[error("the helper at {} is of another network namespace than this process", socket.display())]
    Elsewhere {
        /// Where it listens.
        socket: PathBuf,
    },
    /// None listens, and this process may not be one itself.
    #[error("no helper listens at {SYSTEM_SOCKET}, and changing settings takes root")]
    Unprivileged,
    /// It could not be started.
    #[error("cannot start a helper")]
    Start(#[source] io::Error),
    /// It ended at once.
    #[error("the helper that was started does not answer: {said}")]
    Ended {
        /// What it said on standard error.
        said: String,
    },
}

/// The journal of this host, and files of it that cannot be read: as a helper that listens has it, else as it stands on
/// disk. No helper is started, because that would take back what an earlier one has left.
///
/// # Errors
/// Where a helper that was named does not answer, and where the journal cannot be read.
pub fn look(named: Option<&Path>) -> Result<(Vec<Entry>, Vec<String>), LookError> {
    if let Some(socket) = named {
        return Ok(Client::connect(socket)?.whole_journal()?);
    }
    let state = default_state();
    for socket in [PathBuf::from(SYSTEM_SOCKET), own_socket(&state)] {
        if let Ok(Some(mut reached)) = listening(&socket) {
            return Ok(reached.client.whole_journal()?);
        }
    }
    let (entries, unreadable) = Journal::look(&state)?;
    Ok((entries, unreadable.into_iter().map(|unreadable| unreadable.what).collect()))
}

/// Why the journal cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The helper does not answer.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The files cannot be read.
    #[error(transparent)]
    Fix(#[from] FixError),
}

/// Reaches the helper at `named`, or that of the system, or that of this user, or else starts `program` as one.
///
/// # Errors
/// See [`ReachError`].
pub fn reach(named: Option<&Path>, program: &Path) -> Result<Reached, ReachError> {
    if let Some(socket) = named {
        let mut client = Client::connect(socket)?;
        let socket = socket.to_owned();
        // What was found here would be changed there.
        if client.hello()?.namespace_inode != netns::current_inode().unwrap_or_default() {
            return Err(ReachError::Elsewhere { socket });
        }
        return Ok(Reached { socket, client });
    }
    let state = default_state();
    for socket in [PathBuf::from(SYSTEM_SOCKET), own_socket(&state)] {
        if let Some(reached) = listening(&socket)? {
            return Ok(reached);
        }
    }
    if !may_change_settings() {
        return Err(ReachError::Unprivileged);
    }
    start(program, &state)
}

/// The helper at `socket`, where one listens that works where this process is.
fn listening(socket: &Path) -> Result<Option<Reached>, ReachError> {
    let Ok(mut client) = Client::connect(socket) else { return Ok(None) };
    let greeting = match client.hello() {
        Ok(greeting) => greeting,
        // That of the system may be for others, or end at this moment.
        Err(AskError::Refused(_) | AskError::Broken(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let here = netns::current_inode().unwrap_or_default();
    Ok((greeting.namespace_inode == here).then(|| Reached { socket: socket.to_owned(), client }))
}

/// Starts `program` as a helper, whose first connection is its standard input.
fn start(program: &Path, state: &Path) -> Result<Reached, ReachError> {
    let (ours, theirs) = UnixStream::pair().map_err(ReachError::Start)?;
    let mut command = Command::new(program);
    command.args(["helper", "--started", "--state"]).arg(state);
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(ReachError::Start)?;
    // What it inherited is with the command.
    drop(command);
    let mut client = Client::over(ours).map_err(ReachError::Start)?;
    if client.hello().is_err() {
        let mut said = String::new();
        if let Some(mut errors) = child.stderr.take() {
            // A helper that is gone has said what it had to say.
            let _ = io::Read::read_to_string(&mut errors, &mut said);
        }
        let _ = child.wait();
        return Err(ReachError::Ended { said: said.trim().to_owned() });
    }
    // It outlives this process where a fix waits, so it is nobody's to wait for.
    Ok(Reached { socket: own_socket(state), client })
}

/// Whether this process has `CAP_NET_ADMIN` (include/uapi/linux/capability.h: 12).
fn may_change_settings() -> bool {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or_default();
    effective & 1 << 12 != 0
}
