//! Headers of TCP packets as they pass, in a ring that the kernel shares with us (packet(7), `TPACKET_V3`).
//!
//! A filter in the kernel takes the first bytes of each packet, without link header: either those of one port on all devices
//! of the network namespace, so that nobody has to know by which one a test goes, or all of one device. What passes by several
//! devices (a bridge and its port) is there several times.

mod filter;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use socket2::{Domain, SockFilter, Socket, Type};

use crate::Unavailable;
use crate::packet_socket::{ALL_DEVICES, SOL_PACKET, address, missed_since};
use crate::sockets::option::{self, SocketOption};

/// What a packet is cut to: IPv6, TCP and all of its options have 100 bytes.
pub const SNAP_BYTES: u32 = 128;

/// Packets of one port on all devices, or of one device.
#[derive(Debug)]
pub struct PacketRing {
    socket: Socket,
    map: NonNull<u8>,
    /// The block that is read next.
    next: usize,
    missed: u64,
}

/// A packet from its IP header on.
#[derive(Debug, Clone, Copy)]
pub struct RingPacket<'a> {
    /// When the kernel saw it, in nanoseconds since 1970.
    pub time_ns: u64,
    /// Its length from the IP header on.
    pub wire_bytes: u32,
    /// Its first bytes.
    pub bytes: &'a [u8],
}

// SAFETY: the mapping belongs to this value alone and is reached through it only.
unsafe impl Send for PacketRing {}

impl PacketRing {
    /// Listens for a TCP port, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// [`Denied`](crate::Reason::Denied) without `CAP_NET_RAW` over the namespace.
    pub fn open(port: u16) -> Result<Self, Unavailable> {
        Self::try_open(&filter::program(port, SNAP_BYTES), ALL_DEVICES)
            .map_err(|error| Unavailable::because("packet socket", &error))
    }

    /// Listens for all TCP packets of the device with this number, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// [`Denied`](crate::Reason::Denied) without `CAP_NET_RAW` over the namespace.
    pub fn of_device(interface: u32) -> Result<Self, Unavailable> {
        Self::try_open(&filter::of_any_port(SNAP_BYTES), interface)
            .map_err(|error| Unavailable::because("packet socket", &error))
    }

    fn try_open(filter: &[SockFilter], interface: u32) -> io::Result<Self> {
        // Protocol 0 receives nothing until it is bound, so that no packet comes in before filter and ring are there.
        let socket = Socket::new(Domain::PACKET, Type::DGRAM, None)?;
        option::write_int(socket.as_fd(), PACKET_VERSION, TPACKET_V3)?;
        socket.attach_filter(filter)?;
        let mut request = [0_u8; 28];
        let words = [BLOCK_BYTES_32, BLOCKS_32, FRAME_BYTES, BLOCK_BYTES_32 / FRAME_BYTES * BLOCKS_32, RETIRE_MS, 0, 0];
        for (place, word) in request.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        option::write(socket.as_fd(), PACKET_RX_RING, &request)?;
        // SAFETY: a fresh mapping at an address of the kernel's choice affects no memory in use.
        let map = unsafe {
            mmap(ptr::null_mut(), MAP_BYTES, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &socket, 0)
        }?;
        let map = NonNull::new(map.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let ring = Self { socket, map, next: 0, missed: 0 };
        ring.socket.bind(&address(interface)?)?;
        Ok(ring)
    }

    /// Calls `each` with every packet of the blocks that the kernel has closed: those that are full, and those that have
    /// waited for 20 ms.
    pub fn drain(&mut self, mut each: impl FnMut(RingPacket<'_>)) {
        for _ in 0..BLOCKS {
            // Behind the load of the status all that the kernel wrote before may be read.
            if self.word(STATUS).load(Ordering::Acquire) & TP_STATUS_USER == 0 {
                return;
            }
            // SAFETY: the block lies in the mapping, and is ours until its status is given back below, after the last use.
            let block = unsafe { slice::from_raw_parts(self.block(), BLOCK_BYTES) };
            packets(block, &mut each);
            self.word(STATUS).store(TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % BLOCKS;
        }
    }

    /// Packets for which there was no room since the ring was opened.
    ///
    /// # Errors
    /// What `getsockopt` gives.
    pub fn missed(&mut self) -> io::Result<u64> {
        self.missed += missed_since(self.socket.as_fd())?;
        Ok(self.missed)
    }

    fn block(&self) -> *mut u8 {
        // SAFETY: `next` is below the number of blocks, so the place is inside the mapping.
        unsafe { self.map.as_ptr().add(self.next * BLOCK_BYTES) }
    }

    /// A word at the head of the next block, which the kernel reads and writes as well.
    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: each block begins at a page and holds more than its head, so the word is inside and aligned to 4 bytes;
        // it is reached as an atomic only.
        unsafe { AtomicU32::from_ptr(self.block().add(offset).cast()) }
    }
}

impl AsFd for PacketRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for PacketRing {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `open` with this length, and nothing refers to it any more.
        // Nothing is left to do where the kernel refuses.
        let _ = unsafe { munmap(self.map.as_ptr().cast(), MAP_BYTES) };
    }
}

/// The packets of a block, as `struct tpacket3_hdr` strings them together. What does not fit inside ends the walk.
fn packets(block: &[u8], each: &mut impl FnMut(RingPacket<'_>)) {
    let mut walk = || -> Option<()> {
        let count = word(block, PACKETS)?;
        let mut at = word(block, FIRST_PACKET)? as usize;
        for _ in 0..count {
            let head = block.get(at..)?;
            let [next, seconds, nanoseconds, stored, wire] = [0, 4, 8, 12, 16].map(|offset| word(head, offset));
            let start = usize::from(u16::from_ne_bytes(head.get(NETWORK..NETWORK + 2)?.try_into().ok()?));
            each(RingPacket {
                time_ns: u64::from(seconds?) * 1_000_000_000 + u64::from(nanoseconds?),
                wire_bytes: wire?,
                bytes: head.get(start..start + stored? as usize)?,
            });
            at += next? as usize;
        }
        Some(())
    };
    // The kernel writes whole packets; there is nothing to say where one would not be.
    let _ = walk();
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}

/// 16 MiB: some 70,000 packets, a second and more of a test at 40 Gbit/s in super-packets.
const BLOCKS: usize = 16;
const BLOCKS_32: u32 = 16;
const BLOCK_BYTES: usize = 1 << 20;
const BLOCK_BYTES_32: u32 = 1 << 20;
const MAP_BYTES: usize = BLOCKS * BLOCK_BYTES;
/// Means nothing with this version, but must divide a block.
const FRAME_BYTES: u32 = 2_048;
/// When a block that is not full is handed over.
const RETIRE_MS: u32 = 20;

// include/uapi/linux/if_packet.h of 6.18
const PACKET_RX_RING: SocketOption = SocketOption { level: SOL_PACKET, name: 5 };
const PACKET_VERSION: SocketOption = SocketOption { level: SOL_PACKET, name: 10 };
const TPACKET_V3: libc::c_int = 2;
const TP_STATUS_KERNEL: u32 = 0;
const TP_STATUS_USER: u32 = 1;
/// `struct tpacket_block_desc`, with `struct tpacket_hdr_v1` behind two words.
const STATUS: usize = 8;
const PACKETS: usize = 12;
const FIRST_PACKET: usize = 16;
/// `tp_net` of `struct tpacket3_hdr`.
const NETWORK: usize = 26;

#[cfg(test)]
mod tests;
