//! Why a cluster cannot be run.

use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use ::gateways::cmsd::configuration::ConfigurationError;
use scenario::ScenarioError;

use crate::network::RaiseError;
use crate::relay::RelayError;

/// Why a cluster cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum GatewaysError {
    /// XRootD is not there.
    #[error("`{0}` is not installed")]
    Program(&'static str),
    /// xrootd runs under a user of its own, and only root may make processes that do.
    #[error("a cluster of gateways needs to be run as root: xrootd refuses to be root and runs as user xrootd")]
    Root,
    /// A policy that is no configuration.
    #[error("policy {policy}")]
    Policy {
        /// Which one.
        policy: &'static str,
        /// Why.
        source: ConfigurationError,
    },
    /// The network of the cluster is no network.
    #[error("the network of the cluster")]
    Scenario(#[from] ScenarioError),
    /// The network could not be made.
    #[error(transparent)]
    Raise(#[from] RaiseError),
    /// Its links could not be driven.
    #[error("the links cannot be driven")]
    Relay(#[from] RelayError),
    /// A file could not be written or read.
    #[error("{}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A process could not be started.
    #[error("{program} on host {host} does not start")]
    Start {
        /// Which program, by the name of its file.
        program: &'static str,
        /// On which host of the lab.
        host: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A process did not do what is waited for.
    #[error("{what} did not happen within {seconds} s; the last lines of its log: {log}")]
    Awaited {
        /// What was waited for.
        what: String,
        /// For how long.
        seconds: u64,
        /// What the process logged.
        log: String,
    },
    /// It was stopped from outside.
    #[error("stopped")]
    Stopped,
}

impl GatewaysError {
    /// The way out, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Program(_) => Some("`scripts/setup gateways` installs xrootd-server and xrootd-client"),
            Self::Root => Some("`sudo linerate gateways lab`"),
            Self::Policy { .. } => Some("`linerate simulate gateways --policies` says what each policy needs"),
            _ => None,
        }
    }
}

/// The programs of a cluster and of its clients.
const PROGRAMS: [&str; 4] = ["xrootd", "cmsd", "xrdcp", "xrdfs"];

/// Whether all programs are there, and the rights.
pub(super) fn check_programs() -> Result<(), GatewaysError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &&&str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if let Some(program) = PROGRAMS.iter().find(|program| !is_there(program)) {
        return Err(GatewaysError::Program(program));
    }
    // A user namespace has one user, and xrootd needs another one than root.
    if linux::namespaces::rights::outer_user() == 0 { Ok(()) } else { Err(GatewaysError::Root) }
}

/// What `cmsd -v` says.
pub(super) fn version() -> Result<String, GatewaysError> {
    let started = Command::new("cmsd").arg("-v").stdin(Stdio::null()).output();
    let output = started.map_err(|source| GatewaysError::Start { program: "cmsd", host: "here".to_owned(), source })?;
    let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}
