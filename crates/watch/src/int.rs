//! A collector of INT reports: datagrams of switches, added up interval by interval. One socket and one thread; what the kernel
//! drops at the socket for want of room is counted.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use linux::bulk::Progress;
use linux::bulk::datagrams::{BatchShape, ReceiveBatch, Wait};
use linux::clock;
use linux::readiness::{Patience, Readiness};
use linux::sockets::{self, Direction};
use model::int::IntInterval;
use passive::int::collector::{Collector, FirstOfDatagram};
use passive::int::decode;
use units::ByteCount;

/// What to collect.
#[derive(Debug, Clone)]
pub struct Request {
    /// Where reports come to.
    pub listen: SocketAddr,
    /// How long an interval is.
    pub interval: Duration,
    /// How many intervals; none for no end.
    pub intervals: Option<u64>,
    /// The unit of occupancy in bytes.
    pub cell: Option<u32>,
}

/// Why reports are not collected.
#[derive(Debug, thiserror::Error)]
pub enum IntError {
    /// The port is taken, or may not be listened at.
    #[error("cannot listen for INT reports at {address}")]
    Listen {
        /// Address and port that were asked for.
        address: SocketAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// The socket fails.
    #[error("cannot receive INT reports")]
    Receive(#[from] io::Error),
}

/// Hands every interval to `each` until `stopped`.
///
/// # Errors
/// See [`IntError`].
pub fn collect(
    request: &Request,
    stopped: impl Fn() -> bool,
    mut each: impl FnMut(IntInterval),
) -> Result<(), IntError> {
    let listen = |source| IntError::Listen { address: request.listen, source };
    let socket = UdpSocket::bind(request.listen).map_err(listen)?;
    socket.set_nonblocking(true)?;
    // Beyond the limit as root, else as much as the kernel gives.
    if sockets::set_buffer_size_beyond_limit(&socket, Direction::Receive, ROOM).is_err() {
        sockets::set_buffer_size(&socket, Direction::Receive, ROOM)?;
    }
    let readiness = Readiness::new()?;
    readiness.add(&socket, 0)?;
    let mut batch = ReceiveBatch::new(BatchShape { messages: MESSAGES, message_bytes: MESSAGE_BYTES });
    let mut collector = Collector::new();
    let (mut began, mut start, mut dropped) = (clock::now(), clock::wall_now(), drops(&socket));
    let mut done = 0;
    while request.intervals.is_none_or(|intervals| done < intervals) {
        let end = began + request.interval;
        let is_over = loop {
            if stopped() {
                break true;
            }
            let now = clock::now();
            if now >= end {
                break false;
            }
            if !receive(&socket, &mut batch, &mut collector)? {
                readiness.wait(Patience::For(end.since(now).min(GLANCE)), |_| {})?;
            }
        };
        let (now, now_dropped) = (clock::now(), drops(&socket));
        let mut interval = collector.take_interval(request.cell);
        (interval.start, interval.length) = (start, now.since(began));
        interval.dropped_at_socket = now_dropped.zip(dropped).map(|(now, before)| now.wrapping_sub(before).into());
        each(interval);
        (began, start, dropped) = (now, clock::wall_now(), now_dropped);
        done += 1;
        if is_over {
            break;
        }
    }
    Ok(())
}

/// Takes one batch. Returns whether there may be more.
fn receive(socket: &UdpSocket, batch: &mut ReceiveBatch, collector: &mut Collector) -> io::Result<bool> {
    match batch.receive(socket.as_fd(), Wait::Never)? {
        Progress::Moved(0) => return Ok(false),
        Progress::Moved(_) => {}
        _ => return Ok(false),
    }
    for message in batch.iter() {
        collector.datagram();
        let mut first = FirstOfDatagram::Yes;
        let decoded = decode::datagram(message.payload, |report| {
            collector.report(&report, first);
            first = FirstOfDatagram::No;
        });
        if decoded.is_err() {
            collector.malformed();
        }
    }
    Ok(true)
}

/// Datagrams that the kernel dropped at the socket so far.
fn drops(socket: &UdpSocket) -> Option<u32> {
    sockets::memory(socket).ok()?.drops
}

/// A second of a burst of 487,000 reports takes some 400 MB with the kernel's overhead: this holds a tenth of one.
const ROOM: ByteCount = ByteCount::new(64 << 20);
const MESSAGES: usize = 64;
/// Reports carry the beginning of a packet only; what is longer is cut off and malformed.
const MESSAGE_BYTES: usize = 2_048;
/// How often the end is looked for at least.
const GLANCE: Duration = Duration::from_millis(100);
