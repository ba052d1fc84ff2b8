//! Reaching the privileged helper.

use std::path::PathBuf;

use anyhow::Context;
use host::helper::{Client, ReachError, Reached, reach};

use crate::exit::{Complaint, Exit};

/// A helper that answers. Where it was started for this command, it ends with it.
pub struct Helper(Reached);

impl Helper {
    /// The helper at this socket, that of the system, or one of our own.
    pub fn reach(socket: Option<&PathBuf>) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("where this program is, is not known")?;
        reach(socket.map(PathBuf::as_path), &program).map(Self).map_err(complain)
    }

    /// A new connection to it.
    pub fn connect(&self) -> anyhow::Result<Client> {
        Client::connect(&self.0.socket).context(Complaint::new(Exit::Local, "the helper does not answer any more"))
    }
}

fn complain(error: ReachError) -> anyhow::Error {
    let complaint = Complaint::new(Exit::Local, "settings cannot be changed here");
    let complaint = match &error {
        ReachError::Unprivileged => {
            complaint.hint("run the command as root, or have root run `linerate helper --group GROUP` for your group")
        }
        ReachError::Ask(_) => complaint.hint("`linerate helper --socket FILE` listens there"),
        ReachError::Elsewhere { .. } => complaint.hint("run `linerate helper` in this network namespace"),
        ReachError::Start(_) | ReachError::Ended { .. } => complaint,
    };
    anyhow::Error::from(error).context(complaint)
}
