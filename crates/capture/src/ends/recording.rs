//! The packets of one capture, in bounded memory.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::numbers::Numbers;
use crate::decode::{Endpoints, Segment, address, flag};
use crate::file::FileError;
use crate::stream::{SORT_WINDOW_NS, Stream};

/// Segments that are kept of one capture: 3 GB of a transfer in full segments, 64 MB of memory.
const MAX_KEPT: usize = 1 << 21;
/// Connections of which packets are kept.
const MAX_CONNECTIONS: usize = 4_096;
/// A segment where no SYN says more, and time stamps.
const USUAL_MSS: u32 = 1_448;
/// No sender makes smaller ones (`net.ipv4.tcp_min_snd_mss` of Linux): a file whose SYN says a byte would be cut into 65,535 pieces a packet.
const LEAST_MSS: u32 = 48;
/// The most that Linux hands down in one packet (`GSO_MAX_SIZE`, BIG TCP): a file may say gigabytes, and would be cut into as many pieces.
const MOST_TOGETHER: u32 = 524_280;
/// What time stamps take of the MSS of a SYN.
const STAMP_BYTES: u32 = 12;

/// Keeps the packets of one capture that is read piece by piece.
#[derive(Debug)]
pub struct Recorder {
    stream: Stream,
    kept: Kept,
}

/// What a capture holds.
#[derive(Debug)]
pub struct Recording {
    /// In the order of their first packets.
    pub(super) connections: Vec<Recorded>,
    /// Segments for which there was no room.
    pub not_kept: u64,
    /// Packets of the file.
    pub packets: u64,
    /// Why the file was not read to its end.
    pub damage: Option<FileError>,
}

/// A connection of one capture.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) client: SocketAddr,
    pub(super) server: SocketAddr,
    endpoints: Endpoints,
    mss: u32,
    /// Of the client, and of the server.
    pub(super) directions: [Sent; 2],
}

/// What one host sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) numbers: Numbers,
    /// In the order of their times, cut into segments.
    pub(super) segments: Vec<Passage>,
    pub(super) acks: Vec<AckPassage>,
    /// The highest number that the other host acknowledged.
    pub(super) acked: u64,
    /// The least time from a segment to its acknowledgment.
    answer_ns: Option<i64>,
    /// The segment that waits for its acknowledgment: its end and its time.
    waiting: Option<Waiting>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    to: u64,
    since_ns: i64,
}

/// A segment that passed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passage {
    pub(super) time_ns: i64,
    pub(super) from: u64,
    pub(super) frame: u64,
    pub(super) bytes: u32,
    pub(super) stamp: u32,
    pub(super) ip_id: u16,
}

impl Passage {
    pub(super) fn to(&self) -> u64 {
        self.from + u64::from(self.bytes)
    }
}

/// An acknowledgment without data that passed.
#[derive(Debug, Clone, Copy)]
pub(super) struct AckPassage {
    pub(super) time_ns: i64,
    pub(super) number: u64,
    /// Of what else it says.
    pub(super) digest: u32,
}

#[derive(Debug, Default)]
struct Kept {
    index: HashMap<Endpoints, usize>,
    connections: Vec<Recorded>,
    count: usize,
    not_kept: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { stream: Stream::new(SORT_WINDOW_NS), kept: Kept::default() }
    }
}

impl Recorder {
    /// Reads on. Returns how many of `bytes` are used up; the caller hands over the others again, with what follows them.
    ///
    /// # Errors
    /// Where the file is damaged, and how. What came before is kept.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, FileError> {
        let Self { stream, kept } = self;
        stream.read(bytes, |segment| kept.take(segment))
    }

    /// The end of the file, of which `rest` was not used up.
    #[must_use]
    pub fn end(mut self, rest: &[u8]) -> Recording {
        let Self { stream, kept } = &mut self;
        let damage = stream.end(rest, |segment| kept.take(segment));
        Recording { packets: stream.frames(), connections: self.kept.connections, not_kept: self.kept.not_kept, damage }
    }
}

impl Kept {
    fn take(&mut self, segment: &Segment) {
        let ends = segment.endpoints;
        let found = self.index.get(&ends).map(|at| (*at, 0));
        let found = found.or_else(|| self.index.get(&ends.reversed()).map(|at| (*at, 1)));
        let (at, host) = match found {
            Some(found) => found,
            None if self.connections.len() < MAX_CONNECTIONS => {
                let is_answer = segment.has(flag::SYN) && segment.has(flag::ACK);
                let of_client = if is_answer { ends.reversed() } else { ends };
                self.index.insert(of_client, self.connections.len());
                self.connections.push(Recorded::new(of_client));
                (self.connections.len() - 1, usize::from(is_answer))
            }
            None => {
                self.not_kept += 1;
                return;
            }
        };
        if self.count >= MAX_KEPT {
            self.not_kept += 1;
        } else if let Some(connection) = self.connections.get_mut(at) {
            self.count += connection.take(segment, host);
        }
    }
}

impl Recorded {
    fn new(of_client: Endpoints) -> Self {
        Self {
            client: SocketAddr::new(address(of_client.source), of_client.source_port),
            server: SocketAddr::new(address(of_client.destination), of_client.destination_port),
            endpoints: of_client,
            mss: 0,
            directions: [Sent::default(), Sent::default()],
        }
    }

    /// Whether another capture has the same connection, whatever tags and tunnels are around it there.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let plain = |ends: Endpoints| Endpoints { outer: 0, ..ends };
        let (own, theirs) = (plain(self.endpoints), plain(other.endpoints));
        own == theirs
    }

    /// Whether sequence numbers are other ones in the other capture.
    pub(super) fn is_rewritten(&self, other: &Self) -> bool {
        let differ = |one: &Sent, other: &Sent| match (one.numbers.syn, other.numbers.syn) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        };
        self.directions.iter().zip(&other.directions).any(|(one, other)| differ(one, other))
    }

    /// The least time from a segment of a host to its acknowledgment: long where the capture is near to that host.
    pub(super) fn answer_ns(&self, host: usize) -> i64 {
        self.directions.get(host).and_then(|sent| sent.answer_ns).unwrap_or_default()
    }

    /// Keeps a segment; returns the room that it takes.
    fn take(&mut self, segment: &Segment, host: usize) -> usize {
        let [client, server] = &mut self.directions;
        let (own, other) = if host == 0 { (client, server) } else { (server, client) };
        if segment.has(flag::SYN) {
            own.numbers.take_syn(segment.seq);
            let stamps = if segment.options.timestamps.is_some() { STAMP_BYTES } else { 0 };
            let offered = segment.options.mss.map_or(0, |mss| u32::from(mss).saturating_sub(stamps));
            self.mss = if self.mss == 0 { offered } else { self.mss.min(offered) };
            own.expect(segment, 1);
        }
        if segment.has(flag::RST) {
            return 0;
        }
        if segment.has(flag::ACK) {
            other.acknowledged(segment);
        }
        if segment.payload > 0 && !segment.has(flag::SYN) {
            own.expect(segment, segment.payload);
            return own.cut(segment, if self.mss == 0 { USUAL_MSS } else { self.mss.max(LEAST_MSS) });
        }
        if segment.flags & (flag::SYN | flag::FIN) != 0 {
            return 0;
        }
        let number = other.numbers.unwrap(segment.ack);
        let stamp = segment.options.timestamps.map_or(0, |stamps| stamps.0);
        let blocks = segment.options.sack.as_slice();
        let sizes = blocks.iter().fold(0_u32, |all, (from, to)| all.rotate_left(9) ^ to.wrapping_sub(*from));
        let digest = stamp.wrapping_mul(0x9e37_79b1) ^ u32::from(segment.window).rotate_left(16) ^ sizes;
        own.acks.push(AckPassage { time_ns: segment.time_ns, number, digest });
        1
    }
}

impl Sent {
    /// Times the answer to a segment, one at a time.
    fn expect(&mut self, segment: &Segment, bytes: u32) {
        let to = self.numbers.unwrap(segment.seq) + u64::from(bytes);
        if self.waiting.is_none() {
            self.waiting = Some(Waiting { to, since_ns: segment.time_ns });
        }
    }

    fn acknowledged(&mut self, segment: &Segment) {
        let number = self.numbers.unwrap(segment.ack);
        self.acked = self.acked.max(number);
        if let Some(waiting) = self.waiting.filter(|waiting| number >= waiting.to) {
            let took_ns = segment.time_ns - waiting.since_ns;
            self.answer_ns = Some(self.answer_ns.map_or(took_ns, |least| least.min(took_ns)));
            self.waiting = None;
        }
    }

    /// Cuts what segmentation offload has not cut yet, as a NIC does: full segments, with IP IDs that count on.
    fn cut(&mut self, segment: &Segment, mss: u32) -> usize {
        let start = self.numbers.unwrap(segment.seq);
        let stamp = segment.options.timestamps.map_or(0, |stamps| stamps.0);
        let together = segment.payload.min(MOST_TOGETHER);
        let pieces = u16::try_from(together.div_ceil(mss.max(1))).unwrap_or(u16::MAX);
        for piece in 0..pieces {
            let offset = u32::from(piece) * mss;
            self.segments.push(Passage {
                time_ns: segment.time_ns,
                from: start + u64::from(offset),
                frame: segment.frame,
                bytes: mss.min(segment.payload - offset),
                stamp,
                ip_id: if segment.ip_id == 0 { 0 } else { segment.ip_id.wrapping_add(piece) },
            });
        }
        usize::from(pieces)
    }
}
