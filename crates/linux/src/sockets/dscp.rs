//! The class of service (differentiated services code point) of what a socket sends.

use std::io;
use std::os::fd::AsFd;

use super::Family;
use super::address::family;
use super::option::{self, SocketOption};

/// A differentiated services code point: six bits (RFC 2474).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dscp(u8);

impl Dscp {
    /// The code point `code`.
    ///
    /// # Errors
    /// Where `code` is above 63.
    pub fn new(code: u8) -> Result<Self, DscpError> {
        if code < 64 { Ok(Self(code)) } else { Err(DscpError { code }) }
    }

    /// Its number, 0 to 63.
    #[must_use]
    pub fn code(self) -> u8 {
        self.0
    }

    fn traffic_class(self) -> libc::c_int {
        libc::c_int::from(self.0) << 2
    }

    fn of_traffic_class(class: libc::c_int) -> Self {
        let [low, ..] = class.to_le_bytes();
        Self(low >> 2)
    }
}

/// A number that is no code point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("DSCP {code} does not exist: code points are 0 to 63")]
pub struct DscpError {
    /// Number that was given: above 63, the largest of 6 bits.
    pub code: u8,
}

/// Marks what the socket sends, over IPv4 (`IP_TOS`) and IPv6 (`IPV6_TCLASS`), whichever the socket can carry.
///
/// The two ECN bits are TCP's own business and stay as they are; a UDP socket sends them as zero.
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_dscp(fd: impl AsFd, dscp: Dscp) -> io::Result<()> {
    if family(&fd)? == Family::V6 {
        option::write_int(fd.as_fd(), TCLASS, dscp.traffic_class())?;
        return option::write_int_where_carried(fd.as_fd(), TOS, dscp.traffic_class());
    }
    option::write_int(fd.as_fd(), TOS, dscp.traffic_class())
}

/// The marking of what the socket sends; of an IPv6 socket that of its IPv6 packets.
///
/// # Errors
/// What `getsockopt` gives.
pub fn dscp(fd: impl AsFd) -> io::Result<Dscp> {
    let option = match family(&fd)? {
        Family::V4 => TOS,
        Family::V6 => TCLASS,
    };
    option::read_int(fd.as_fd(), option).map(Dscp::of_traffic_class)
}

const TOS: SocketOption = SocketOption::ip(libc::IP_TOS);
const TCLASS: SocketOption = SocketOption::ipv6(libc::IPV6_TCLASS);
