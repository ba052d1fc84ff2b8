//! What the kernel reports along with received data and finished sends, once asked to.

use std::io;
use std::os::fd::AsFd;

use super::address::family;
use super::option::{self, SocketOption};
use super::{Family, Switch};

/// Reports with each datagram how many the socket has dropped so far, once it has dropped any (`SO_RXQ_OVFL`).
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_receive_drops(fd: impl AsFd, switch: Switch) -> io::Result<()> {
    write_switch(fd, SocketOption::socket(libc::SO_RXQ_OVFL), switch)
}

/// Reports with each datagram the wall-clock time at which the kernel received it (`SO_TIMESTAMPNS`).
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_receive_time(fd: impl AsFd, switch: Switch) -> io::Result<()> {
    write_switch(fd, SocketOption::socket(libc::SO_TIMESTAMPNS), switch)
}

/// Reports with each datagram the TTL or hop limit with which it arrived (`IP_RECVTTL`, `IPV6_RECVHOPLIMIT`).
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_receive_hop_limit(fd: impl AsFd, switch: Switch) -> io::Result<()> {
    let value = libc::c_int::from(switch.is_on());
    // An IPv6 socket may carry IPv4, which has its own option.
    if family(&fd)? == Family::V6 {
        write_switch(&fd, SocketOption::ipv6(libc::IPV6_RECVHOPLIMIT), switch)?;
        return option::write_int_where_carried(fd.as_fd(), SocketOption::ip(libc::IP_RECVTTL), value);
    }
    write_switch(fd, SocketOption::ip(libc::IP_RECVTTL), switch)
}

/// Lets the kernel hand over several datagrams of a flow as one, with their size (`UDP_GRO`, since Linux 5.0).
///
/// # Errors
/// What `setsockopt` gives, such as `ENOPROTOOPT` on older kernels.
pub fn set_receive_gro(fd: impl AsFd, switch: Switch) -> io::Result<()> {
    write_switch(fd, SocketOption::udp(libc::UDP_GRO), switch)
}

/// Whether `UDP_GRO` is on.
///
/// # Errors
/// What `getsockopt` gives.
pub fn receives_gro(fd: impl AsFd) -> io::Result<Switch> {
    option::read_int(fd.as_fd(), SocketOption::udp(libc::UDP_GRO)).map(|value| Switch::from(value != 0))
}

/// Permits sends with `MSG_ZEROCOPY` (`SO_ZEROCOPY`, TCP since Linux 4.14, UDP since 5.0).
///
/// # Errors
/// What `setsockopt` gives, such as `EOPNOTSUPP` for a protocol without it.
pub fn set_zerocopy(fd: impl AsFd, switch: Switch) -> io::Result<()> {
    write_switch(fd, SocketOption::socket(libc::SO_ZEROCOPY), switch)
}

fn write_switch(fd: impl AsFd, option: SocketOption, switch: Switch) -> io::Result<()> {
    option::write_int(fd.as_fd(), option, libc::c_int::from(switch.is_on()))
}
