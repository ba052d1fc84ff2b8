//! A network namespace of this machine.

use std::io;
use std::process::{Child, Command};

use linux::netns::{NetnsRef, with_netns};

use super::{Call, Carrier, SHELL};

/// A network namespace of this machine. Files, names and processes are those of this process.
#[derive(Debug, Clone)]
pub struct Within(NetnsRef);

impl Within {
    /// The way into a namespace.
    #[must_use]
    pub const fn new(namespace: NetnsRef) -> Self {
        Self(namespace)
    }
}

impl Carrier for Within {
    fn start(&self, call: &Call<'_>) -> io::Result<Child> {
        // A process starts in the namespace of the thread that starts it.
        with_netns(&self.0, || call.spawn(&mut Command::new(SHELL))).map_err(io::Error::other)?
    }

    fn place(&self) -> String {
        format!("namespace {}", self.0)
    }
}
