//! The services of a scenario, running.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;

use super::LiveError;
use crate::network::{Host, Network};
use crate::scenario::{Scenario, ServiceKind};

/// Test partners on hosts. They end with this.
#[derive(Debug)]
pub(super) struct Partners(Vec<Child>);

impl Partners {
    /// Starts a test partner where the scenario has one, and waits until all of them listen.
    pub(super) fn start(scenario: &Scenario, network: &Network, program: &Path) -> Result<Self, LiveError> {
        let mut partners = Self(Vec::new());
        let mut voices = Vec::new();
        for service in scenario.services.iter().filter(|service| matches!(service.kind, ServiceKind::Serve)) {
            let host = &network.hosts()[service.host];
            let mut child = partner(host, program, service.port).map_err(|source| trouble(host, source))?;
            voices.push((host, child.stderr.take()));
            partners.0.push(child);
        }
        for (host, voice) in voices {
            let voice = voice.ok_or_else(|| trouble(host, ErrorKind::BrokenPipe.into()))?;
            listening(voice).map_err(|source| trouble(host, source))?;
        }
        Ok(partners)
    }
}

impl Drop for Partners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It fails only where the child has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn partner(host: &Host, program: &Path, port: u16) -> io::Result<Child> {
    let mut command = host.command(program);
    command.args(["serve", "--no-archive", "--port", &port.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
}

/// Waits for the line that says so, and lets the rest go where nobody reads it.
fn listening(voice: impl io::Read + Send + 'static) -> io::Result<()> {
    let mut voice = BufReader::new(voice);
    let mut said = String::new();
    while voice.read_line(&mut said)? > 0 {
        if said.contains("listening on") {
            let drain = move || {
                let mut nowhere = File::options().write(true).open("/dev/null")?;
                io::copy(&mut voice, &mut nowhere)
            };
            thread::Builder::new().name("partner's voice".to_owned()).spawn(drain)?;
            return Ok(());
        }
    }
    Err(io::Error::other(said.trim().to_owned()))
}

fn trouble(host: &Host, source: io::Error) -> LiveError {
    LiveError::Service { service: "linerate serve", host: host.name().to_owned(), source }
}
