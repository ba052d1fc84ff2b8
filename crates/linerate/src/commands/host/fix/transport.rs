//! Programs on other hosts: by a command such as ssh, or in a host of a lab.

use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use lab::network::kept::running;

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
        let mut command = match &self.way {
            Way::Shell(shell) => {
                let mut line = vec![program.to_owned()];
                line.extend_from_slice(arguments);
                let mut command = Command::new(&shell[0]);
                command.args(&shell[1..]).arg(&self.name).arg(words::joined(&line));
                command
            }
            Way::Lab(place) => in_lab(place, program, arguments)?,
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().with_context(|| {
            Complaint::new(Exit::Local, format!("nothing can be started on {}", self.name))
                .hint("--ssh names the command that reaches it")
        })
    }

    /// Whether a new connection to the host can be made.
    pub fn answers(&self) -> bool {
        let ended = self.start("true", &[]).map(Child::wait_with_output);
        ended.is_ok_and(|output| output.is_ok_and(|output| output.status.success()))
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
    let (kept, host) = find::host(&running, place)?;
    let command = kept.command(host, OsStr::new(program)).ok_or_else(|| {
        Complaint::new(Exit::NotFound, format!("host `{}` of the lab `{}` is gone", host.name, kept.record.name))
    });
    let mut command = command?;
    command.args(arguments);
    Ok(command)
}
