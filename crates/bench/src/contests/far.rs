//! A second network namespace beside that of the bench, with an address that this one reaches.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};

/// Addresses set aside for benchmarks (RFC 2544).
pub(super) const NEAR: (&str, &str) = ("near0", "198.18.0.1");
pub(super) const FAR: (&str, &str) = ("far0", "198.18.0.2");

/// A process that keeps the other namespace.
pub(super) struct Far(Child);

impl Far {
    /// A namespace with nothing in it but the loopback device.
    pub(super) fn start() -> anyhow::Result<Self> {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let child = linux::netns::isolate(&mut command).spawn().context("the second namespace cannot be made")?;
        Ok(Self(child))
    }

    /// The process that keeps it.
    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Gives the device of each namespace its address, and brings it up.
    pub(super) fn address_both(&self) -> anyhow::Result<()> {
        let pid = self.id().to_string();
        let there = ["--target", &pid, "--user", "--net", "--preserve-credentials", "ip"];
        for ((device, address), program, before) in [(NEAR, "ip", &[][..]), (FAR, "nsenter", &there[..])] {
            tool(program, &[before, &["address", "add", &format!("{address}/30"), "dev", device]].concat())?;
            tool(program, &[before, &["link", "set", device, "up"]].concat())?;
        }
        Ok(())
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program that is to succeed.
pub(super) fn tool(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("`{program}` cannot be started"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{program} {}` fails: {}", arguments.join(" "), said.trim());
    Ok(())
}
