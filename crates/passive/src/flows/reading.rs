//! What one look at a connection tells.

use std::net::SocketAddr;
use std::time::Duration;

use model::measurement::Heading;
use model::series::field::Field;
use units::MonoTime;

/// The two ends of a connection, seen from this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ends {
    /// This host's.
    pub local: SocketAddr,
    /// The other host's address and port.
    pub peer: SocketAddr,
}

/// A connection as the kernel showed it.
#[derive(Debug, Clone)]
pub struct Sighting {
    /// The number that names the socket and no other until the next boot.
    pub cookie: u64,
    /// Both ends as the kernel has them: IPv4 may be mapped into IPv6.
    pub ends: Ends,
    /// The user's number.
    pub uid: u32,
    /// The number of the socket's file, 0 where no process has it any more.
    pub inode: u32,
    /// What the state says of the peer's FIN.
    pub fin: FinSeen,
    /// Congestion control, where it was asked for.
    pub congestion_control: Option<String>,
    /// Bytes received that the program has not read.
    pub unread: u64,
    /// Time since an acknowledgement came.
    pub since_ack: Option<Duration>,
    /// Time since data came.
    pub since_data: Option<Duration>,
    /// The kernel's numbers.
    pub reading: Reading,
}

impl Sighting {
    /// How long ago the last byte in a direction had moved, as this end knows.
    #[must_use]
    pub fn quiet(&self, heading: Heading) -> Option<Duration> {
        match heading {
            Heading::Outbound => self.since_ack,
            Heading::Inbound => self.since_data,
        }
    }
}

/// Whether the peer's FIN has come, which the kernel counts as a received byte (net/ipv4/tcp_input.c, `tcp_data_queue`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinSeen {
    /// The state says that it has not.
    No,
    /// The state says that it has.
    Yes,
    /// The state does not say: the socket is dead.
    Unknown,
}

/// The kernel's numbers of one connection at one moment. What the kernel does not have is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// When.
    pub at: MonoTime,
    present: u32,
    values: [u64; FIELDS.len()],
}

/// What is kept of a reading: what the waterfall's rules look at, and the totals.
pub const FIELDS: [Field; 28] = [
    Field::BytesAcked,
    Field::BytesReceived,
    Field::BytesSent,
    Field::BytesRetrans,
    Field::BusyTime,
    Field::RwndLimited,
    Field::SndbufLimited,
    Field::Unacked,
    Field::Notsent,
    Field::SndWnd,
    Field::SndCwnd,
    Field::SndSsthresh,
    Field::SndMss,
    Field::Rtt,
    Field::MinRtt,
    Field::CaState,
    Field::TotalRetrans,
    Field::PacingRate,
    Field::MaxPacingRate,
    Field::Delivered,
    Field::Options,
    Field::DataSegsIn,
    Field::RcvWnd,
    Field::RcvRtt,
    Field::RcvMss,
    Field::WmemQueued,
    Field::Sndbuf,
    Field::WmemAlloc,
];

/// Where each field stands among [`FIELDS`]: they are asked for thousands of times a second.
const PLACES: [Option<usize>; Field::ALL.len()] = {
    let mut places = [None; Field::ALL.len()];
    let mut index = 0;
    while index < FIELDS.len() {
        places[FIELDS[index] as usize] = Some(index);
        index += 1;
    }
    places
};

impl Reading {
    /// One whose numbers `value` gives.
    pub fn new(at: MonoTime, value: impl Fn(Field) -> Option<u64>) -> Self {
        let mut reading = Self { at, present: 0, values: [0; FIELDS.len()] };
        for (index, field) in FIELDS.into_iter().enumerate() {
            if let Some(number) = value(field) {
                reading.present |= 1 << index;
                reading.values[index] = number;
            }
        }
        reading
    }

    /// A number; `None` where the kernel does not have it.
    #[must_use]
    pub fn get(&self, field: Field) -> Option<u64> {
        let index = PLACES[field as usize]?;
        (self.present & 1 << index != 0).then(|| self.values[index])
    }

    /// Payload sent since the connection was made, each byte once. The kernel's `bytes_acked` counts SYN and FIN as bytes,
    /// what it sent less what it retransmitted does not (net/ipv4/tcp_output.c, `__tcp_transmit_skb`). Before Linux 4.19 only
    /// the former is there.
    #[must_use]
    pub fn sent(&self) -> u64 {
        match (self.get(Field::BytesSent), self.get(Field::BytesRetrans)) {
            (Some(sent), Some(again)) => sent.saturating_sub(again),
            _ => self.get(Field::BytesAcked).unwrap_or(0),
        }
    }

    /// What the kernel received in order, which may have a FIN in it.
    #[must_use]
    pub fn received(&self) -> u64 {
        // Without a segment that carried data there is at most a FIN.
        if self.get(Field::DataSegsIn) == Some(0) { 0 } else { self.get(Field::BytesReceived).unwrap_or(0) }
    }

    /// Payload in one direction.
    #[must_use]
    pub fn moved(&self, heading: Heading) -> u64 {
        match heading {
            Heading::Outbound => self.sent(),
            Heading::Inbound => self.received(),
        }
    }

    /// Payload that the program has handed to the kernel.
    #[must_use]
    pub fn handed_over(&self) -> u64 {
        self.sent().saturating_add(self.get(Field::Notsent).unwrap_or(0))
    }

    /// Segments retransmitted, of 32 bits that wrap.
    #[must_use]
    pub fn retransmits(&self) -> u32 {
        u32::try_from(self.get(Field::TotalRetrans).unwrap_or(0)).unwrap_or(u32::MAX)
    }
}
