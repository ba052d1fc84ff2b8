//! A `linerate watch` beside what is measured.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context;

use crate::actors::Actors;

/// A watch that ends with its owner.
pub(super) struct Watch(Child);

impl Watch {
    pub(super) fn start(actors: &Actors, args: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(actors.linerate());
        command.arg("watch").args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self).context("linerate cannot be started")
    }

    /// The number of its process.
    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// What all its threads have had of the CPUs.
    pub(super) fn cpu_time(&self) -> anyhow::Result<Duration> {
        let mut nanos = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            let account = fs::read_to_string(thread?.path().join("schedstat"))?;
            nanos += account.split_whitespace().next().context("no time")?.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It fails only where the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
