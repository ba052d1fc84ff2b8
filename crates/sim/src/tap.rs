//! What a packet capture at one of the two hosts would hold, as it happens.

use std::collections::BTreeMap;
use std::time::Duration;

use units::MonoTime;

use crate::receiver::Acknowledgement;

/// At which host packets are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TapPoint {
    /// Between the sender's NIC and the path: segments as they leave, acknowledgments as they come.
    Sender,
    /// Between the path and the receiver.
    Receiver,
}

/// A packet at the tap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapEvent {
    /// When, counted from the start of the path.
    pub at: Duration,
    /// Which of several transfers it belongs to.
    pub flow: usize,
    /// What it is.
    pub packet: TapPacket,
}

/// What is captured. Segments count from 0 and are all of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TapPacket {
    /// The sender asks for a connection.
    Syn,
    /// The receiver grants it.
    SynAck {
        /// Bytes that it offers at first.
        window: u64,
        /// Its time stamp, in milliseconds.
        said_ms: u32,
    },
    /// The handshake is over.
    Established,
    /// Segments that segmentation offload has not cut yet, or that the receiver's has merged; 1 for a single one.
    Data {
        /// The first of them.
        first: u32,
        /// How many.
        count: u32,
        /// Whether a queue has marked them.
        is_marked: bool,
        /// Time stamps (RFC 7323).
        stamps: Stamps,
    },
    /// An acknowledgment.
    Ack(TapAck),
}

/// What an acknowledgment says. Ranges go from a first segment to before a last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapAck {
    /// Everything before this segment has come.
    pub to: u32,
    /// Bytes from there on that are offered.
    pub window: u64,
    /// What came beyond, the latest first (RFC 2018); empty ranges are none.
    pub blocks: [(u32, u32); 4],
    /// What came twice (RFC 2883); an empty range is none.
    pub duplicate: (u32, u32),
    /// Whether marked segments are reported.
    pub has_echo: bool,
    /// Its time stamp, in milliseconds.
    pub said_ms: u32,
}

/// Time stamps of a segment (RFC 7323), in milliseconds from the start of the path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamps {
    /// When it was sent.
    pub value: u32,
    /// The stamp of the last acknowledgment that its sender had.
    pub echo: u32,
}

impl From<&Acknowledgement> for TapAck {
    fn from(ack: &Acknowledgement) -> Self {
        Self {
            to: ack.to,
            window: ack.window,
            blocks: ack.blocks,
            duplicate: ack.duplicate,
            has_echo: ack.marked > 0,
            said_ms: ack.said_ms,
        }
    }
}

/// Keeps what passes until somebody takes it.
#[derive(Debug)]
pub(crate) struct Tap {
    point: TapPoint,
    pub(crate) events: Vec<TapEvent>,
    /// For each flow, the stamps of the frames that are under way, by the number of their first segment.
    stamps: Vec<BTreeMap<u32, Stamps>>,
}

impl Tap {
    pub(crate) fn new(point: TapPoint, flows: usize) -> Self {
        Self { point, events: Vec::new(), stamps: vec![BTreeMap::new(); flows] }
    }

    /// A packet passes at one of the hosts; it is kept where that is the one.
    pub(crate) fn passes(&mut self, point: TapPoint, now: MonoTime, flow: usize, packet: TapPacket) {
        if point == self.point {
            self.events.push(TapEvent { at: now.since(MonoTime::default()), flow, packet });
        }
    }

    /// A frame leaves its host with these stamps.
    pub(crate) fn stamped(&mut self, flow: usize, first: u32, stamps: Stamps) {
        if let Some(frames) = self.stamps.get_mut(flow) {
            frames.insert(first, stamps);
            while frames.len() > MOST_FRAMES {
                frames.pop_first();
            }
        }
    }

    /// The stamps that a segment left with.
    pub(crate) fn stamps(&self, flow: usize, segment: u32) -> Stamps {
        let frame = self.stamps.get(flow).and_then(|frames| frames.range(..=segment).next_back());
        frame.map_or_else(Stamps::default, |(_, stamps)| *stamps)
    }
}

/// Frames of a flow that are under way, at most.
const MOST_FRAMES: usize = 1 << 17;

/// A time stamp's clock.
pub(crate) fn stamp_ms(now: MonoTime) -> u32 {
    // It starts at 1: 0 says that there is none.
    u32::try_from(now.as_nanos() / 1_000_000 + 1).unwrap_or(u32::MAX)
}
