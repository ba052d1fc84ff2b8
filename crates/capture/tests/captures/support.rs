//! Captures of one connection, written segment by segment.

use std::net::SocketAddrV4;

use capture::report::{TraceReport, TransferReport};
use capture::write::{WrittenSegment, file_header, segment};
use capture::{Trace, TraceOptions};

pub(crate) const MSS: u32 = 1_000;
pub(crate) const MS: u64 = 1_000_000;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

#[derive(Clone, Copy, PartialEq)]
enum Host {
    Sender,
    Receiver,
}

/// A connection between two hosts, captured at the sender's. Bytes count from 0.
pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    pub(crate) isn: u32,
    ip_id: u16,
    window: u16,
}

impl Written {
    /// With its handshake; the receiver offers `window` times 128 bytes.
    pub(crate) fn new(isn: u32, rtt_ns: u64, window: u16) -> Self {
        Self::scaled(isn, rtt_ns, window, 7)
    }

    /// The same with a window of `window` times two to the power of `scale`.
    pub(crate) fn scaled(isn: u32, rtt_ns: u64, window: u16, scale: u8) -> Self {
        let mut written = Self { bytes: Vec::new(), isn: isn.wrapping_add(1), ip_id: 0, window };
        file_header(&mut written.bytes);
        let options = [2, 4, 3, 0xe8, 4, 2, 1, 3, 3, scale];
        written.put(Host::Sender, 0, (isn, 0), SYN, 0, &options);
        written.put(Host::Receiver, rtt_ns, (7, isn.wrapping_add(1)), SYN | ACK, 0, &options);
        written.put(Host::Sender, rtt_ns, (isn.wrapping_add(1), 8), ACK, 0, &[]);
        written
    }

    fn put(&mut self, from: Host, at_ns: u64, numbers: (u32, u32), flags: u8, payload: u32, options: &[u8]) {
        let client = SocketAddrV4::new([192, 0, 2, 1].into(), 40_000);
        let server = SocketAddrV4::new([192, 0, 2, 2].into(), 5_201);
        let (from, to) = if from == Host::Sender { (client, server) } else { (server, client) };
        self.ip_id = self.ip_id.wrapping_add(1);
        let (seq, ack) = numbers;
        let written = WrittenSegment {
            time_ns: 1_700_000_000_000_000_000 + at_ns,
            from,
            to,
            seq,
            ack,
            flags,
            window: self.window,
            payload,
            options,
            ip_id: self.ip_id,
            ecn: 0,
        };
        segment(&written, &mut self.bytes);
    }

    /// One segment of data.
    pub(crate) fn data(&mut self, at_ns: u64, segment: u32) {
        self.put(Host::Sender, at_ns, (self.isn.wrapping_add(segment * MSS), 8), ACK, MSS, &[]);
    }

    /// Packets of the receiver from a moment on have another TTL.
    pub(crate) fn set_ttl_from(&mut self, at_ns: u64, ttl: u8) {
        let field = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut at = 24;
        while at < self.bytes.len() {
            let time_ns = u64::from(field(&self.bytes, at) - 1_700_000_000) * 1_000_000_000;
            let time_ns = time_ns + u64::from(field(&self.bytes, at + 4));
            let frame = at + 16;
            // The source address ends with the host.
            if time_ns >= at_ns && self.bytes[frame + 29] == 2 {
                self.bytes[frame + 22] = ttl;
            }
            at = frame + field(&self.bytes, at + 8) as usize;
        }
    }

    /// Segments `from..to` that segmentation offload has not cut yet.
    pub(crate) fn super_packet(&mut self, at_ns: u64, from: u32, to: u32) {
        let seq = self.isn.wrapping_add(from * MSS);
        self.put(Host::Sender, at_ns, (seq, 8), ACK, (to - from) * MSS, &[]);
    }

    /// An acknowledgment up to a segment, with SACK blocks of segments.
    pub(crate) fn ack(&mut self, at_ns: u64, to: u32, blocks: &[(u32, u32)]) {
        let number = |segment: u32| self.isn.wrapping_add(segment * MSS);
        let mut options = Vec::new();
        if !blocks.is_empty() {
            options.extend([1, 1, 5, u8::try_from(2 + 8 * blocks.len()).unwrap()]);
            for (from, to) in blocks {
                options.extend(number(*from).to_be_bytes());
                options.extend(number(*to).to_be_bytes());
            }
        }
        let ack = number(to);
        self.put(Host::Receiver, at_ns, (8, ack), ACK, 0, &options);
    }

    /// The receiver's host has no such connection any more.
    pub(crate) fn reset(&mut self, at_ns: u64) {
        self.put(Host::Receiver, at_ns, (8, 0), RST, 0, &[]);
    }

    fn report(&self) -> TraceReport {
        read(&self.bytes)
    }

    pub(crate) fn transfer(&self) -> TransferReport {
        let mut report = self.report();
        report.connections.remove(0).transfers.remove(0)
    }
}

/// Reads a file that is there all at once.
pub(crate) fn read(bytes: &[u8]) -> TraceReport {
    let mut trace = Trace::new(TraceOptions::default());
    match trace.read(bytes) {
        Ok(used) => trace.end(&bytes[used..]),
        Err(_) => trace.end(&[]),
    }
}
