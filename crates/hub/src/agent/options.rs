//! How an agent runs.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// How an agent runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it lives.
    pub directory: PathBuf,
    /// The program of linerate on this host.
    pub program: OsString,
    /// Whether changes of this host are watched.
    pub watch: Watch,
    /// Whether rates of this host's transfers are delivered.
    pub transfers: Watch,
    /// Where numbers for Prometheus are served; nowhere where it is [`None`].
    pub metrics: Option<SocketAddr>,
}

/// Whether something of this host is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// It is.
    On,
    /// It is not: somebody else does, or nobody.
    Off,
}
