//! The UDP side of the port: first datagrams of streams, and latency probes.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use linux::clock;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::canonical;
use super::expected::{Arrival, ExpectedConnections};
use crate::serve::policy::Policy;
use crate::stamp::packet::PACKET_LEN;
use crate::stamp::reflector::{StampClock, Times, answer};

/// The UDP sockets of the port. Besides the one that stands for all addresses there is one for each local address that
/// a client has reached, so that answers leave from the address that was asked, also on a host with many.
#[derive(Debug)]
pub struct Datagrams {
    sockets: Vec<UdpSocket>,
    addresses: Vec<SocketAddr>,
    clock: StampClock,
}

/// Local addresses that are answered from by name. A host with more answers from whatever the route says.
const MAX_ADDRESSES: usize = 64;

/// The first datagram of a stream has four bytes, whatever they say (iperf 3.12: `UDP_CONNECT_MSG`).
const HELLO_LEN: usize = 4;

/// The answer to it: "6789" (iperf 3.12: `UDP_CONNECT_REPLY`).
pub const HELLO_ANSWER: [u8; HELLO_LEN] = *b"6789";

/// Datagrams handled of one socket in one pass, so that a flood does not shut the door to connections.
const EACH_PASS: usize = 64;

impl Datagrams {
    pub(super) fn open(local: SocketAddr) -> io::Result<Self> {
        let socket = shared_socket(local)?;
        let clock = StampClock::new(clock::wall_now(), clock::now());
        Ok(Self { sockets: vec![socket], addresses: vec![local], clock })
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
        if let Ok(socket) = shared_socket(local) {
            self.sockets.push(socket);
            self.addresses.push(local);
        }
    }

    pub(super) fn handle(&self, ready: &[bool], desk: &ExpectedConnections, policy: &Policy) {
        for (index, _) in ready.iter().enumerate().filter(|(_, ready)| **ready) {
            for _ in 0..EACH_PASS {
                let mut datagram = [0; PACKET_LEN];
                let Ok((length, from)) = self.sockets[index].recv_from(&mut datagram) else { break };
                let received = clock::now();
                if !policy.allows(from.ip()) {
                    continue;
                }
                if length == HELLO_LEN {
                    let local = self.addresses[index];
                    desk.claim_datagrams(canonical(from), || open_stream(local, from));
                } else if let Some(reply) =
                    answer(&datagram[..length], self.clock, Times { received, sent: clock::now() })
                {
                    // A probe whose answer cannot be sent is a lost probe to its sender.
                    let _ = self.sockets[index].send_to(&reply, from);
                }
            }
        }
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
