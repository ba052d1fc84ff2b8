//! An array that a program in the kernel writes and this process reads, without a call (`BPF_F_MMAPABLE`, since Linux 5.5).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::call::{Attributes, Command, open};
use crate::host::page_bytes;

/// An array of entries of so many words of 8 bytes.
#[derive(Debug)]
pub(super) struct SharedArray {
    file: OwnedFd,
    place: NonNull<u8>,
    bytes: usize,
    words: usize,
}

/// How large an array is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) entries: u32,
    /// Words of 8 bytes in an entry.
    pub(super) words: u32,
}

/// A word of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordAt {
    pub(super) entry: usize,
    pub(super) word: usize,
}

// SAFETY: the mapping belongs to this value alone, and is reached as atomics only.
unsafe impl Send for SharedArray {}

impl SharedArray {
    pub(super) fn new(extent: Extent) -> io::Result<Self> {
        let Extent { entries, words } = extent;
        let attributes = Attributes::new()
            .u32(0, BPF_MAP_TYPE_ARRAY)
            .u32(4, 4)
            .u32(8, words * 8)
            .u32(12, entries)
            .u32(16, BPF_F_MMAPABLE);
        // SAFETY: there is no address in the attributes.
        let file = unsafe { open(Command::MapCreate, attributes) }?;
        let page = usize::try_from(page_bytes()).map_err(io::Error::other)?;
        let words = usize::try_from(words).map_err(io::Error::other)?;
        let entries = usize::try_from(entries).map_err(io::Error::other)?;
        let bytes = (entries * words * 8).next_multiple_of(page);
        // SAFETY: a fresh mapping at an address of the kernel's choice affects no memory in use.
        let place = unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, &file, 0) }?;
        let place = NonNull::new(place.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { file, place, bytes, words })
    }

    /// The number of its file, for instructions.
    pub(super) fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// A word of an entry; zero beyond the end.
    pub(super) fn word(&self, place: WordAt) -> u64 {
        let WordAt { entry, word } = place;
        let offset = (entry * self.words + word) * 8;
        if word >= self.words || offset + 8 > self.bytes {
            return 0;
        }
        // SAFETY: the word is inside of the mapping and aligned, since a mapping begins at a page; others write it too, so it
        // is read as an atomic.
        let word = unsafe { AtomicU64::from_ptr(self.place.as_ptr().add(offset).cast()) };
        word.load(Ordering::Acquire)
    }
}

impl Drop for SharedArray {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length, and nothing refers to it any more.
        // Nothing is left to do where the kernel refuses.
        let _ = unsafe { munmap(self.place.as_ptr().cast(), self.bytes) };
    }
}

const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_F_MMAPABLE: u32 = 1 << 10;
