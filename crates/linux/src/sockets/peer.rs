//! Who is at the other end of a Unix socket, as the kernel has it from when they connected (unix(7)).

use std::io;
use std::os::fd::AsFd;

use super::option::{self, SocketOption};

/// Who connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Process that called connect(2), by its id in our PID namespace; 0 where it is in another.
    pub pid: u32,
    /// Its effective user.
    pub uid: u32,
    /// Its effective group.
    pub gid: u32,
    /// Its other groups (`SO_PEERGROUPS`, since Linux 4.13).
    pub groups: Vec<u32>,
}

/// Who is at the other end (`SO_PEERCRED`).
///
/// # Errors
/// What the kernel says, where the socket is not a connected Unix socket.
pub fn peer(socket: impl AsFd) -> io::Result<Peer> {
    // struct ucred: process, user, group.
    let mut credentials = [0; 12];
    option::read(socket.as_fd(), SocketOption::socket(libc::SO_PEERCRED), &mut credentials)?;
    let mut groups = vec![0; 4 * MOST_GROUPS];
    let length = option::read(socket.as_fd(), SocketOption::socket(libc::SO_PEERGROUPS), &mut groups).unwrap_or(0);
    let [pid, uid, gid] = [0, 1, 2].map(|place| words(&credentials).nth(place).unwrap_or(u32::MAX));
    Ok(Peer { pid, uid, gid, groups: words(&groups[..length]).collect() })
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|chunk| u32::from_ne_bytes(*chunk))
}

/// NGROUPS_MAX (include/uapi/linux/limits.h).
const MOST_GROUPS: usize = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_end_of_a_pair_is_this_process() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let found = peer(&one).unwrap();
        assert_eq!((found.pid, found.uid), (std::process::id(), crate::namespaces::rights::user()));
        assert!(peer(std::net::UdpSocket::bind("127.0.0.1:0").unwrap()).map_or(true, |peer| peer.pid == 0));
    }
}
