//! An array that a program in the kernel writes and this process reads, without a call (`BPF_F_MMAPABLE`, since Linux 5.5).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;

use rustix::mm::ProtFlags;

use super::call::{Attributes, Command, open};
use super::mapping::{FilePart, Mapping};
use crate::host::page_bytes;

/// An array of entries of so many words of 8 bytes.
#[derive(Debug)]
pub(super) struct SharedArray {
    file: OwnedFd,
    memory: Mapping,
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
        let memory = Mapping::new(&file, ProtFlags::READ, FilePart { offset: 0, bytes })?;
        Ok(Self { file, memory, words })
    }

    /// The number of its file, for instructions.
    pub(super) fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// A word of an entry; zero beyond the end.
    pub(super) fn word(&self, place: WordAt) -> u64 {
        let WordAt { entry, word } = place;
        let found = if word < self.words { self.memory.word((entry * self.words + word) * 8) } else { None };
        found.map_or(0, |word| word.load(Ordering::Acquire))
    }
}

const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_F_MMAPABLE: u32 = 1 << 10;
