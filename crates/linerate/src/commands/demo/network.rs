//! The network of the demonstration. It is built by iproute2, the tools that people would use by hand.

use std::process::{Command, Stdio};

use anyhow::Context;
use units::DataRate;

use crate::exit::{Complaint, Exit};

/// The device and address of the host that tests. The addresses are set aside for documentation (RFC 5737).
pub const NEAR: (&str, &str) = ("near0", "192.0.2.1");
/// The device and address of the host that serves.
pub const FAR: (&str, &str) = ("far0", "192.0.2.2");

/// Lays a cable from this namespace to that of process `far`.
pub fn lay_cable(far: u32) -> anyhow::Result<()> {
    let far = far.to_string();
    run("ip", &["link", "add", NEAR.0, "type", "veth", "peer", "name", FAR.0, "netns", &far])?;
    plug_in(NEAR)
}

/// Gives a device its address and brings it up.
pub fn plug_in((device, address): (&str, &str)) -> anyhow::Result<()> {
    run("ip", &["address", "add", &format!("{address}/30"), "dev", device])?;
    run("ip", &["link", "set", device, "up"])
}

/// Shapes what this host sends, with 50 ms of queue before the slow part.
pub fn shape(rate: DataRate) -> anyhow::Result<()> {
    let rate = format!("{}bit", rate.bps());
    run("tc", &["qdisc", "replace", "dev", NEAR.0, "root", "tbf", "rate", &rate, "burst", "256kb", "latency", "50ms"])
}

/// Fails where a tool is missing, before anything is made.
pub fn check_tools() -> anyhow::Result<()> {
    for (tool, argument) in [("ip", "-V"), ("tc", "-V")] {
        let answered = Command::new(tool).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
        answered.map(|_| ()).with_context(|| missing(tool))?;
    }
    Ok(())
}

fn run(tool: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(tool).args(arguments).output().with_context(|| missing(tool))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let command = format!("{tool} {}", arguments.join(" "));
    Err(anyhow::anyhow!(said).context(Complaint::new(Exit::Local, format!("`{command}` fails"))))
}

fn missing(tool: &str) -> Complaint {
    Complaint::new(Exit::Local, format!("`{tool}` cannot be run"))
        .hint("it comes with the package iproute2 (Fedora: iproute and iproute-tc)")
}
