//! UDP sockets of sessions: TTL 255 on what is sent, the kernel's time and the TTL of what arrives.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use linux::bulk::Progress;
use linux::bulk::datagrams::{BatchShape, ReceiveBatch, Wait};
use linux::clock;
use linux::sockets::{Switch, set_receive_hop_limit, set_receive_time};
use owamp::packet::ReflectedPacket;
use owamp::time::NtpTime;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use units::MonoTime;

use crate::stop::Stop;

/// UDP ports that sessions may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRange {
    /// The lowest; 0 for any that is free.
    pub first: u16,
    /// Highest port, included.
    pub last: u16,
}

/// The socket of one end of a session.
pub struct TestSocket {
    socket: UdpSocket,
    batch: ReceiveBatch,
}

/// A datagram that arrived.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// First octets of the packet, without padding.
    pub head: &'a [u8],
    /// All its bytes.
    pub length: usize,
    /// When it arrived, by the wall clock.
    pub received: NtpTime,
    /// TTL or hop limit with which it arrived; 255 where the kernel does not say.
    pub ttl: u8,
}

/// TTL of what is sent, from which the receiver counts routers (RFC 4656 §4.1.2).
const TTL: u32 = 255;
/// Datagrams read with one call, as far as their heads.
const BATCH: BatchShape = BatchShape { messages: 16, message_bytes: ReflectedPacket::LEN };
/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(20);

impl PortRange {
    /// Any free port.
    pub const ANY: Self = Self { first: 0, last: 0 };

    /// Whether a port is in it.
    #[must_use]
    pub const fn contains(&self, port: u16) -> bool {
        port != 0 && self.first <= port && port <= self.last
    }
}

impl TestSocket {
    /// Opens a socket on this address, at a free port of the range.
    ///
    /// # Errors
    /// If none is free, or the kernel refuses.
    pub fn open(local: IpAddr, ports: PortRange) -> io::Result<Self> {
        let mut last = Err(io::ErrorKind::AddrInUse.into());
        let width = u32::from(ports.last.saturating_sub(ports.first)) + 1;
        // From anywhere in the range, so that sessions that follow each other do not meet late packets of those before.
        let offset = u32::from_be_bytes(linux::random::bytes()?) % width;
        for step in 0..width {
            let port = ports.first.saturating_add(u16::try_from((offset + step) % width).unwrap_or(0));
            last = bind(SocketAddr::new(local, port));
            match &last {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                _ => break,
            }
        }
        Ok(Self { socket: last?, batch: ReceiveBatch::new(BATCH) })
    }

    /// Talks only with this peer from now on.
    ///
    /// # Errors
    /// If there is no route to it.
    pub fn connect(&self, peer: SocketAddr) -> io::Result<()> {
        self.socket.connect(peer)
    }

    /// Local port, as the kernel gave it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn port(&self) -> io::Result<u16> {
        self.socket.local_addr().map(|address| address.port())
    }

    /// Another handle of the socket, to send from.
    ///
    /// # Errors
    /// If this process may open no more files.
    pub fn sending_handle(&self) -> io::Result<UdpSocket> {
        self.socket.try_clone()
    }

    /// Takes what has arrived, after waiting for it until `deadline` at most. Returns whether anything was taken.
    pub fn receive(&mut self, deadline: MonoTime, stop: &Stop, mut note: impl FnMut(Arrival<'_>)) -> bool {
        loop {
            let mut taken = false;
            // An error is a refusal by the far host, which the missing packets will show.
            while let Ok(Progress::Moved(count)) = self.batch.receive(self.socket.as_fd(), Wait::Never) {
                taken = true;
                self.batch.iter().for_each(|datagram| {
                    let report = datagram.report();
                    let received = report.received_at.unwrap_or_else(clock::wall_now);
                    note(Arrival {
                        head: datagram.payload,
                        length: datagram.bytes,
                        received: NtpTime::from_wall(received),
                        ttl: report.hop_limit.unwrap_or(u8::MAX),
                    });
                });
                if count < BATCH.messages {
                    break;
                }
            }
            let left = deadline.since(clock::now());
            if taken || left.is_zero() || stop.is_stopped() {
                return taken;
            }
            self.wait(left.min(GLANCE));
        }
    }

    fn wait(&self, time: Duration) {
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
        // Whatever ends the wait, the caller looks at the socket and at the clock.
        let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&timeout));
    }
}

impl std::fmt::Debug for TestSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestSocket").field("socket", &self.socket).finish_non_exhaustive()
    }
}

fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv4() {
        socket.set_ttl_v4(TTL)?;
    } else {
        socket.set_unicast_hops_v6(TTL)?;
    }
    socket.bind(&SockAddr::from(address))?;
    set_receive_time(&socket, Switch::On)?;
    set_receive_hop_limit(&socket, Switch::On)?;
    Ok(socket.into())
}
