//! The ring in which the kernel puts the events of one processor (perf_event_open(2)).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use units::MonoTime;

use super::event::TracepointEvent;
use super::records::{Record, records};
use crate::host::page_bytes;

/// A ring, and the event that fills it.
#[derive(Debug)]
pub(super) struct Ring {
    event: OwnedFd,
    map: NonNull<u8>,
    map_bytes: usize,
    /// Where the events lie: behind the first page.
    data: usize,
    /// Events that lie across the end of the ring are put together here.
    joined: Vec<u8>,
}

// SAFETY: the mapping belongs to this value alone and is reached through it only.
unsafe impl Send for Ring {}

impl Ring {
    /// Takes the events of the tracepoint with this number on one processor.
    pub(super) fn open(id: u64, cpu: usize) -> io::Result<Self> {
        let event = open_event(id, cpu)?;
        let page = usize::try_from(page_bytes()).map_err(io::Error::other)?;
        let map_bytes = page + DATA_BYTES.next_multiple_of(page);
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice affects no memory in use.
        let map = unsafe { mmap(ptr::null_mut(), map_bytes, protection, MapFlags::SHARED, &event, 0) }?;
        let map = NonNull::new(map.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { event, map, map_bytes, data: page, joined: Vec::new() })
    }

    /// Calls `each` with every event in the ring, which is empty then. Returns how many events were not kept.
    pub(super) fn drain(&mut self, each: &mut impl FnMut(TracepointEvent<'_>)) -> u64 {
        // Behind the load of the head all that lies before it may be read (the comment at `data_head`).
        let head = self.place(DATA_HEAD).load(Ordering::Acquire);
        let tail = self.place(DATA_TAIL).load(Ordering::Relaxed);
        let size = self.map_bytes - self.data;
        let length = usize::try_from(head.wrapping_sub(tail)).unwrap_or(0).min(size);
        let start = usize::try_from(tail % (size as u64)).unwrap_or(0);
        let first = length.min(size - start);
        self.joined.clear();
        // SAFETY: both parts lie in the mapping, behind its first page. The kernel writes only beyond the head, as long
        // as the tail is where it was: it is moved below, after the last use of the slices.
        let (one, other) = unsafe {
            let data = self.map.as_ptr().add(self.data);
            (slice::from_raw_parts(data.add(start), first), slice::from_raw_parts(data, length - first))
        };
        self.joined.extend_from_slice(one);
        self.joined.extend_from_slice(other);
        self.place(DATA_TAIL).store(head, Ordering::Release);
        let mut lost = 0;
        for record in records(&self.joined) {
            match record {
                Record::Event(time, bytes) => each(TracepointEvent { at: MonoTime::from_nanos(time), bytes }),
                Record::Lost(count) => lost += count,
            }
        }
        lost
    }

    /// A word of `struct perf_event_mmap_page`, which the kernel reads and writes as well.
    fn place(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page of the mapping holds the structure, so the word is inside and aligned to 8 bytes; it is
        // reached as an atomic only.
        unsafe { AtomicU64::from_ptr(self.map.as_ptr().add(offset).cast()) }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `open` with this length, and nothing refers to it any more.
        // Nothing is left to do where the kernel refuses.
        let _ = unsafe { munmap(self.map.as_ptr().cast(), self.map_bytes) };
    }
}

fn open_event(id: u64, cpu: usize) -> io::Result<OwnedFd> {
    let cpu = libc::c_int::try_from(cpu).map_err(io::Error::other)?;
    let mut attributes = [0_u8; ATTR_LEN];
    let mut put = |offset: usize, bytes: &[u8]| attributes[offset..offset + bytes.len()].copy_from_slice(bytes);
    put(0, &PERF_TYPE_TRACEPOINT.to_ne_bytes());
    put(4, &ATTR_LEN_32.to_ne_bytes());
    put(8, &id.to_ne_bytes());
    // Every event: a period of 1.
    put(16, &1_u64.to_ne_bytes());
    put(24, &(PERF_SAMPLE_TIME | PERF_SAMPLE_RAW).to_ne_bytes());
    put(40, &(FLAG_WATERMARK | FLAG_USE_CLOCKID).to_ne_bytes());
    put(48, &WAKE_AT_BYTES.to_ne_bytes());
    put(92, &libc::CLOCK_MONOTONIC.to_ne_bytes());
    // SAFETY: the kernel reads as many bytes of the attributes as they say they have; the other arguments are numbers.
    let file = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attributes.as_ptr(),
            -1 as libc::pid_t,
            cpu,
            -1 as libc::c_int,
            PERF_FLAG_FD_CLOEXEC,
        )
    };
    let file = libc::c_int::try_from(file).map_err(io::Error::other)?;
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just given this descriptor to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Room for the events of one processor: some 4,000 of 56 bytes. A power of two of pages, as the kernel wants it.
const DATA_BYTES: usize = 256 << 10;

/// With so many bytes in the ring the file can be read.
const WAKE_AT_BYTES: u32 = 64 << 10;

// include/uapi/linux/perf_event.h of 6.18
const PERF_TYPE_TRACEPOINT: u32 = 2;
const PERF_SAMPLE_TIME: u64 = 1 << 2;
const PERF_SAMPLE_RAW: u64 = 1 << 10;
const FLAG_WATERMARK: u64 = 1 << 14;
const FLAG_USE_CLOCKID: u64 = 1 << 25;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;
/// `PERF_ATTR_SIZE_VER3`: the clock of events is in this version of `struct perf_event_attr` (Linux 4.1).
const ATTR_LEN: usize = 96;
const ATTR_LEN_32: u32 = 96;
const DATA_HEAD: usize = 1024; // offsetof(struct perf_event_mmap_page, data_head)
const DATA_TAIL: usize = 1032;
