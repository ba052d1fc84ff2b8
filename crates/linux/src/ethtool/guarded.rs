//! Memory for a kernel that decides by itself how much it writes.

use std::cell::Cell;
use std::io;
use std::ptr::{self, NonNull};
use std::slice;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// Bytes followed by so much inaccessible address space that no request of ethtool reaches its end.
///
/// `ETHTOOL_GSTRINGS` and `ETHTOOL_GSTATS` write as many entries as the device has at that moment, whatever the caller
/// has room for (net/ethtool/ioctl.c before 6.19), but never more than `S32_MAX` bytes of them. So a count that
/// grows between two requests, or a driver that lies, ends in `EFAULT` instead of in foreign memory.
pub(super) struct GuardedBuffer {
    /// `None` once it is dropped.
    mapping: Option<Mapping>,
}

thread_local! {
    /// The mapping of the last request: to map and unmap so much costs more than most requests, of which a reading of all
    /// counters makes several a device.
    static SPARE: Cell<Option<Mapping>> = const { Cell::new(None) };
}

impl GuardedBuffer {
    /// A buffer whose first [`CLEARED`] bytes are zero. What lies behind them may be left of an earlier answer.
    pub(super) fn new() -> io::Result<Self> {
        let mut mapping = match SPARE.take() {
            Some(mapping) => mapping,
            None => Mapping::new()?,
        };
        mapping.bytes_mut()[..CLEARED].fill(0);
        Ok(Self { mapping: Some(mapping) })
    }

    /// Where the kernel is to write.
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.bytes_mut().as_mut_ptr()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.mapping.as_ref().map_or(&[], Mapping::bytes)
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.mapping.as_mut().map_or(&mut [], Mapping::bytes_mut)
    }
}

impl Drop for GuardedBuffer {
    fn drop(&mut self) {
        // A thread that ends has nothing to keep it in: then it is unmapped here.
        let mapping = self.mapping.take();
        let _ = SPARE.try_with(|spare| spare.set(mapping));
    }
}

struct Mapping {
    start: NonNull<u8>,
}

impl Mapping {
    fn new() -> io::Result<Self> {
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice affects no memory in use.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), RESERVED, ProtFlags::empty(), MapFlags::PRIVATE) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapping = Self { start };
        // SAFETY: the range is the beginning of the mapping just made, to which there is no reference.
        unsafe { mprotect(start.as_ptr().cast(), WRITABLE, MprotectFlags::READ | MprotectFlags::WRITE) }?;
        Ok(mapping)
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the first `WRITABLE` bytes are mapped and readable, and nothing writes them while `self` is borrowed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), WRITABLE) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the first `WRITABLE` bytes are mapped and writable, and `self` is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), WRITABLE) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and whole, and whoever drops it holds no reference into it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), RESERVED) };
    }
}

/// More than the kernel reads of a request that does not say how long it is.
const CLEARED: usize = 4096;

/// Room for what is read: as many statistics as the largest drivers have, ten times over, with their names.
const WRITABLE: usize = 1 << 20;

/// `S32_MAX` bytes of entries, a header, and some.
const RESERVED: usize = (1 << 31) + WRITABLE;
