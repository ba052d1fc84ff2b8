//! fanotify(7): who wrote to a file. Takes `CAP_SYS_ADMIN` outside of any user namespace.

use std::ffi::CString;
use std::fs;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::{FileWrite, Heard};

/// A group of marks with its queue, which holds as much as the kernel allows (`fs.fanotify.max_queued_events`).
#[derive(Debug)]
pub(super) struct Fanotify(OwnedFd);

impl Fanotify {
    pub(super) fn open() -> io::Result<Self> {
        let files = u32::try_from(libc::O_RDONLY | libc::O_CLOEXEC | libc::O_LARGEFILE | libc::O_NONBLOCK);
        let flags = libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK;
        // SAFETY: takes two numbers and returns a file or -1.
        let file = unsafe { libc::fanotify_init(flags, files.unwrap_or_default()) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just opened the file for this process, and nobody else has it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(file) }))
    }

    /// Marks the directory for writes to the files in it.
    pub(super) fn mark(&self, directory: &OwnedFd) -> io::Result<()> {
        self.change(libc::FAN_MARK_ADD, directory)
    }

    /// The mark of a directory that is gone has gone with it.
    pub(super) fn unmark(&self, directory: &OwnedFd) {
        let _ = self.change(libc::FAN_MARK_REMOVE, directory);
    }

    fn change(&self, how: libc::c_uint, directory: &OwnedFd) -> io::Result<()> {
        let path = CString::new(super::inotify::place(directory)).map_err(io::Error::other)?;
        let mask = libc::FAN_MODIFY | libc::FAN_EVENT_ON_CHILD;
        // SAFETY: the path ends with a zero and lives through the call; the file is open.
        let outcome = unsafe { libc::fanotify_mark(self.0.as_raw_fd(), how, mask, libc::AT_FDCWD, path.as_ptr()) };
        if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    pub(super) fn read(&self, mut each: impl FnMut(FileWrite)) -> io::Result<Heard> {
        let mut heard = Heard::Everything;
        let mut buffer = [0; BUFFER_LEN];
        loop {
            let length = match rustix::io::read(&self.0, &mut buffer) {
                Ok(0) => return Ok(heard),
                Ok(length) => length,
                Err(rustix::io::Errno::AGAIN) => return Ok(heard),
                Err(rustix::io::Errno::INTR) => continue,
                // The file of an event could not be opened: this one event is lost.
                Err(rustix::io::Errno::NFILE | rustix::io::Errno::MFILE | rustix::io::Errno::ACCESS) => {
                    return Ok(Heard::NotEverything);
                }
                Err(errno) => return Err(errno.into()),
            };
            for event in buffer[..length].chunks_exact(EVENT_LEN) {
                match one(event) {
                    Some(write) => each(write),
                    None => heard = Heard::NotEverything,
                }
            }
        }
    }
}

impl AsFd for Fanotify {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// One event; `None` for the one that says that others were lost.
fn one(event: &[u8]) -> Option<FileWrite> {
    let word = |offset: usize| event.get(offset..)?.first_chunk().copied().map(i32::from_ne_bytes);
    let (file, pid) = (word(FD)?, word(PID)?);
    if file < 0 {
        return None;
    }
    // SAFETY: the kernel opened the file for whoever reads the event, which is done once.
    let file = unsafe { OwnedFd::from_raw_fd(file) };
    let path = fs::read_link(super::inotify::place(&file)).ok()?;
    // 0 where the writer is in another namespace of processes, and cannot be seen from here.
    Some(FileWrite { path, pid: u32::try_from(pid).ok().filter(|&pid| pid != 0) })
}

/// Each event has nothing behind its fixed part: no file handles were asked for.
const EVENT_LEN: usize = size_of::<libc::fanotify_event_metadata>();
const BUFFER_LEN: usize = 64 * EVENT_LEN;

// `struct fanotify_event_metadata`, include/uapi/linux/fanotify.h
const FD: usize = 16;
const PID: usize = 20;
const _: () = assert!(EVENT_LEN == 24, "the layout that the offsets are of");
