//! The UDP side of the port: first datagrams of streams, and latency probes.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use linux::bulk::Progress;
use linux::bulk::datagrams::{BatchShape, ReceiveBatch, Wait};
use linux::clock;
use linux::sockets::{Switch, set_receive_time};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use units::MonoTime;

use super::answers::Answers;
use super::canonical;
use super::expected::{Arrival, ExpectedConnections};
use super::hold::Hold;
use crate::serve::policy::Policy;
use crate::stamp::packet::{LARGE_LEN, PACKET_LEN};
use crate::stamp::reflector::{StampClock, Times, answer};

/// The UDP sockets of the port. Besides the one that stands for all addresses there is one for each local address that
/// a client has reached, so that answers leave from the address that was asked, also on a host with many.
pub struct Datagrams {
    sockets: Vec<UdpSocket>,
    addresses: Vec<SocketAddr>,
    clock: StampClock,
    batch: ReceiveBatch,
    answers: Answers,
    hold: Hold,
}

/// Local addresses that are answered from by name. A host with more answers from whatever the route says.
const MAX_ADDRESSES: usize = 64;

/// The first datagram of a stream has four bytes, whatever they say (iperf 3.12: `UDP_CONNECT_MSG`).
const HELLO_LEN: usize = 4;

/// The answer to it: "6789" (iperf 3.12: `UDP_CONNECT_REPLY`).
pub const HELLO_ANSWER: [u8; HELLO_LEN] = *b"6789";

/// Datagrams that are read with one call.
const BATCH: BatchShape = BatchShape { messages: 16, message_bytes: LARGE_LEN };

/// Calls of one socket in one pass, so that a flood does not keep connections waiting.
const EACH_PASS: usize = 4;

impl Datagrams {
    pub(super) fn open(local: SocketAddr) -> io::Result<Self> {
        let socket = probed_socket(local)?;
        let clock = StampClock::new(clock::wall_now(), clock::now());
        Ok(Self {
            sockets: vec![socket],
            addresses: vec![local],
            clock,
            batch: ReceiveBatch::new(BATCH),
            answers: Answers::new(clock),
            hold: Hold::default(),
        })
    }

    /// Until when what comes may wait.
    pub(super) const fn held_until(&self) -> MonoTime {
        self.hold.until()
    }

    /// What waits is to be answered.
    pub(super) fn release(&mut self) {
        self.hold.release();
    }

    pub(super) fn sockets(&self) -> &[UdpSocket] {
        &self.sockets
    }

    pub(super) fn stamp_minus_mono_ns(&self) -> i64 {
        self.clock.wall_minus_mono_ns()
    }

    /// Answers at this local address by name from now on.
    pub(super) fn answer_at(&mut self, local: SocketAddr) {
        if self.addresses.len() >= MAX_ADDRESSES || self.addresses.contains(&local) {
            return;
        }
        // Without it the socket for all addresses answers, which is right on a host with one address.
        if let Ok(socket) = probed_socket(local) {
            self.sockets.push(socket);
            self.addresses.push(local);
        }
    }

    pub(super) fn handle(&mut self, ready: &[bool], desk: &ExpectedConnections, policy: &Policy) {
        for (index, _) in ready.iter().enumerate().filter(|(_, ready)| **ready) {
            for _ in 0..EACH_PASS {
                let socket = &self.sockets[index];
                let Ok(Progress::Moved(count)) = self.batch.receive(socket.as_fd(), Wait::Never) else { break };
                // The wall clock first: what passes between the two reads then makes an RTT longer, never shorter.
                let (wall, now) = (clock::wall_now(), clock::now());
                for datagram in self.batch.iter() {
                    let Some(from) = datagram.source().filter(|from| policy.allows(from.ip())) else { continue };
                    if datagram.payload.len() == HELLO_LEN {
                        let local = self.addresses[index];
                        desk.claim_datagrams(canonical(from), || open_stream(local, from));
                        continue;
                    }
                    // By the kernel's stamp: what a probe waits for this program is no part of the path's RTT.
                    let waited_ns = datagram
                        .report()
                        .received_at
                        .map_or(0, |arrived| wall.unix_nanos().saturating_sub(arrived.unix_nanos()));
                    let received = MonoTime::from_nanos(now.as_nanos().saturating_sub(waited_ns));
                    let times = Times { received, sent: clock::now() };
                    if let Some(reply) = answer(datagram.payload, self.clock, times) {
                        self.answers.send(socket, reply.bytes(), from);
                        self.hold.note(from, received, now);
                    }
                }
                self.answers.flush(socket);
                if count < BATCH.messages {
                    break;
                }
            }
        }
    }
}

impl std::fmt::Debug for Datagrams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Datagrams").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// A socket of its own for a stream of datagrams from `remote`, which gets its answer.
fn open_stream(local: SocketAddr, remote: SocketAddr) -> Option<Arrival> {
    let socket = shared_socket(local).ok()?;
    socket.connect(remote).ok()?;
    // Between bind and connect it may have caught what was meant for the door.
    while socket.recv(&mut [0; PACKET_LEN]).is_ok() {}
    socket.set_nonblocking(false).ok()?;
    let local = canonical(socket.local_addr().ok()?);
    Some(Arrival { socket: socket.into(), local, remote: canonical(remote) })
}

/// The same, with the kernel's time of each arrival. Where it gives none, a probe counts from when it was read.
fn probed_socket(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = shared_socket(local)?;
    let _ = set_receive_time(&socket, Switch::On);
    Ok(socket)
}

/// A socket on an address that others of ours have too: the kernel gives a datagram to the one that fits best.
fn shared_socket(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    if local.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SockAddr::from(local))?;
    Ok(socket.into())
}
