//! A process that may be anybody's, told from those that have its number later.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Timespec;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process, held by a descriptor: its number can be given to no other meanwhile.
#[derive(Debug)]
pub struct Process {
    pidfd: OwnedFd,
}

impl Process {
    /// The process of this number that was started at this instant; [`None`] where it has ended.
    #[must_use]
    pub fn find(number: u32, started: u64) -> Option<Self> {
        let pid = i32::try_from(number).ok().and_then(Pid::from_raw)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        (start_of(number)? == started).then_some(Self { pidfd })
    }

    /// Asks it to end (`SIGTERM`).
    ///
    /// # Errors
    /// `EPERM` where it is somebody else's. A process that has ended is no error.
    pub fn ask_to_end(&self) -> io::Result<()> {
        self.signal(Signal::TERM)
    }

    /// Ends it (`SIGKILL`).
    ///
    /// # Errors
    /// As [`ask_to_end`](Self::ask_to_end).
    pub fn kill(&self) -> io::Result<()> {
        self.signal(Signal::KILL)
    }

    /// Waits until it has ended, at most so long. Returns whether it has.
    ///
    /// # Errors
    /// What `poll` gives.
    pub fn wait(&self, patience: Duration) -> io::Result<bool> {
        let time = Timespec::try_from(patience).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut events = [PollFd::new(&self.pidfd, PollFlags::IN)];
        Ok(poll(&mut events, Some(&time))? > 0)
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(&self.pidfd, signal) {
            Err(Errno::SRCH) => Ok(()),
            outcome => Ok(outcome?),
        }
    }
}

/// Has this process belong to no terminal any more, so that nothing that happens there ends it. It does nothing for the
/// first process of a terminal.
pub fn leave_terminal() {
    // It fails only for a leader of a group, which is started by a shell and not by us.
    let _ = rustix::process::setsid();
}

/// When the process of this number was started, in ticks since the machine was; with the number it names a process for
/// as long as the machine runs. [`None`] where there is none.
#[must_use]
pub fn start_of(number: u32) -> Option<u64> {
    let line = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything; the 22nd field is the start (proc_pid_stat(5)).
    let (_, rest) = line.rsplit_once(") ")?;
    rest.split(' ').nth(22 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_is_found_by_number_and_start_and_can_be_ended() {
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let start = start_of(child.id()).unwrap();
        assert!(Process::find(child.id(), start + 1).is_none(), "another process of that number");
        let process = Process::find(child.id(), start).unwrap();
        assert!(!process.wait(Duration::ZERO).unwrap());
        process.ask_to_end().unwrap();
        assert!(process.wait(Duration::from_secs(60)).unwrap());
        child.wait().unwrap();
        process.kill().unwrap();
        assert!(Process::find(child.id(), start).is_none());
    }
}
