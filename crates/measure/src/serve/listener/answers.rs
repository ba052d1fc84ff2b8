//! Answers to probes on their way out.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use linux::bulk::Progress;
use linux::bulk::datagrams::{BatchShape, SendBatch, Wait};
use linux::clock;

use crate::stamp::packet::PACKET_LEN;
use crate::stamp::reflector::{StampClock, stamp_departure};

/// Gathers the answers to one address that are due at once. What a datagram costs is its way through the kernel, not its
/// 44 bytes, and the kernel cuts datagrams (`UDP_SEGMENT`) behind most of that way.
pub(super) struct Answers {
    clock: StampClock,
    batch: SendBatch,
    to: Option<SocketAddr>,
    count: usize,
}

/// Answers that go out together at most.
const MOST: usize = 16;

impl Answers {
    pub(super) fn new(clock: StampClock) -> Self {
        let mut batch = SendBatch::new(BatchShape { messages: 1, message_bytes: MOST * PACKET_LEN });
        // The size is one that every datagram can have.
        let _ = batch.set_segment_bytes(Some(PACKET_LEN));
        Self { clock, batch, to: None, count: 0 }
    }

    /// Sends `answer` to `to`, now or with [`Self::flush`], in the order of the calls. A probe whose answer cannot be sent is a
    /// lost probe to its sender.
    pub(super) fn send(&mut self, socket: &UdpSocket, answer: &[u8], to: SocketAddr) {
        if self.to.is_some_and(|held| held != to) || self.count == MOST || answer.len() != PACKET_LEN {
            self.flush(socket);
        }
        if answer.len() != PACKET_LEN {
            let _ = socket.send_to(answer, to);
            return;
        }
        self.to = Some(to);
        self.batch.payload_mut(0)[self.count * PACKET_LEN..][..PACKET_LEN].copy_from_slice(answer);
        self.count += 1;
    }

    /// Sends what is held.
    pub(super) fn flush(&mut self, socket: &UdpSocket) {
        let (Some(to), count) = (self.to.take(), std::mem::take(&mut self.count)) else { return };
        // None of them is late by the others.
        let sent = self.clock.stamp(clock::now());
        let held = self.batch.payload_mut(0)[..count * PACKET_LEN].chunks_mut(PACKET_LEN);
        held.for_each(|answer| stamp_departure(answer, sent));
        self.batch.set_length(0, count * PACKET_LEN);
        self.batch.set_destination(Some(to));
        let together =
            count > 1 && matches!(self.batch.send(socket.as_fd(), 0..1, Wait::Never), Ok(Progress::Moved(1)));
        if together {
            return;
        }
        // One alone; or the kernel is older than 4.18, or the device of the route cannot cut (`EIO`).
        for answer in self.batch.payload_mut(0)[..count * PACKET_LEN].chunks(PACKET_LEN) {
            let _ = socket.send_to(answer, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    fn socket() -> UdpSocket {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        socket
    }

    fn next(socket: &UdpSocket) -> (usize, u8) {
        let mut buffer = [0; 2_000];
        let length = socket.recv(&mut buffer).unwrap();
        (length, buffer[0])
    }

    #[test]
    fn each_answer_arrives_whole_at_its_address_in_order_and_some_share_a_call() {
        let (server, one, other) = (socket(), socket(), socket());
        let (to_one, to_other) = (one.local_addr().unwrap(), other.local_addr().unwrap());
        let mut answers = Answers::new(StampClock::new(clock::wall_now(), clock::now()));
        for number in 0..20 {
            answers.send(&server, &[number; PACKET_LEN], to_one);
        }
        answers.send(&server, &[20; 1_400], to_one);
        answers.send(&server, &[21; PACKET_LEN], to_other);
        answers.send(&server, &[22; PACKET_LEN], to_one);
        answers.flush(&server);
        answers.flush(&server);
        let small = (0..20).map(|number| (PACKET_LEN, number));
        let expected: Vec<_> = small.chain([(1_400, 20), (PACKET_LEN, 22)]).collect();
        assert_eq!(expected.iter().map(|_| next(&one)).collect::<Vec<_>>(), expected);
        assert_eq!(next(&other), (PACKET_LEN, 21));
        one.set_nonblocking(true).unwrap();
        assert!(one.recv(&mut [0; 8]).is_err(), "nothing is sent twice");
    }
}
