//! Loading programs, attaching them to devices, and running them once for a test.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::call::{Attributes, Command, open};

/// Where packets pass a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hook {
    /// What a device has received, behind GRO (`BPF_TCX_INGRESS`).
    Ingress,
    /// What is about to be queued at a device, before it is cut into segments (`BPF_TCX_EGRESS`).
    Egress,
}

impl Hook {
    const fn attach_type(self) -> u32 {
        match self {
            Self::Ingress => 46,
            Self::Egress => 47,
        }
    }
}

/// A program in the kernel. It goes with its file and the links.
#[derive(Debug)]
pub(super) struct Program(OwnedFd);

/// A program at a hook of a device, until this is dropped.
#[derive(Debug)]
pub(super) struct Link(
    #[expect(dead_code, reason = "the kernel takes the program off when the file is closed")] OwnedFd,
);

/// What one run of a program gave.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TestRun {
    pub(super) returned: u32,
    /// Mean time of a run, in nanoseconds.
    pub(super) nanos: u32,
}

impl Program {
    /// Loads a classifier. What the kernel's verifier has against it is in the error.
    pub(super) fn load(instructions: &[u8], hook: Hook) -> io::Result<Self> {
        let count = u32::try_from(instructions.len() / 8).map_err(io::Error::other)?;
        let attributes = |log: Option<&mut Vec<u8>>| {
            let attributes = Attributes::new()
                .u32(0, BPF_PROG_TYPE_SCHED_CLS)
                .u32(4, count)
                .address(8, instructions.as_ptr())
                .address(16, LICENCE.as_ptr().cast())
                .u32(68, hook.attach_type());
            match log {
                None => attributes,
                Some(log) => attributes.u32(24, 1).u32(28, LOG_BYTES).address(32, log.as_mut_ptr()),
            }
        };
        // SAFETY: the instructions and the licence are read during the call only, and as long as is said.
        let error = match unsafe { open(Command::ProgLoad, attributes(None)) } {
            Ok(file) => return Ok(Self(file)),
            Err(error) => error,
        };
        if error.raw_os_error() != Some(libc::EINVAL) && error.raw_os_error() != Some(libc::EACCES) {
            return Err(error);
        }
        let mut log = vec![0; LOG_BYTES as usize];
        // SAFETY: as above, and the kernel writes no more into the log than it has been said to hold.
        match unsafe { open(Command::ProgLoad, attributes(Some(&mut log))) } {
            Ok(file) => Ok(Self(file)),
            Err(error) => {
                let words = log.split(|byte| *byte == 0).next().unwrap_or_default();
                let words = String::from_utf8_lossy(words);
                let last = words.lines().rfind(|line| !line.starts_with("processed")).unwrap_or_default();
                Err(if last.is_empty() { error } else { io::Error::other(format!("{error}: {last}")) })
            }
        }
    }

    /// Puts it at a hook of a device, behind the programs that are there (tcx, since Linux 6.6).
    pub(super) fn attach(&self, interface: u32, hook: Hook) -> io::Result<Link> {
        let program = u32::try_from(self.0.as_raw_fd()).map_err(io::Error::other)?;
        let attributes = Attributes::new().u32(0, program).u32(4, interface).u32(8, hook.attach_type());
        // SAFETY: there is no address in the attributes.
        unsafe { open(Command::LinkCreate, attributes) }.map(Link)
    }

    /// Runs it over a frame, so often.
    #[cfg(test)]
    pub(super) fn run(&self, frame: &[u8], repeat: u32) -> io::Result<TestRun> {
        let program = u32::try_from(self.0.as_raw_fd()).map_err(io::Error::other)?;
        let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
        let mut attributes =
            Attributes::new().u32(0, program).u32(8, length).address(16, frame.as_ptr()).u32(32, repeat);
        // SAFETY: the kernel reads as many bytes of the frame as is said, and writes nothing back but numbers.
        unsafe { super::call::command(Command::ProgTestRun, &mut attributes) }?;
        Ok(TestRun { returned: attributes.read_u32(4), nanos: attributes.read_u32(36) })
    }
}

const BPF_PROG_TYPE_SCHED_CLS: u32 = 3;
/// The functions used are for programs of any licence.
const LICENCE: &std::ffi::CStr = c"Apache-2.0";
const LOG_BYTES: u32 = 64 << 10;
