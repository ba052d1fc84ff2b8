//! A simulated transfer as a capture file: the headers that a capture at one of its hosts would hold.
//!
//! Model: IPv4 from 10.0.0.1 to 10.0.1.1, a port for each transfer, time stamps of milliseconds, no FIN. An
//! acknowledgment echoes no stamp of its own segment but that of the last data that passed the tap.

use std::net::{Ipv4Addr, SocketAddrV4};

use capture::decode::flag;
use capture::write::{WrittenSegment, file_header, segment};
use units::Mss;

use crate::tap::{Stamps, TapAck, TapEvent, TapPacket};

/// One direction's hosts and numbers.
#[derive(Debug, Clone, Copy)]
struct Conversation {
    mss: u32,
    scale: u8,
    /// Sequence number of the first byte: each transfer has another, and some wrap.
    first: u32,
    ip_id: u16,
    ack_ip_id: u16,
    /// The last time stamps of both hosts.
    stamps: Stamps,
}

/// Writes what passes a tap, packet by packet.
#[derive(Debug)]
pub struct PcapWriter {
    conversations: Vec<Conversation>,
    bytes: Vec<u8>,
}

/// What the writer has to know of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapFlow {
    /// The payload of a segment.
    pub mss: Mss,
    /// The window scale of the receiver.
    pub window_scale: u8,
}

/// When a simulation starts, in seconds since 1970.
const EPOCH_S: u64 = 1_700_000_000;
const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
const PORT: u16 = 5_201;
const FIRST_PORT: u16 = 40_000;
/// The receiver sends no data: its numbers stand still.
const ACK_SEQ: u32 = 1;
const FIRST_NUMBER: u32 = 0xfff0_0000;
const NUMBER_STEP: u32 = 0x1234_5678;

impl PcapWriter {
    /// A file without packets.
    #[must_use]
    pub fn new(flows: &[TapFlow]) -> Self {
        let mut bytes = Vec::new();
        file_header(&mut bytes);
        let conversation = |(number, flow): (u32, &TapFlow)| Conversation {
            mss: flow.mss.get(),
            scale: flow.window_scale,
            first: FIRST_NUMBER.wrapping_add(number.wrapping_mul(NUMBER_STEP)),
            ip_id: 1,
            ack_ip_id: 1,
            stamps: Stamps::default(),
        };
        Self { conversations: (0..).zip(flows).map(conversation).collect(), bytes }
    }

    /// One packet.
    pub fn take(&mut self, event: &TapEvent) {
        let Some(conversation) = self.conversations.get_mut(event.flow) else { return };
        let port = FIRST_PORT.saturating_add(u16::try_from(event.flow).unwrap_or(u16::MAX));
        let sender = SocketAddrV4::new(SENDER, port);
        let receiver = SocketAddrV4::new(RECEIVER, PORT);
        let mut options = Vec::new();
        let mut written = WrittenSegment {
            time_ns: EPOCH_S * 1_000_000_000 + u64::try_from(event.at.as_nanos()).unwrap_or(u64::MAX / 2),
            from: sender,
            to: receiver,
            seq: conversation.first,
            ack: ACK_SEQ,
            flags: flag::ACK,
            window: u16::MAX,
            payload: 0,
            options: &[],
            ip_id: 0,
            ecn: 0,
        };
        match event.packet {
            TapPacket::Syn => {
                (written.seq, written.ack, written.flags) = (conversation.first.wrapping_sub(1), 0, flag::SYN);
                syn_options(conversation, &mut options);
            }
            TapPacket::SynAck { window, said_ms } => {
                conversation.stamps.echo = said_ms;
                (written.from, written.to) = (receiver, sender);
                (written.seq, written.ack) = (ACK_SEQ.wrapping_sub(1), conversation.first);
                written.flags = flag::SYN | flag::ACK;
                written.window = u16::try_from(window).unwrap_or(u16::MAX);
                syn_options(conversation, &mut options);
            }
            TapPacket::Established => stamp_options(conversation.stamps, &mut options),
            TapPacket::Data { first, count, is_marked, stamps } => {
                conversation.stamps.value = stamps.value;
                stamp_options(stamps, &mut options);
                written.seq = conversation.number(first);
                written.payload = count.wrapping_mul(conversation.mss);
                written.ecn = if is_marked { 3 } else { 0 };
            }
            TapPacket::Ack(ack) => {
                (written.from, written.to) = (receiver, sender);
                (written.seq, written.ack) = (ACK_SEQ, conversation.number(ack.to));
                written.window = u16::try_from(ack.window >> conversation.scale).unwrap_or(u16::MAX);
                written.flags |= if ack.has_echo { flag::ECE } else { 0 };
                stamp_options(Stamps { value: ack.said_ms, echo: conversation.stamps.value }, &mut options);
                sack_options(conversation, &ack, &mut options);
            }
        }
        let ip_id = if written.from == sender { &mut conversation.ip_id } else { &mut conversation.ack_ip_id };
        written.ip_id = *ip_id;
        *ip_id = ip_id.wrapping_add(1);
        segment(&WrittenSegment { options: &options, ..written }, &mut self.bytes);
    }

    /// What was written since this was asked for last: a file in pieces.
    pub fn drain(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Bytes that wait for [`Self::drain`].
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.bytes.len()
    }
}

impl Conversation {
    fn number(&self, segment: u32) -> u32 {
        self.first.wrapping_add(segment.wrapping_mul(self.mss))
    }
}

/// MSS (RFC 9293), SACK permitted (RFC 2018), time stamps and window scale (RFC 7323).
fn syn_options(conversation: &Conversation, options: &mut Vec<u8>) {
    options.extend([2, 4]);
    // With the 12 bytes that time stamps take in each segment.
    options.extend(u16::try_from(conversation.mss + 12).unwrap_or(u16::MAX).to_be_bytes());
    options.extend([4, 2, 8, 10]);
    options.extend(conversation.stamps.value.max(1).to_be_bytes());
    options.extend(conversation.stamps.echo.to_be_bytes());
    options.extend([1, 3, 3, conversation.scale]);
}

fn stamp_options(stamps: Stamps, options: &mut Vec<u8>) {
    options.extend([1, 1, 8, 10]);
    options.extend(stamps.value.to_be_bytes());
    options.extend(stamps.echo.to_be_bytes());
}

fn sack_options(conversation: &Conversation, ack: &TapAck, options: &mut Vec<u8>) {
    let is_there = |range: &&(u32, u32)| range.0 < range.1;
    let blocks: Vec<(u32, u32)> =
        std::iter::once(&ack.duplicate).chain(&ack.blocks).filter(is_there).take(3).copied().collect();
    if blocks.is_empty() {
        return;
    }
    options.extend([1, 1, 5, u8::try_from(2 + 8 * blocks.len()).unwrap_or(26)]);
    for (from, to) in blocks {
        options.extend(conversation.number(from).to_be_bytes());
        options.extend(conversation.number(to).to_be_bytes());
    }
}
