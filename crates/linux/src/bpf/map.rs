//! An array that a program in the kernel writes and this process reads, without a call (`BPF_F_MMAPABLE`, since Linux 5.5).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::ProtFlags;

use super::call::{Attributes, Command, open};
use super::mapping::{FilePart, Mapping, SliceAt};
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
    /// One of which this process has only to read.
    pub(super) fn new(extent: Extent) -> io::Result<Self> {
        Self::with(extent, ProtFlags::READ)
    }

    /// One that this process writes as well.
    pub(super) fn writable(extent: Extent) -> io::Result<Self> {
        Self::with(extent, ProtFlags::READ | ProtFlags::WRITE)
    }

    fn with(extent: Extent, access: ProtFlags) -> io::Result<Self> {
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
        let memory = Mapping::new(&file, access, FilePart { offset: 0, bytes })?;
        Ok(Self { file, memory, words })
    }

    /// The number of its file, for instructions.
    pub(super) fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// A word of an entry; zero beyond the end.
    pub(super) fn word(&self, place: WordAt) -> u64 {
        self.at(place).map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// Writes a word of an entry of a [`writable`](Self::writable) array, behind all reading before it.
    pub(super) fn set(&mut self, place: WordAt, value: u64) {
        if let Some(word) = self.at(place) {
            word.store(value, Ordering::Release);
        }
    }

    /// All of an entry; none beyond the end.
    ///
    /// # Safety
    /// The program does not write it while the slice lives.
    pub(super) unsafe fn entry(&self, entry: usize) -> Option<&[u8]> {
        let bytes = self.words * 8;
        // SAFETY: the caller answers for the program, and this process writes no entry as bytes.
        unsafe { self.memory.slice(SliceAt { offset: entry * bytes, bytes }) }
    }

    fn at(&self, place: WordAt) -> Option<&AtomicU64> {
        let WordAt { entry, word } = place;
        if word < self.words { self.memory.word((entry * self.words + word) * 8) } else { None }
    }
}

const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_F_MMAPABLE: u32 = 1 << 10;
