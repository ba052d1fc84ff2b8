//! The hub and the agents of the demonstration: processes in hosts of its network, and what is asked of them by commands.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use lab::network::{Host, Network};
use serde::de::DeserializeOwned;

use crate::commands::scratch::ScratchDirectory;
use crate::exit::{Complaint, Exit};

/// Programs in the hosts of a network. They end with this, and with the network.
pub struct Fleet<'a> {
    network: &'a Network,
    program: &'a Path,
    scratch: &'a ScratchDirectory,
    running: Vec<Running>,
}

/// A program that goes on.
struct Running {
    host: String,
    child: Mutex<Child>,
}

/// A command for a host.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// The name of the host.
    pub host: &'a str,
    /// What `linerate` is told there.
    pub arguments: &'a [&'a str],
}

impl<'a> Fleet<'a> {
    pub fn new(network: &'a Network, program: &'a Path, scratch: &'a ScratchDirectory) -> Self {
        Self { network, program, scratch, running: Vec::new() }
    }

    /// Starts a program that goes on; what it says is in the file `HOST.log`.
    pub fn start(&mut self, at: At<'_>) -> anyhow::Result<()> {
        let log = self.log(at.host);
        let unwritable = || Complaint::new(Exit::Local, format!("cannot write {}", log.display()));
        let output = File::create(&log).with_context(unwritable)?;
        let mut command = self.command(at)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        let child = command.spawn().with_context(|| cannot(at))?;
        self.running.push(Running { host: at.host.to_owned(), child: Mutex::new(child) });
        Ok(())
    }

    /// Runs a command to its end, and returns what it prints.
    pub fn run(&self, at: At<'_>) -> anyhow::Result<String> {
        let output = self.command(at)?.stdin(Stdio::null()).output().with_context(|| cannot(at))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(anyhow::anyhow!(String::from_utf8_lossy(&output.stderr).trim().to_owned()).context(cannot(at)))
    }

    /// Runs a command that prints JSON.
    pub fn ask<T: DeserializeOwned>(&self, at: At<'_>) -> anyhow::Result<T> {
        serde_json::from_str(&self.run(at)?).with_context(|| cannot(at))
    }

    /// Whether all that was started goes on.
    pub fn check(&self) -> anyhow::Result<()> {
        for Running { host, child } in &self.running {
            let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(status) = child.try_wait().context("a program cannot be waited for")? {
                let said = std::fs::read_to_string(self.log(host)).unwrap_or_default();
                let ended = Complaint::new(Exit::Local, format!("what runs on {host} has ended: {status}"));
                return Err(anyhow::anyhow!(said.trim().to_owned()).context(ended));
            }
        }
        Ok(())
    }

    /// Has a shell of a host write a kernel setting, as a person would.
    pub fn set(&self, at: At<'_>) -> anyhow::Result<()> {
        let At { host, arguments } = at;
        let line = arguments.join(" ");
        let mut command = self.host(host)?.command("/bin/sh");
        let failed = || Complaint::new(Exit::Local, format!("`{line}` fails on {host}"));
        let status = command.args(["-c", &line]).stdin(Stdio::null()).status().with_context(failed)?;
        if status.success() { Ok(()) } else { Err(failed().into()) }
    }

    /// Where a program that goes on writes what it says.
    pub fn log(&self, host: &str) -> PathBuf {
        self.scratch.file(&format!("{host}.log"))
    }

    fn command(&self, at: At<'_>) -> anyhow::Result<Command> {
        let mut command = self.host(at.host)?.command(self.program);
        command.args(at.arguments);
        Ok(command)
    }

    fn host(&self, name: &str) -> anyhow::Result<&'a Host> {
        self.network.host(name).with_context(|| format!("the network has no host {name}"))
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        for Running { child, .. } in &mut self.running {
            let child = child.get_mut().unwrap_or_else(PoisonError::into_inner);
            // It fails only where the child has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn cannot(at: At<'_>) -> Complaint {
    Complaint::new(Exit::Local, format!("`linerate {}` fails on {}", at.arguments.join(" "), at.host))
}
