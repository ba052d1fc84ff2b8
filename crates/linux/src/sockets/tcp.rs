//! Options of TCP sockets.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use units::{ByteCount, Mss};

use super::Switch;
use super::option::{self, SocketOption};

/// Chooses the congestion control algorithm (`TCP_CONGESTION`), such as `cubic`.
///
/// # Errors
/// See [`CongestionError`].
pub fn set_congestion_control(fd: impl AsFd, algorithm: &str) -> Result<(), CongestionError> {
    let algorithm = algorithm.to_owned();
    match SockRef::from(&fd).set_tcp_congestion(algorithm.as_bytes()) {
        Ok(()) => Ok(()),
        Err(source) => Err(match source.raw_os_error() {
            Some(libc::ENOENT) => {
                CongestionError::Unknown { algorithm, available: available_congestion_controls().ok() }
            }
            Some(libc::EPERM) => CongestionError::Restricted { algorithm },
            _ => CongestionError::Refused { algorithm, source },
        }),
    }
}

/// Why a congestion control algorithm was not taken.
#[derive(Debug, thiserror::Error)]
pub enum CongestionError {
    /// The kernel has no such algorithm loaded, and could not load it.
    #[error("the kernel has no congestion control {algorithm:?} (available: {})", list(available.as_deref()))]
    Unknown {
        /// The algorithm asked for.
        algorithm: String,
        /// What `net.ipv4.tcp_available_congestion_control` lists, where it can be read.
        available: Option<Vec<String>>,
    },
    /// It exists, but `net.ipv4.tcp_allowed_congestion_control` does not list it and the process lacks `CAP_NET_ADMIN`.
    #[error("congestion control {algorithm:?} is not in net.ipv4.tcp_allowed_congestion_control")]
    Restricted {
        /// The algorithm asked for.
        algorithm: String,
    },
    /// The kernel refused for another reason, for example because the socket is not TCP.
    #[error("cannot set congestion control {algorithm:?}")]
    Refused {
        /// The algorithm asked for.
        algorithm: String,
        /// What the kernel said.
        source: io::Error,
    },
}

fn list(available: Option<&[String]>) -> String {
    available.map_or_else(|| "unknown".to_owned(), |names| names.join(" "))
}

/// The congestion control algorithm of a socket.
///
/// # Errors
/// What `getsockopt(TCP_CONGESTION)` gives.
pub fn congestion_control(fd: impl AsFd) -> io::Result<String> {
    let name = SockRef::from(&fd).tcp_congestion()?;
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}

/// The congestion control algorithms that are loaded (`net.ipv4.tcp_available_congestion_control`).
///
/// # Errors
/// What reading the file gives.
pub fn available_congestion_controls() -> io::Result<Vec<String>> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// Limits the payload of a segment (`TCP_MAXSEG`). To be set before the connection is made.
///
/// # Errors
/// `EINVAL` outside 88 to 32767 bytes (net/ipv4/tcp.c of 6.18: `TCP_MIN_MSS`, `MAX_TCP_WINDOW`).
pub fn set_max_segment(fd: impl AsFd, mss: Mss) -> io::Result<()> {
    option::write_int(fd.as_fd(), SocketOption::tcp(libc::TCP_MAXSEG), option::int_from(mss.get())?)
}

/// The payload of a segment in bytes as the kernel uses it now: without TCP options once connected. Before that it is
/// the limit set with [`set_max_segment`], or 536.
///
/// # Errors
/// What `getsockopt(TCP_MAXSEG)` gives.
pub fn max_segment(fd: impl AsFd) -> io::Result<u32> {
    SockRef::from(&fd).tcp_mss()
}

/// Sends small writes at once (`TCP_NODELAY`: Nagle's algorithm off where this is on).
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_no_delay(fd: impl AsFd, switch: Switch) -> io::Result<()> {
    SockRef::from(&fd).set_tcp_nodelay(switch.is_on())
}

/// Whether `TCP_NODELAY` is on.
///
/// # Errors
/// What `getsockopt` gives.
pub fn no_delay(fd: impl AsFd) -> io::Result<Switch> {
    SockRef::from(&fd).tcp_nodelay().map(Switch::from)
}

/// Limits how much may lie unsent in the send buffer before a writer has to wait (`TCP_NOTSENT_LOWAT`).
///
/// # Errors
/// What `setsockopt` gives; `InvalidInput` beyond 4 GiB.
pub fn set_notsent_low_water(fd: impl AsFd, limit: ByteCount) -> io::Result<()> {
    let limit = u32::try_from(limit.get()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    option::write(fd.as_fd(), SocketOption::tcp(libc::TCP_NOTSENT_LOWAT), &limit.to_ne_bytes())
}

/// The limit of [`set_notsent_low_water`]; 0 where the socket has none of its own and
/// `net.ipv4.tcp_notsent_lowat` applies.
///
/// # Errors
/// What `getsockopt` gives.
pub fn notsent_low_water(fd: impl AsFd) -> io::Result<ByteCount> {
    let mut value = [0; 4];
    option::read(fd.as_fd(), SocketOption::tcp(libc::TCP_NOTSENT_LOWAT), &mut value)?;
    Ok(ByteCount::new(u64::from(u32::from_ne_bytes(value))))
}

/// How long sent data may stay unacknowledged before the connection fails with `ETIMEDOUT` (`TCP_USER_TIMEOUT`,
/// whole milliseconds). `None` leaves it to `net.ipv4.tcp_retries2`.
///
/// # Errors
/// What `setsockopt` gives.
pub fn set_user_timeout(fd: impl AsFd, timeout: Option<Duration>) -> io::Result<()> {
    SockRef::from(&fd).set_tcp_user_timeout(timeout)
}

/// What [`set_user_timeout`] has set.
///
/// # Errors
/// What `getsockopt` gives.
pub fn user_timeout(fd: impl AsFd) -> io::Result<Option<Duration>> {
    SockRef::from(&fd).tcp_user_timeout()
}

/// Probes of a silent connection. The kernel takes whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive {
    /// Silence before the first probe (`TCP_KEEPIDLE`).
    pub idle: Duration,
    /// Time between probes (`TCP_KEEPINTVL`).
    pub interval: Duration,
    /// Unanswered probes after which the connection fails (`TCP_KEEPCNT`).
    pub probes: u32,
}

/// Probes a silent connection, or not (`SO_KEEPALIVE`).
///
/// # Errors
/// What `setsockopt` gives, such as `EINVAL` for times under a second or over 32767 seconds.
pub fn set_keepalive(fd: impl AsFd, keepalive: Option<Keepalive>) -> io::Result<()> {
    let socket = SockRef::from(&fd);
    let Some(Keepalive { idle, interval, probes }) = keepalive else {
        return socket.set_keepalive(false);
    };
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(idle).with_interval(interval).with_retries(probes))
}
