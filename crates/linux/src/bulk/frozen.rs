//! Memory that the kernel may go on reading after a call has returned.

use std::io;
use std::ops::Deref;
use std::ptr::NonNull;
use std::slice;

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};

/// Page-aligned memory, filled once and read-only from then on.
///
/// Sends that lend pages to the kernel instead of copying them need such memory: while a segment waits to be
/// acknowledged its bytes must stay what they were. Dropping it is safe at any time, as the kernel holds on to pages
/// that it still needs.
#[derive(Debug)]
pub struct FrozenBuffer {
    start: NonNull<u8>,
    len: usize,
    mapping: Mapping,
}

// SAFETY: the memory belongs to this value alone and is read-only from the end of `new` on.
unsafe impl Send for FrozenBuffer {}
// SAFETY: as above: shared references only ever read.
unsafe impl Sync for FrozenBuffer {}

impl FrozenBuffer {
    /// Maps `len` bytes, has `fill` write them (they are zero before) and makes them read-only. Where it is 2 MiB or
    /// more it is aligned to that, and the kernel is asked to use huge pages.
    ///
    /// # Errors
    /// `InvalidInput` for no bytes, or what mapping and protecting the memory gives.
    pub fn new(len: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<Self> {
        let alignment = if len >= HUGE_PAGE { HUGE_PAGE } else { 1 };
        let mapped = len.checked_add(alignment - 1).filter(|_| len > 0).ok_or(io::ErrorKind::InvalidInput)?;
        let mapping = Mapping::new(mapped)?;
        let base = mapping.start.as_ptr();
        // SAFETY: the offset is below `alignment`, and the mapping is `alignment - 1` longer than `len`.
        let start = unsafe { mapping.start.add(base.align_offset(alignment)) };
        if alignment == HUGE_PAGE {
            // SAFETY: the range lies in the mapping, and the advice changes no content. A kernel without huge pages
            // refuses, which changes nothing but speed.
            let _ = unsafe { madvise(start.as_ptr().cast(), len, Advice::LinuxHugepage) };
        }
        // SAFETY: `len` bytes from `start` are mapped, zeroed, writable, and nothing else points to them.
        fill(unsafe { slice::from_raw_parts_mut(start.as_ptr(), len) });
        // SAFETY: the whole mapping belongs to us, and no reference to it that writes is alive.
        unsafe { mprotect(base.cast(), mapped, MprotectFlags::READ) }?;
        Ok(Self { start, len, mapping })
    }
}

impl Deref for FrozenBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        debug_assert!(self.mapping.start <= self.start, "the buffer lies in its mapping");
        // SAFETY: `len` bytes from `start` are mapped as long as `self.mapping` lives, and nothing writes them.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

/// A private anonymous mapping, unmapped when dropped.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

impl Mapping {
    fn new(len: usize) -> io::Result<Self> {
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice affects no memory in use.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and whole, and whoever drops it holds no reference into it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Size of a huge page on x86-64 and on arm64 with 4 KiB pages.
const HUGE_PAGE: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_holds_what_it_was_filled_with_and_large_ones_are_aligned() {
        for len in [1, 4096, 5000, HUGE_PAGE, 3 * HUGE_PAGE + 5] {
            let buffer = FrozenBuffer::new(len, |bytes| bytes.fill(0x5a)).unwrap();
            assert_eq!(buffer.len(), len);
            assert!(buffer.iter().all(|&byte| byte == 0x5a));
            assert!(buffer.as_ptr().addr().is_multiple_of(if len < HUGE_PAGE { 4096 } else { HUGE_PAGE }));
        }
    }

    #[test]
    fn empty_or_impossible_buffer_is_an_error() {
        assert!(FrozenBuffer::new(0, |_| ()).is_err());
        assert!(FrozenBuffer::new(usize::MAX, |_| ()).is_err());
    }
}
