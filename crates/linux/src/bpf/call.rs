//! bpf(2): commands and their attributes.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// `union bpf_attr`, zeros where nothing is said.
#[derive(Debug)]
#[repr(C, align(8))]
pub(super) struct Attributes([u8; ATTRIBUTES]);

impl Attributes {
    pub(super) fn new() -> Self {
        Self([0; ATTRIBUTES])
    }

    pub(super) fn u32(mut self, offset: usize, value: u32) -> Self {
        self.0[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    /// An address: what lies there must outlive the call.
    pub(super) fn address(mut self, offset: usize, bytes: *const u8) -> Self {
        self.0[offset..offset + 8].copy_from_slice(&(bytes as u64).to_ne_bytes());
        self
    }

    #[cfg(test)]
    pub(super) fn read_u32(&self, offset: usize) -> u32 {
        self.0.get(offset..offset + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_ne_bytes)
    }
}

/// Makes a call whose result is no file.
///
/// # Safety
/// Every address in the attributes is valid for what the command reads and writes there.
pub(super) unsafe fn command(command: Command, attributes: &mut Attributes) -> io::Result<i32> {
    // SAFETY: the attributes are as long as is said; the caller answers for the addresses in them.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command as libc::c_int, attributes.0.as_mut_ptr(), ATTRIBUTES) };
    if result < 0 { Err(io::Error::last_os_error()) } else { i32::try_from(result).map_err(io::Error::other) }
}

/// Makes a call that opens a file.
///
/// # Safety
/// As of [`command`]; the command gives a file that nobody else has.
pub(super) unsafe fn open(which: Command, mut attributes: Attributes) -> io::Result<OwnedFd> {
    // SAFETY: the caller answers for the addresses.
    let file = unsafe { command(which, &mut attributes) }?;
    // SAFETY: the kernel has just opened it for this process; bpf(2) sets close-on-exec.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// `enum bpf_cmd`.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub(super) enum Command {
    MapCreate = 0,
    ProgLoad = 5,
    #[cfg(test)]
    ProgTestRun = 10,
    LinkCreate = 28,
}

/// More than any command used here reads (Linux 6.18); older kernels accept trailing zeros.
const ATTRIBUTES: usize = 144;
