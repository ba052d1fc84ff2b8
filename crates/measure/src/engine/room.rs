//! How much a TCP sender hands over at once: no more than its send buffer has room for.
//!
//! A kernel asks for room only where a send begins a new packet: to a packet that has not left, or of which the congestion window has let a
//! part go, it adds whatever comes (`tcp_sendmsg_locked`, net/ipv4/tcp.c of 6.18). A send whose wait ends by a timer is tried again each time
//! that a part has left, so that a buffer of 64 kB took megabytes, where other programs, which are woken when a third of it is free, fill it.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use linux::readiness::{SendBuffer, wait_for_room};
use linux::sockets::{max_segment, memory};

/// What a sender at full speed knows of the room in its send buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct SendRoom {
    segment: usize,
    /// A third was free, and what is free of it is not filled yet.
    is_filling: bool,
}

/// Largest packet that a kernel makes of what is sent, unless a device takes more (`GSO_LEGACY_MAX_SIZE`, less headers).
const PACKET: usize = 65_536 - 320;

impl SendRoom {
    /// For a connected socket.
    ///
    /// # Errors
    /// What the kernel says where it does not say how large a segment is.
    pub(super) fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self { segment: usize::try_from(max_segment(fd)?).unwrap_or(1).max(1), is_filling: false })
    }

    /// Returns how many of `want` bytes to hand over: as long as the buffer has room, so many as it takes; else it waits until a third of it is
    /// free, for as long as `most`. None where there is no room then.
    ///
    /// # Errors
    /// What the kernel says where it cannot be asked.
    pub(super) fn wait(&mut self, fd: BorrowedFd<'_>, want: usize, most: Duration) -> io::Result<usize> {
        if self.is_filling {
            let part = self.part(want, SendBuffer::Free, Room::of(fd)?);
            if part > 0 {
                return Ok(part);
            }
        }
        let buffer = wait_for_room(fd, most)?;
        self.is_filling = buffer == SendBuffer::Free;
        let part = self.part(want, buffer, Room::of(fd)?);
        // Of a connection that has ended a send says how.
        Ok(if part == 0 && self.is_filling { want.min(self.segment) } else { part })
    }

    /// How many of `want` bytes to hand over to a buffer that has so much room.
    fn part(self, want: usize, buffer: SendBuffer, room: Room) -> usize {
        let packet = self.packet();
        let most = match buffer {
            // The kernel takes the last packet whole of whoever is woken, though it goes beyond the limit: much, of a small buffer.
            SendBuffer::Free if room.limit < SMALL * packet => room.free.next_multiple_of(packet),
            // A large one is filled to one level, also where a third of it takes long to drain.
            SendBuffer::Free | SendBuffer::Full => room.free,
        };
        if want <= most { want } else { self.whole(most) }
    }

    fn packet(self) -> usize {
        self.whole(PACKET).max(self.segment)
    }

    /// Whole segments of so many bytes: a part of one waits for the rest of it (RFC 896), and while it does the kernel's clock of the full
    /// buffer stands still (`tcp_cwnd_validate`).
    pub(super) const fn whole(self, bytes: usize) -> usize {
        bytes - bytes % self.segment
    }
}

/// A buffer of fewer packets is small.
const SMALL: usize = 4;

/// Bytes of a send buffer, and those of them that are free.
#[derive(Debug, Clone, Copy)]
struct Room {
    limit: usize,
    free: usize,
}

impl Room {
    /// A kernel that does not say takes whatever comes.
    fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let memory = memory(fd)?;
        let bytes = |bytes: u32| usize::try_from(bytes).unwrap_or(usize::MAX);
        let limit = memory.sndbuf.map_or(usize::MAX, bytes);
        Ok(Self { limit, free: limit.saturating_sub(memory.wmem_queued.map_or(0, bytes)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: SendRoom = SendRoom { segment: 1_448, is_filling: false };

    fn room(limit: usize, free: usize) -> Room {
        Room { limit, free }
    }

    #[test]
    fn of_a_small_buffer_whoever_is_woken_hands_over_whole_packets_else_what_there_is_room_for() {
        let part = |buffer, room| ROOM.part(1 << 20, buffer, room);
        assert_eq!(part(SendBuffer::Free, room(65_536, 22_000)), 45 * 1_448);
        assert_eq!(part(SendBuffer::Free, room(200_000, 100_000)), 90 * 1_448);
        assert_eq!(part(SendBuffer::Free, room(65_536, 0)), 0);
        assert_eq!(part(SendBuffer::Full, room(65_536, 22_000)), 15 * 1_448);
        assert_eq!(part(SendBuffer::Full, room(65_536, 1_447)), 0, "less than a segment would wait for the rest of it");
        assert_eq!(part(SendBuffer::Free, room(1 << 20, 360_000)), 248 * 1_448);
    }

    #[test]
    fn the_end_of_what_is_sent_need_not_fill_a_segment() {
        assert_eq!(ROOM.part(100, SendBuffer::Full, room(65_536, 22_000)), 100);
        assert_eq!(ROOM.part(100, SendBuffer::Full, room(65_536, 99)), 0);
    }

    #[test]
    fn a_segment_that_is_larger_than_a_packet_is_sent_whole() {
        let jumbo = SendRoom { segment: 65_483, is_filling: false };
        assert_eq!(jumbo.part(1 << 20, SendBuffer::Free, room(87_000, 5_000)), 65_483);
        assert_eq!(jumbo.part(1 << 20, SendBuffer::Full, room(87_000, 65_000)), 0);
    }
}
