//! TAP devices: network devices whose cable is a file descriptor.
//!
//! What the kernel sends over the device is read here, frame by frame, and what is written here it receives. With the
//! offloads that [`Tap::open`] asks for, a frame is up to 64 KB and says in a [`FrameHeader`] how it is to be cut
//! (Documentation/networking/tuntap.rst).

mod header;

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};

use crate::netlink::{Netlink, NetlinkError, Request, attributes};

pub use header::{ChecksumPlace, FrameHeader, Segmentation, SegmentationKind};

/// A TAP device of ours. It is there as long as this is: it is not persistent, so it ends with the process at the
/// latest.
#[derive(Debug)]
pub struct Tap {
    file: OwnedFd,
    name: String,
    index: u32,
    netlink: Mutex<Netlink>,
}

impl Tap {
    /// Makes the device `name` in the network namespace of the calling thread, down, with every offload that the kernel
    /// has: checksums, segmentation of TCP, and of UDP since Linux 6.2.
    ///
    /// # Errors
    /// See [`TapError`].
    pub fn open(name: &str) -> Result<Self, TapError> {
        let failed = |step| move |source: io::Error| TapError::Failed { device: name.to_owned(), step, source };
        let file = open(DEVICE, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
        let file = file.map_err(|errno| TapError::NoDriver { source: errno.into() })?;
        let mut request = named(name).ok_or_else(|| TapError::BadName { device: name.to_owned() })?;
        request.ifr_ifru.ifru_flags = KIND.cast_signed();
        // SAFETY: `request` is a device request with a terminated name, which the kernel reads and writes.
        let made = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw mut request) };
        if made < 0 {
            let source = io::Error::last_os_error();
            return Err(match Errno::from_io_error(&source) {
                Some(Errno::PERM) => TapError::Denied { device: name.to_owned(), source },
                Some(Errno::BUSY | Errno::EXIST) => TapError::Exists { device: name.to_owned(), source },
                _ => failed("TUNSETIFF")(source),
            });
        }
        offload(file.as_fd()).map_err(failed("TUNSETOFFLOAD"))?;
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
            .map_err(|errno| failed("opening a socket")(errno.into()))?;
        let index = netdevice::name_to_index(&socket, name);
        let index = index.map_err(|errno| failed("reading its index")(errno.into()))?;
        let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)
            .map_err(|error| failed("netlink")(io::Error::other(error)))?;
        lengthen_queue(&mut netlink, index).map_err(|error| failed("IFLA_TXQLEN")(io::Error::other(error)))?;
        Ok(Self { file, name: name.to_owned(), index, netlink: Mutex::new(netlink) })
    }

    /// Interface name in the namespace in which it was made.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes the next frame that the kernel sends, with its [`FrameHeader`] before it, and returns the length of both.
    /// What does not fit into `buffer` is cut: [`LONGEST`] bytes hold every frame.
    ///
    /// # Errors
    /// `EAGAIN` where there is none, and what else `read` gives.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.file, buffer)?)
    }

    /// Has the kernel receive the frame that lies in `parts`, with its [`FrameHeader`] before it.
    ///
    /// # Errors
    /// `EIO` where the device is down, `EINVAL` for a frame that cannot be, and what else `writev` gives.
    pub fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        match parts {
            [whole] => rustix::io::write(&self.file, whole)?,
            parts => rustix::io::writev(&self.file, parts)?,
        };
        Ok(())
    }

    /// How many frames the kernel wanted to send and dropped, since nobody had read those before.
    ///
    /// # Errors
    /// Why the kernel gave no answer, or one that cannot be read.
    pub fn unread(&self) -> Result<u64, NetlinkError> {
        let mut request = Request::new(&[0; IFINFOMSG_LEN]);
        request.set_u32(IFINFOMSG_INDEX, self.index);
        let mut netlink = self.netlink.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(netlink.get(RTM_GETLINK, request.bytes(), dropped_unread)?.unwrap_or_default())
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Why there is no TAP device.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// The kernel has no such devices, or this process may not ask for them.
    #[error("cannot open {DEVICE}")]
    NoDriver {
        /// What the kernel said.
        source: io::Error,
    },
    /// No device can have this name.
    #[error("{device:?} is no name of a device: 1 to 15 bytes, without slash, colon and space")]
    BadName {
        /// Name as it was given.
        device: String,
    },
    /// The namespace has such a device.
    #[error("the device {device} exists already")]
    Exists {
        /// Name that another device of the namespace has.
        device: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The process may not make devices.
    #[error("the device {device} cannot be made without CAP_NET_ADMIN over the network namespace")]
    Denied {
        /// Name that was asked for.
        device: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// Anything else.
    #[error("the device {device} cannot be made: {step} failed")]
    Failed {
        /// Name that was asked for.
        device: String,
        /// What was tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

/// The largest frame with its [`FrameHeader`]: an IP packet of 65,535 bytes behind an Ethernet header with two VLAN
/// tags.
pub const LONGEST: usize = FrameHeader::LEN + 14 + 8 + 65_535;

/// How many frames may wait to be read. The driver drops what comes on top, so a reader that the scheduler keeps
/// away for some milliseconds needs more than the 500 there are by default (drivers/net/tun.c `TUN_READQ_SIZE`).
pub const QUEUE_FRAMES: u32 = 10_000;

/// A request about the device; `None` for what is no name.
fn named(name: &str) -> Option<libc::ifreq> {
    // net/core/dev.c dev_valid_name
    let valid = (1..libc::IFNAMSIZ).contains(&name.len()) && name != "." && name != "..";
    if !valid || name.contains(|c: char| c == '/' || c == ':' || c == '\0' || c == '%' || c.is_ascii_whitespace()) {
        return None;
    }
    // SAFETY: `ifreq` is a name and a union of integers and pointers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    for (stored, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *stored = byte.cast_signed() as libc::c_char;
    }
    Some(request)
}

/// Takes frames that are not cut and not summed yet, of every kind that this kernel knows.
fn offload(file: BorrowedFd<'_>) -> io::Result<()> {
    let tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
    let udp = tcp | TUN_F_USO4 | TUN_F_USO6;
    for features in [udp, tcp] {
        // SAFETY: the argument of this request is a number.
        if unsafe { libc::ioctl(file.as_raw_fd(), TUNSETOFFLOAD, features) } == 0 {
            return Ok(());
        }
    }
    Err(io::Error::last_os_error())
}

fn lengthen_queue(netlink: &mut Netlink, index: u32) -> Result<(), NetlinkError> {
    let mut request = Request::new(&[0; IFINFOMSG_LEN]);
    request.set_u32(IFINFOMSG_INDEX, index).put_u32(IFLA_TXQLEN, QUEUE_FRAMES);
    netlink.change(RTM_SETLINK, 0, request.bytes())
}

fn dropped_unread(message: &[u8]) -> Result<u64, NetlinkError> {
    for attribute in attributes(message, IFINFOMSG_LEN) {
        let attribute = attribute?;
        if attribute.kind == IFLA_STATS64 {
            let field = attribute.value.get(TX_DROPPED..).and_then(|rest| rest.first_chunk());
            let malformed = NetlinkError::Malformed { offset: IFINFOMSG_LEN, reason: "counters that are cut short" };
            return field.copied().map(u64::from_ne_bytes).ok_or(malformed);
        }
    }
    Ok(0)
}

const DEVICE: &str = "/dev/net/tun";

// include/uapi/linux/if_tun.h of 6.18
const IFF_TAP: u16 = 0x0002;
const IFF_NO_PI: u16 = 0x1000;
const IFF_VNET_HDR: u16 = 0x4000;
const IFF_TUN_EXCL: u16 = 0x8000;
const KIND: u16 = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_TUN_EXCL;
const TUNSETIFF: libc::Ioctl = libc::_IOW::<libc::c_int>(b'T' as u32, 202);
const TUNSETOFFLOAD: libc::Ioctl = libc::_IOW::<libc::c_uint>(b'T' as u32, 208);
const TUN_F_CSUM: libc::c_ulong = 0x01;
const TUN_F_TSO4: libc::c_ulong = 0x02;
const TUN_F_TSO6: libc::c_ulong = 0x04;
const TUN_F_TSO_ECN: libc::c_ulong = 0x08;
const TUN_F_USO4: libc::c_ulong = 0x20;
const TUN_F_USO6: libc::c_ulong = 0x40;

// include/uapi/linux/rtnetlink.h and if_link.h of 6.18
const RTM_GETLINK: u16 = 18;
const RTM_SETLINK: u16 = 19;
const IFINFOMSG_LEN: usize = 16;
const IFINFOMSG_INDEX: usize = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_STATS64: u16 = 23;
const TX_DROPPED: usize = 7 * size_of::<u64>();

#[cfg(test)]
mod tests;
