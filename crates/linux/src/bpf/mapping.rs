//! Memory that the kernel and this process share, as a file of the kernel offers it.

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Shared memory until it is dropped.
#[derive(Debug)]
pub(super) struct Mapping {
    place: NonNull<u8>,
    bytes: usize,
}

/// A part of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilePart {
    pub(super) offset: u64,
    pub(super) bytes: usize,
}

// SAFETY: the mapping belongs to this value alone, and what others write is reached as atomics only, or as bytes that nobody
// writes while they are read.
unsafe impl Send for Mapping {}

impl Mapping {
    pub(super) fn new(file: &OwnedFd, access: ProtFlags, part: FilePart) -> io::Result<Self> {
        let FilePart { offset, bytes } = part;
        // SAFETY: a fresh mapping at an address of the kernel's choice affects no memory in use.
        let place = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::SHARED, file, offset) }?;
        let place = NonNull::new(place.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { place, bytes })
    }

    /// A word of 8 bytes; none beyond the end, or where it would not be aligned.
    pub(super) fn word(&self, offset: usize) -> Option<&AtomicU64> {
        let is_inside = offset.checked_add(8).is_some_and(|end| end <= self.bytes) && offset.is_multiple_of(8);
        // SAFETY: the word is inside of the mapping and aligned, since a mapping begins at a page; others write it too, so it
        // is reached as an atomic.
        is_inside.then(|| unsafe { AtomicU64::from_ptr(self.place.as_ptr().add(offset).cast()) })
    }

    /// Bytes of the mapping; none beyond its end.
    ///
    /// # Safety
    /// Nobody writes them while the slice lives.
    pub(super) unsafe fn slice(&self, part: SliceAt) -> Option<&[u8]> {
        let SliceAt { offset, bytes } = part;
        let is_inside = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        // SAFETY: they are inside of the mapping, and the caller answers for who writes.
        is_inside.then(|| unsafe { std::slice::from_raw_parts(self.place.as_ptr().add(offset), bytes) })
    }
}

/// Bytes of a mapping.
#[derive(Debug, Clone, Copy)]
pub(super) struct SliceAt {
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length, and nothing refers to it any more.
        // Nothing is left to do where the kernel refuses.
        let _ = unsafe { munmap(self.place.as_ptr().cast(), self.bytes) };
    }
}
