//! Frames that a device receives, counted by VLAN and protocol (packet(7)).
//!
//! No byte of a frame is copied: the kernel tells VLAN and protocol beside it, and a filter in the kernel passes over
//! frames that are not asked for.
//!
//! Whoever listens changes what is counted: the kernel counts an untagged frame that nobody handles as `rx_dropped`
//! only while no packet socket listens on the device. A frame with a tag of a VLAN that the host does not have is
//! counted all the same, because the kernel gives tagged frames to listeners before it looks for the VLAN
//! (net/core/dev.c of 6.18, `__netif_receive_skb_core`).

mod filter;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use socket2::{Domain, SockAddr, SockAddrStorage, Socket, Type};

use crate::Unavailable;
use crate::bulk::Progress;
use crate::bulk::control::{self, Kind};
use crate::bulk::datagrams::{BatchShape, Datagram, ReceiveBatch, Wait};
use crate::sockets::option::{self, SocketOption};
use filter::VLAN_MASK;
pub use filter::Wanted;

/// What distinguishes frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameKind {
    /// The VLAN of its tag; none where it has no tag, 0 for one with a priority only.
    pub vlan: Option<u16>,
    /// The protocol behind the tag (EtherType), such as 0x86dd for IPv6. Below 1536 the kernel's own numbers for
    /// frames that bear a length there (include/uapi/linux/if_ether.h): 4 is 802.2.
    pub protocol: u16,
}

/// Counts frames of one device.
pub struct FrameCounter {
    socket: Socket,
    batch: ReceiveBatch,
    counts: BTreeMap<FrameKind, u64>,
    missed: u64,
}

/// What was counted since the last time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrameCounts {
    /// Frames of each kind.
    pub frames: BTreeMap<FrameKind, u64>,
    /// Frames that came faster than they were counted: of unknown kind.
    pub missed: u64,
}

impl FrameCounter {
    /// Listens on the device with this number, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// [`Denied`](crate::Reason::Denied) without `CAP_NET_RAW` over the namespace.
    pub fn open(interface: u32, wanted: &Wanted) -> Result<Self, Unavailable> {
        let open = || {
            // Protocol 0 receives nothing until it is bound, so that no frame comes in before the filter is there.
            let socket = Socket::new(Domain::PACKET, Type::DGRAM, None)?;
            socket.set_nonblocking(true)?;
            option::write_int(socket.as_fd(), PACKET_AUXDATA, 1)?;
            socket.attach_filter(&filter::program(wanted))?;
            socket.bind(&address(interface)?)?;
            Ok::<_, io::Error>(socket)
        };
        let socket = open().map_err(|error| Unavailable::because("packet socket", &error))?;
        let batch = ReceiveBatch::new(BatchShape { messages: BATCH, message_bytes: 1 });
        Ok(Self { socket, batch, counts: BTreeMap::new(), missed: 0 })
    }

    /// Counts what has come; to be called often, since the kernel keeps some thousand frames only.
    ///
    /// # Errors
    /// What `recvmmsg` gives: `ENETDOWN` where the device has gone down.
    pub fn drain(&mut self) -> io::Result<()> {
        for _ in 0..MAX_BATCHES {
            match self.batch.receive(self.socket.as_fd(), Wait::Never)? {
                Progress::Moved(_) => {}
                _ => return Ok(()),
            }
            for frame in self.batch.iter() {
                if let Some(kind) = kind_of(&frame) {
                    *self.counts.entry(kind).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    /// What was counted since the last call, after counting what has come.
    ///
    /// # Errors
    /// As [`drain`](Self::drain).
    pub fn take(&mut self) -> io::Result<FrameCounts> {
        self.drain()?;
        self.missed += missed_since(self.socket.as_fd())?;
        Ok(FrameCounts { frames: std::mem::take(&mut self.counts), missed: std::mem::take(&mut self.missed) })
    }
}

impl AsFd for FrameCounter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The kind of a received frame: from `struct sockaddr_ll`, and from `struct tpacket_auxdata` beside it.
fn kind_of(frame: &Datagram<'_>) -> Option<FrameKind> {
    let protocol = u16::from_be_bytes(frame.raw_source().get(2..4)?.try_into().ok()?);
    let auxiliary = control::messages(frame.control()).find(|(kind, _)| *kind == AUXDATA);
    let vlan = auxiliary.and_then(|(_, data)| {
        let is_tagged = control::word(data, 0)? & TP_STATUS_VLAN_VALID != 0;
        let tag = u16::from_ne_bytes(data.get(16..18)?.try_into().ok()?);
        is_tagged.then_some(tag & VLAN_MASK)
    });
    Some(FrameKind { vlan, protocol })
}

/// Packets for which a packet socket had no room since it was asked last: the kernel starts its count anew with each reading.
pub(crate) fn missed_since(socket: BorrowedFd<'_>) -> io::Result<u64> {
    // struct tpacket_stats, and the beginning of tpacket_stats_v3: packets, drops.
    let mut statistics = [0; 8];
    option::read(socket, PACKET_STATISTICS, &mut statistics)?;
    Ok(control::word(&statistics, 4).map_or(0, u64::from))
}

/// Every device of the namespace.
pub(crate) const ALL_DEVICES: u32 = 0;

/// `struct sockaddr_ll`: all protocols of one device, or of [`ALL_DEVICES`].
pub(crate) fn address(interface: u32) -> io::Result<SockAddr> {
    let interface = libc::c_int::try_from(interface).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut storage = SockAddrStorage::zeroed();
    // SAFETY: `sockaddr_ll` is an address of Linux, for which the storage has room; it holds integers only.
    let link = unsafe { storage.view_as::<libc::sockaddr_ll>() };
    link.sll_family = AF_PACKET;
    link.sll_protocol = ETH_P_ALL.to_be();
    link.sll_ifindex = interface;
    // SAFETY: the storage has been zeroed and then holds a `sockaddr_ll`, whose length this is.
    Ok(unsafe { SockAddr::new(storage, SOCKADDR_LL_LEN) })
}

/// Frames received with one call.
const BATCH: usize = 256;

/// After so many batches others get their turn.
const MAX_BATCHES: usize = 64;

// include/uapi/linux/if_packet.h, if_ether.h and include/linux/socket.h of 6.18
const AF_PACKET: libc::sa_family_t = 17;
const ETH_P_ALL: u16 = 3;
pub(crate) const SOL_PACKET: libc::c_int = 263;
const PACKET_STATISTICS: SocketOption = SocketOption { level: SOL_PACKET, name: 6 };
const PACKET_AUXDATA: SocketOption = SocketOption { level: SOL_PACKET, name: 8 };
const AUXDATA: Kind = Kind { level: SOL_PACKET, name: 8 };
const TP_STATUS_VLAN_VALID: u32 = 1 << 4;
const SOCKADDR_LL_LEN: libc::socklen_t = 20;

#[cfg(test)]
mod tests;
