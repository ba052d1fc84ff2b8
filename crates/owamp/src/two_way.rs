//! What packets show that were reflected: the round, and each direction by itself.

use model::probe::one_way::{PacketTotals, TwoWayResult};
use units::PacketCount;

use crate::estimate::ErrorEstimate;
use crate::one_way::{Delays, SentPackets, summarise};
use crate::packet::ReflectedPacket;
use crate::record::PacketRecord;
use crate::time::NtpTime;

/// A reflected packet as the session's sender saw it arrive.
#[derive(Debug, Clone, Copy)]
pub struct Reply {
    /// What the reflector sent back.
    pub packet: ReflectedPacket,
    /// When it arrived, by the sender's clock.
    pub received: NtpTime,
    /// How wrong that clock may be.
    pub receiver_error: ErrorEstimate,
    /// TTL with which it arrived; 255 where that is not known.
    pub ttl: u8,
}

impl Reply {
    /// From sending to the reply's arrival, without the time that the reflector took.
    fn rtt_ns(&self) -> i64 {
        let away = self.received.nanos_since(self.packet.sender.sent);
        let reflecting = self.packet.sent.nanos_since(self.packet.received).max(0);
        away.saturating_sub(reflecting).max(0)
    }

    fn forward(&self) -> PacketRecord {
        PacketRecord {
            sequence: self.packet.sender.sequence,
            sender_error: self.packet.sender.error,
            receiver_error: self.packet.error,
            sent: self.packet.sender.sent,
            received: self.packet.received,
            ttl: self.packet.sender_ttl,
        }
    }

    fn reverse(&self) -> PacketRecord {
        PacketRecord {
            sequence: self.packet.sequence,
            sender_error: self.packet.error,
            receiver_error: self.receiver_error,
            sent: self.packet.sent,
            received: self.received,
            ttl: self.ttl,
        }
    }
}

/// Sums up a session of `sent` packets by their replies in the order of their arrival.
///
/// A reflector numbers what it reflects by itself (RFC 5357 §4.2.1), so a gap in its numbers is a loss on the reverse path,
/// and a gap in ours without one in its numbers a loss on the forward path.
///
/// Model: a packet that the network duplicates on the forward path hides one that it loses there.
#[must_use]
pub fn summarise_replies(sent: u32, replies: &[Reply]) -> TwoWayResult {
    let replies: Vec<&Reply> = replies.iter().filter(|reply| reply.packet.sender.sequence < sent).collect();
    let all: Vec<PacketRecord> = replies
        .iter()
        .map(|reply| PacketRecord { sequence: reply.packet.sender.sequence, ..reply.reverse() })
        .collect();
    let packets = summarise(SentPackets { next_sequence: sent, skipped: &[] }, &all).packets;
    let rtts = Delays::new(replies.iter().map(|reply| reply.rtt_ns()));
    let answered = replies.iter().map(|reply| reply.packet.sender.sequence + 1).max().unwrap_or(0);
    let reflected = replies.iter().map(|reply| reply.packet.sequence.saturating_add(1)).max().unwrap_or(0);

    let mut arrivals = replies.clone();
    arrivals.sort_by_key(|reply| reply.packet.sequence);
    let forward: Vec<PacketRecord> = arrivals.iter().map(|reply| reply.forward()).collect();
    let mut forward = summarise(SentPackets { next_sequence: answered, skipped: &[] }, &forward);
    forward.packets.lost = PacketCount::new(u64::from(answered.saturating_sub(reflected)));
    let reverse: Vec<PacketRecord> = replies.iter().map(|reply| reply.reverse()).collect();
    let reverse = summarise(SentPackets { next_sequence: reflected, skipped: &[] }, &reverse);
    TwoWayResult {
        packets: PacketTotals { ..packets },
        rtt: rtts.summary(),
        histogram: rtts.histogram(),
        forward,
        reverse,
        lost_at_end: PacketCount::new(u64::from(sent - answered)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::packet::SenderPacket;
    use crate::time::NtpInterval;

    /// Packet `number` as the reflector's packet `reflected`: 1 ms forward, 4 ms in the reflector, 2 ms back.
    fn reply(number: u32, reflected: u32) -> Reply {
        let ms = |count| NtpInterval::from_duration(Duration::from_millis(count));
        let error = ErrorEstimate::UNSYNCHRONISED;
        let sent = NtpTime::from_bits(1 << 40).after(ms(10 * u64::from(number)));
        let packet = ReflectedPacket {
            sequence: reflected,
            sent: sent.after(ms(5)),
            error,
            received: sent.after(ms(1)),
            sender: SenderPacket { sequence: number, sent, error },
            sender_ttl: 254,
        };
        Reply { packet, received: sent.after(ms(7)), receiver_error: error, ttl: 253 }
    }

    #[test]
    fn a_loss_is_of_the_direction_in_whose_numbers_the_gap_is() {
        // Of ten packets 2 is lost forward, 4 on its way back (the reflector's number 3), 8 and 9 wherever.
        let replies = [reply(0, 0), reply(1, 1), reply(3, 2), reply(5, 4), reply(6, 5), reply(7, 6)];
        let result = summarise_replies(10, &replies);
        assert_eq!((result.packets.sent.get(), result.packets.lost.get()), (10, 4));
        assert_eq!((result.forward.packets.sent.get(), result.forward.packets.lost.get()), (8, 1));
        assert_eq!((result.reverse.packets.sent.get(), result.reverse.packets.lost.get()), (7, 1));
        assert_eq!(result.lost_at_end.get(), 2);
        let ms = |ns: i64| (ns + 500_000) / 1_000_000;
        assert_eq!(ms(result.rtt.unwrap().median_ns), 3, "without the time in the reflector");
        assert_eq!(ms(result.forward.delay.unwrap().median_ns), 1);
        assert_eq!(ms(result.reverse.delay.unwrap().median_ns), 2);
        assert_eq!((result.forward.hops[0].hops, result.reverse.hops[0].hops), (1, 2));
    }

    #[test]
    fn without_a_reply_no_direction_is_to_blame() {
        let result = summarise_replies(5, &[]);
        assert_eq!((result.packets.lost.get(), result.lost_at_end.get(), result.rtt), (5, 5, None));
        assert_eq!((result.forward.packets.lost.get(), result.reverse.packets.lost.get()), (0, 0));
    }

    #[test]
    fn numbers_that_no_session_has_overflow_nothing() {
        let result = summarise_replies(2, &[reply(1, u32::MAX), reply(7, 0)]);
        assert_eq!(result.packets.lost.get(), 1);
    }
}
