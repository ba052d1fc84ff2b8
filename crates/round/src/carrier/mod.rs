//! How a program is started at a host.
//!
//! * [`Carrier`]: what all ways have in common
//! * [`Here`]: this machine, as this process sees it
//! * [`Within`]: a network namespace of this machine
//! * [`Ssh`]: another machine, by the system's `ssh`
//!
//! The lab's hosts are another one, which the lab knows.

mod guard;
mod ssh;
mod within;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

pub use ssh::Ssh;
pub use within::Within;

use crate::clock::{Clock, SystemClock};
use crate::process::{OfThisMachine, Process};

/// A way to start programs at a host.
pub trait Carrier: fmt::Debug + Send + Sync {
    /// Starts a program there. The process that is returned stands for it here: it prints what the program prints, ends
    /// as it ends, and the program does not outlive it. Where its input is a pipe, the program is asked to end by closing
    /// that; else by `SIGTERM`.
    ///
    /// # Errors
    /// Where nothing can be started: the program is not there, or the host cannot be entered.
    fn start(&self, call: &Call<'_>) -> io::Result<Child>;

    /// Where that is, for people: `ssh measure@dtn`, `namespace red`.
    fn place(&self) -> String;

    /// The same program as what is listened to.
    ///
    /// # Errors
    /// As [`Carrier::start`].
    fn process(&self, call: &Call<'_>) -> io::Result<Box<dyn Process>> {
        Ok(Box::new(OfThisMachine::new(self.start(call)?)?))
    }

    /// The clocks by which programs there are waited for.
    fn clock(&self) -> &dyn Clock {
        &SystemClock
    }
}

/// A program to start.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Its name or path, as it is at the host.
    pub program: &'a OsStr,
    /// What it is told.
    pub arguments: &'a [OsString],
    /// Where its talk goes.
    pub voice: Voice,
}

/// Where the talk of a program goes, which is its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Voice {
    /// To the standard error of this process, as progress on a terminal.
    Progress,
    /// Into its results, for whoever asks why it failed.
    #[default]
    Silent,
}

impl Call<'_> {
    /// Starts it by `shell`, which is [`SHELL`] as this machine starts it at the host, without arguments and pipes. The
    /// program ends when its input closes: also where this process is killed, nothing stays behind.
    ///
    /// # Errors
    /// What starting a process gives; a program that is not there ends with 127.
    pub fn spawn(&self, shell: &mut Command) -> io::Result<Child> {
        shell.args(["-c", guard::SCRIPT, "linerate"]).arg(self.program).args(self.arguments).stdin(Stdio::piped());
        self.listen(shell).spawn()
    }

    /// The pipes by which it is heard. Ctrl-C reaches the process that leads alone, so that the program hears of it once,
    /// in good order.
    fn listen<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let voice = if self.voice == Voice::Progress { Stdio::inherit() } else { Stdio::piped() };
        command.stdout(Stdio::piped()).stderr(voice).process_group(0)
    }
}

/// What starts programs at hosts of this machine (POSIX).
pub const SHELL: &str = "sh";

/// This machine, as this process sees it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Here;

impl Carrier for Here {
    fn start(&self, call: &Call<'_>) -> io::Result<Child> {
        call.spawn(&mut Command::new(SHELL))
    }

    fn place(&self) -> String {
        "this host".to_owned()
    }
}
