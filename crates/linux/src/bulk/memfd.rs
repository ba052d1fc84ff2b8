//! A file in memory whose pages `sendfile` hands to a socket without a copy.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create, sendfile};

use super::{Progress, attempt_until_end};

/// A file that exists in memory only and never changes again.
#[derive(Debug)]
pub struct Memfd {
    file: OwnedFd,
    len: u64,
}

impl Memfd {
    /// A file that holds `content`, sealed against change.
    ///
    /// # Errors
    /// What creating, filling or sealing it gives.
    pub fn filled(content: &[u8]) -> io::Result<Self> {
        let descriptor = memfd_create("linerate-payload", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let mut file = File::from(descriptor);
        file.write_all(content)?;
        let file = OwnedFd::from(file);
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Self { file, len: content.len() as u64 })
    }

    /// Bytes in the file.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sends up to `count` bytes from `offset` on to the socket `out` (`sendfile`). [`Progress::EndOfStream`] where
    /// the file has none there.
    ///
    /// A closed peer raises `SIGPIPE`, which programs in Rust ignore unless they ask for it.
    ///
    /// # Errors
    /// What `sendfile` gives, except for what [`Progress`] holds.
    pub fn send(&self, out: BorrowedFd<'_>, offset: u64, count: usize) -> io::Result<Progress> {
        attempt_until_end(|| {
            let mut position = offset;
            sendfile(out, &self.file, Some(&mut position), count)
        })
    }
}

impl AsFd for Memfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
