//! inotify(7): that a file was written to, or another put in its place, for any user.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::inotify;
use rustix::io::Errno;

use super::{FileWrite, Heard};

#[derive(Debug)]
pub(super) struct Inotify(OwnedFd);

impl Inotify {
    pub(super) fn open() -> io::Result<Self> {
        Ok(Self(inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?))
    }

    /// Watches the files of a directory, and tells the number by which events name it.
    pub(super) fn add(&self, directory: &OwnedFd) -> io::Result<i32> {
        Ok(inotify::add_watch(&self.0, place(directory), inotify::WatchFlags::MODIFY | inotify::WatchFlags::MOVED_TO)?)
    }

    /// The watch of a directory that is gone has gone with it.
    pub(super) fn remove(&self, watch: i32) {
        let _ = inotify::remove_watch(&self.0, watch);
    }

    pub(super) fn read(
        &self,
        mut each: impl FnMut(FileWrite),
        directory: impl Fn(i32) -> Option<PathBuf>,
    ) -> io::Result<Heard> {
        let mut heard = Heard::Everything;
        let mut buffer = [MaybeUninit::uninit(); BUFFER_LEN];
        let mut reader = inotify::Reader::new(&self.0, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW) => {
                    heard = Heard::NotEverything;
                }
                Ok(event) => {
                    let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
                    // One whose directory is no longer watched is of no interest any more.
                    if let (Some(name), Some(directory)) = (name, directory(event.wd())) {
                        each(FileWrite { path: directory.join(name), pid: None });
                    }
                }
                Err(Errno::AGAIN) => return Ok(heard),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl AsFd for Inotify {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The path by which the kernel finds an open file again.
pub(super) fn place(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

const BUFFER_LEN: usize = 4_096;
