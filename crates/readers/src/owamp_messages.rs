//! Readers of OWAMP's and TWAMP's messages.

use owamp::control::command::Command;
use owamp::control::fetch::FetchAck;
use owamp::control::{Protocol, Reading};
use owamp::one_way::{SentPackets, summarise};
use owamp::packet::{ReflectedPacket, SenderPacket};
use owamp::two_way::{Reply, summarise_replies};

/// A client's commands one after the other: each either needs more than there is, or is read as it would be written.
pub fn owamp_control(bytes: &[u8]) {
    for protocol in [Protocol::Owamp, Protocol::Twamp] {
        let mut rest = bytes;
        while let Ok(reading) = Command::parse(rest, protocol) {
            match reading {
                Reading::Needs(octets) => {
                    assert!(octets > rest.len(), "{octets} are needed, {} are there", rest.len());
                    break;
                }
                Reading::Whole { message, length } => {
                    let written = message.emit();
                    assert_eq!(written.len(), length, "{message:?}");
                    let again = Command::parse(&written, protocol);
                    assert_eq!(again, Ok(Reading::Whole { message, length }));
                    rest = &rest[length..];
                }
            }
        }
    }
}

/// An answer of records: no more than it announces, and sums that are those of the packets.
pub fn owamp_records(bytes: &[u8]) {
    let Some((head, body)) = bytes.split_first_chunk() else { return };
    let Ok(ack) = FetchAck::parse(head) else { return };
    let (skips, records) = body.split_at(body.len().min(ack.skips_length()));
    let (skipped, records) = (ack.skipped(skips), ack.read_records(records));
    assert!(skipped.len() <= ack.skips as usize && records.len() <= ack.records as usize);
    let sent = SentPackets { next_sequence: ack.next_sequence, skipped: &skipped };
    let result = summarise(sent, &records);
    assert!(result.packets.sent.get() <= u64::from(ack.next_sequence));
    assert!(result.packets.lost <= result.packets.sent);
    let counted: u64 = result.histogram.buckets.iter().map(|bucket| bucket.packets.get()).sum();
    assert_eq!(counted, result.hops.iter().map(|hops| hops.packets.get()).sum::<u64>());
    let replies: Vec<Reply> = bytes
        .chunks(ReflectedPacket::LEN)
        .filter_map(|packet| ReflectedPacket::parse(packet).ok())
        .map(|packet| Reply { packet, received: packet.sent, receiver_error: packet.error, ttl: packet.sender_ttl })
        .collect();
    let result = summarise_replies(ack.next_sequence, &replies);
    assert!(result.packets.lost <= result.packets.sent && result.lost_at_end <= result.packets.lost);
}

/// Test packets, those of STAMP included.
pub fn stamp(bytes: &[u8]) {
    if let Ok(packet) = SenderPacket::parse(bytes) {
        assert_eq!(SenderPacket::parse(&packet.emit::<{ SenderPacket::LEN }>()), Ok(packet));
    }
    if let Ok(packet) = ReflectedPacket::parse(bytes) {
        assert_eq!(ReflectedPacket::parse(&packet.emit::<{ ReflectedPacket::LEN }>()), Ok(packet));
    }
}
