//! Programs on other hosts: by a command such as ssh, or in a host of a lab.

use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use lab::network::kept::running;
use linux::namespaces::process::{Process, start_of};

use super::words;
use crate::commands::lab::find;
use crate::exit::{Complaint, Exit};

/// A way to run programs on a host.
pub struct Transport {
    /// The host, as it was typed.
    pub name: String,
    way: Way,
}

enum Way {
    /// A command that is given the host and one line for a shell, as ssh is.
    Shell(Vec<String>),
    /// A host of a lab of this machine.
    Lab(String),
}

impl Transport {
    /// To a host by its name.
    pub fn to(name: &str, shell: &str) -> anyhow::Result<Self> {
        if let Some(place) = name.strip_prefix("lab:") {
            return Ok(Self { name: name.to_owned(), way: Way::Lab(place.to_owned()) });
        }
        let slip =
            |what: String| Complaint::new(Exit::Usage, what).hint("it is a command such as 'ssh -o BatchMode=yes'");
        let shell = words::split(shell).map_err(|what| slip(format!("--ssh: {what}")))?;
        if shell.is_empty() {
            return Err(slip("--ssh is empty".to_owned()).into());
        }
        // An ssh would take it for an option.
        if name.is_empty() || name.starts_with('-') {
            return Err(Complaint::new(Exit::Usage, format!("`{name}` is no host")).into());
        }
        Ok(Self { name: name.to_owned(), way: Way::Shell(shell) })
    }

    /// Starts a program there, with its input and output in our hands.
    pub fn start(&self, program: &str, arguments: &[String]) -> anyhow::Result<Child> {
        let mut command = self.command(program, arguments)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.spawned(&mut command)
    }

    /// Starts what was made of [`Self::command`].
    pub fn spawned(&self, command: &mut Command) -> anyhow::Result<Child> {
        command.spawn().with_context(|| {
            let shown = command.get_program().to_string_lossy();
            Complaint::new(Exit::Local, format!("cannot run `{shown}` to reach {}", self.name))
                .hint("--ssh names the command that reaches it")
        })
    }

    /// The program there, as this machine starts it.
    pub fn command(&self, program: &str, arguments: &[String]) -> anyhow::Result<Command> {
        Ok(match &self.way {
            Way::Shell(shell) => {
                let mut line = vec![program.to_owned()];
                line.extend_from_slice(arguments);
                let mut command = Command::new(&shell[0]);
                command.args(&shell[1..]).arg(&self.name).arg(foreign::shell::joined(&line));
                command
            }
            Way::Lab(place) => in_lab(place, program, arguments)?,
        })
    }

    /// Whether a new connection to the host can be made within so long; else why not, in the words of what reaches it.
    pub fn reach(&self, patience: Duration) -> Result<(), String> {
        let mut command = self.command("true", &[]).map_err(|error| format!("{error:#}"))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = self.spawned(&mut command).map_err(|error| format!("{error:#}"))?;
        let process = start_of(child.id()).and_then(|started| Process::find(child.id(), started));
        let ended = process.is_none_or(|process| process.wait(patience).unwrap_or(true));
        if !ended {
            // It fails only where it has ended just now.
            let _ = child.kill();
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        if !ended {
            return Err(format!("no connection within {}", units::duration::show(patience)));
        }
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        Err(if said.is_empty() { format!("it cannot be reached: {}", output.status) } else { said.to_owned() })
    }

    /// What this program is called there. In a lab it is this very file.
    pub fn program(&self, remote: &str) -> anyhow::Result<String> {
        match self.way {
            Way::Shell(_) => Ok(remote.to_owned()),
            Way::Lab(_) => {
                let own = std::env::current_exe().context("where this program is, is not known")?;
                Ok(own.to_string_lossy().into_owned())
            }
        }
    }
}

fn in_lab(place: &str, program: &str, arguments: &[String]) -> anyhow::Result<Command> {
    let running = running().context(Complaint::new(Exit::Local, "the labs of this user cannot be seen"))?;
    let (kept, host) = find::host(&running, place, None)?;
    let command = kept.command(host, OsStr::new(program)).ok_or_else(|| {
        Complaint::new(Exit::NotFound, format!("host `{}` of the lab `{}` is gone", host.name, kept.record.name))
    });
    let mut command = command?;
    command.args(arguments);
    Ok(command)
}
