//! Records that a program in the kernel writes and this process takes (`BPF_MAP_TYPE_RINGBUF`, since Linux 5.8;
//! Documentation/bpf/ringbuf.rst).
//!
//! The file holds a page with what was taken, a page with what was written, and the records, mapped twice in a row: one that
//! goes over the end lies in one piece.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;

use rustix::mm::ProtFlags;

use super::call::{Attributes, Command, open};
use super::mapping::{FilePart, Mapping, SliceAt};
use crate::host::page_bytes;

/// A ring of records. What has no room is lost, and the program that wrote it is told so.
#[derive(Debug)]
pub(super) struct RecordRing {
    file: OwnedFd,
    taken: Mapping,
    written: Mapping,
    page: usize,
    bytes: u32,
}

impl RecordRing {
    /// With room for so many bytes: a power of two, and of whole pages.
    pub(super) fn new(bytes: u32) -> io::Result<Self> {
        // SAFETY: there is no address in the attributes.
        let file = unsafe { open(Command::MapCreate, Attributes::new().u32(0, BPF_MAP_TYPE_RINGBUF).u32(12, bytes)) }?;
        let page_length = page_bytes();
        let page = usize::try_from(page_length).map_err(io::Error::other)?;
        let records = usize::try_from(bytes).map_err(io::Error::other)?;
        let both = ProtFlags::READ | ProtFlags::WRITE;
        let taken = Mapping::new(&file, both, FilePart { offset: 0, bytes: page })?;
        let written =
            Mapping::new(&file, ProtFlags::READ, FilePart { offset: page_length, bytes: page + 2 * records })?;
        Ok(Self { file, taken, written, page, bytes })
    }

    /// The number of its file, for instructions.
    pub(super) fn number(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// Hands each record that is complete to `each`, in order, and makes room for others.
    pub(super) fn drain(&mut self, mut each: impl FnMut(&[u8])) {
        let Some((taken, written)) = self.taken.word(0).zip(self.written.word(0)) else { return };
        let mut at = taken.load(Ordering::Relaxed);
        let end = written.load(Ordering::Acquire);
        while at < end {
            let offset = self.page + usize::try_from(at & u64::from(self.bytes - 1)).unwrap_or(0);
            let Some(header) = self.written.word(offset) else { return };
            // The length, then a number of the kernel's own.
            let [b0, b1, b2, b3, ..] = header.load(Ordering::Acquire).to_ne_bytes();
            let header = u32::from_ne_bytes([b0, b1, b2, b3]);
            if header & BUSY != 0 {
                return;
            }
            let length = header & !(BUSY | DISCARDED);
            let part = SliceAt { offset: offset + HEADER, bytes: usize::try_from(length).unwrap_or(0) };
            // SAFETY: the kernel writes no complete record before it was taken.
            if let Some(record) = unsafe { self.written.slice(part) }.filter(|_| header & DISCARDED == 0) {
                each(record);
            }
            at += (u64::from(length) + HEADER as u64).next_multiple_of(8);
            taken.store(at, Ordering::Release);
        }
    }
}

const BPF_MAP_TYPE_RINGBUF: u32 = 27;
// BPF_RINGBUF_BUSY_BIT, BPF_RINGBUF_DISCARD_BIT and BPF_RINGBUF_HDR_SZ (include/uapi/linux/bpf.h)
const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
const HEADER: usize = 8;
