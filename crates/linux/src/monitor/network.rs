//! What the kernel tells of a network namespace by itself: rtnetlink groups (include/uapi/linux/rtnetlink.h of 6.18) and
//! the group `monitor` of the generic netlink family `ethtool` (Documentation/networking/ethtool-netlink.rst). Both may
//! be listened to without privilege.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};

use netlink_packet_core::NetlinkBuffer;
use netlink_sys::Socket;

use super::Heard;
use super::family::multicast_group;
use crate::Unavailable;
use crate::netlink::{attributes, value};

/// Listens to one network namespace: the one in which it was opened.
#[derive(Debug)]
pub struct NetworkMonitor {
    route: Listening,
    /// Kernels before 5.6 have no such family.
    ethtool: Option<(Listening, u16)>,
}

/// Something that changed in a network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkChange {
    /// What.
    pub what: What,
    /// The netlink port of whoever asked for it, where the kernel tells.
    pub port: Option<u32>,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A device came, went or was changed.
    Device(u32),
    /// An address of a device.
    Address(u32),
    /// A route.
    Route,
    /// The queueing disciplines of a device.
    Qdisc(u32),
    /// What a driver lets be set: features, rings, channels, coalescing, pause frames.
    Driver(u32),
}

#[derive(Debug)]
struct Listening {
    socket: Socket,
    buffer: Mutex<Vec<u8>>,
}

impl NetworkMonitor {
    /// Listens to the network namespace of the calling thread, with queues in the kernel of so many bytes each.
    ///
    /// # Errors
    /// Why not.
    pub fn open(queue_bytes: usize) -> Result<Self, Unavailable> {
        let failed = |error: io::Error| Unavailable::because("changes of the network", &error);
        let route = Listening::open(netlink_sys::protocols::NETLINK_ROUTE, &ROUTE_GROUPS, queue_bytes);
        let ethtool = match multicast_group("ethtool", "monitor") {
            Ok((family, group)) => {
                let socket = Listening::open(netlink_sys::protocols::NETLINK_GENERIC, &[group], queue_bytes);
                Some((socket.map_err(failed)?, family))
            }
            Err(_) => None,
        };
        Ok(Self { route: route.map_err(failed)?, ethtool })
    }

    /// Whether drivers' settings are told of as well.
    #[must_use]
    pub fn hears_drivers(&self) -> bool {
        self.ethtool.is_some()
    }

    /// What to wait for.
    pub fn files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [Some(&self.route), self.ethtool.as_ref().map(|(listening, _)| listening)]
            .into_iter()
            .flatten()
            .map(|listening| listening.socket.as_fd())
    }

    /// Hands all that has come to `each`, without waiting.
    ///
    /// # Errors
    /// What reading gives; the loss of messages is no error but [`Heard::NotEverything`].
    pub fn read(&self, mut each: impl FnMut(NetworkChange)) -> io::Result<Heard> {
        let route = self.route.drain(|kind, port, payload| {
            if let Some(what) = of_route(kind, payload) {
                each(NetworkChange { what, port });
            }
        })?;
        let Some((ethtool, family)) = &self.ethtool else { return Ok(route) };
        let driver = ethtool.drain(|kind, _, payload| {
            if kind == *family {
                each(NetworkChange { what: What::Driver(of_driver(payload).unwrap_or_default()), port: None });
            }
        })?;
        Ok(if driver == Heard::NotEverything { driver } else { route })
    }
}

impl Listening {
    fn open(protocol: isize, groups: &[u32], queue_bytes: usize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.set_non_blocking(true)?;
        socket.set_rx_buf_sz(i32::try_from(queue_bytes).unwrap_or(i32::MAX))?;
        for group in groups {
            socket.add_membership(*group)?;
        }
        Ok(Self { socket, buffer: Mutex::new(Vec::with_capacity(BUFFER_LEN)) })
    }

    fn drain(&self, mut each: impl FnMut(u16, Option<u32>, &[u8])) -> io::Result<Heard> {
        let mut heard = Heard::Everything;
        let mut buffer = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            buffer.clear();
            match self.socket.recv_from(&mut *buffer, libc::MSG_TRUNC) {
                // Anybody may send to the port of a socket; only the kernel has the port 0.
                Ok((_, sender)) if sender.port_number() != 0 => {}
                // A message that is cut short is one that was not heard.
                Ok((length, _)) if length > buffer.len() => heard = Heard::NotEverything,
                Ok(_) => walk(&buffer, &mut each),
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => return Ok(heard),
                    Some(libc::ENOBUFS) => heard = Heard::NotEverything,
                    Some(libc::EINTR) => {}
                    _ => return Err(error),
                },
            }
        }
    }
}

/// Hands each message of a datagram on: its kind, who asked for it, and what follows the header.
fn walk(datagram: &[u8], each: &mut impl FnMut(u16, Option<u32>, &[u8])) {
    let mut rest = datagram;
    while let Ok(message) = NetlinkBuffer::new_checked(rest) {
        let port = Some(message.port_number()).filter(|&port| port != 0);
        each(message.message_type(), port, message.payload());
        let length = usize::try_from(message.length()).unwrap_or(usize::MAX);
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
}

fn of_route(kind: u16, payload: &[u8]) -> Option<What> {
    // The number of the device stands at the same place in `ifinfomsg`, `ifaddrmsg` and `tcmsg`.
    let index = value::word(payload, 4);
    match kind {
        RTM_NEWLINK | RTM_DELLINK => index.map(What::Device),
        RTM_NEWADDR | RTM_DELADDR => index.map(What::Address),
        RTM_NEWQDISC | RTM_DELQDISC | RTM_NEWTCLASS | RTM_DELTCLASS => index.map(What::Qdisc),
        // Routes of the table `local` come and go with addresses; no snapshot holds them.
        RTM_NEWROUTE | RTM_DELROUTE => (payload.get(RTM_TABLE) != Some(&RT_TABLE_LOCAL)).then_some(What::Route),
        _ => None,
    }
}

/// The device of a notification of `ethtool`: its first attribute says which.
fn of_driver(payload: &[u8]) -> Option<u32> {
    let header = attributes(payload, GENLMSGHDR_LEN).filter_map(Result::ok).find(|each| each.kind == HEADER)?;
    let index = header.nested().filter_map(Result::ok).find(|each| each.kind == HEADER_DEV_INDEX)?;
    value::u32(&index)
}

/// Of the largest messages, a device with hundreds of virtual functions, a few KiB more than this are told of as lost.
const BUFFER_LEN: usize = 64 << 10;

// include/uapi/linux/rtnetlink.h of 6.18: `enum rtnetlink_groups` and message types
const ROUTE_GROUPS: [u32; 6] = [1, 4, 5, 7, 9, 11]; // LINK, TC, IPV4_IFADDR, IPV4_ROUTE, IPV6_IFADDR, IPV6_ROUTE
const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_NEWADDR: u16 = 20;
const RTM_DELADDR: u16 = 21;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const RTM_NEWTCLASS: u16 = 40;
const RTM_DELTCLASS: u16 = 41;
/// Offset of `rtm_table` in `struct rtmsg`.
const RTM_TABLE: usize = 4;
const RT_TABLE_LOCAL: u8 = 255;

// include/uapi/linux/ethtool_netlink.h: `ETHTOOL_A_*_HEADER` is 1 in every message
const GENLMSGHDR_LEN: usize = 4;
const HEADER: u16 = 1;
const HEADER_DEV_INDEX: u16 = 1;
