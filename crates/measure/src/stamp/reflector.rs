//! Answering probes. Stateless, and never with more bytes than were asked with, so it cannot amplify.

use units::{MonoTime, WallTime};

use super::packet::{Answer, ErrorEstimate, LARGE_LEN, NtpTime, PACKET_LEN, Question};

/// The clock of the stamps: calendar time at the start, then the monotonic clock, so that a step of the calendar
/// does not tear a measurement.
#[derive(Debug, Clone, Copy)]
pub struct StampClock {
    wall_minus_mono_ns: i64,
}

impl StampClock {
    /// The clock that shows `wall` at `mono`.
    #[must_use]
    pub fn new(wall: WallTime, mono: MonoTime) -> Self {
        let difference = i128::from(wall.unix_nanos()) - i128::from(mono.as_nanos());
        Self { wall_minus_mono_ns: i64::try_from(difference).unwrap_or(0) }
    }

    /// What to take from a stamp to get the monotonic clock.
    #[must_use]
    pub const fn wall_minus_mono_ns(self) -> i64 {
        self.wall_minus_mono_ns
    }

    /// The stamp at `mono`.
    #[must_use]
    pub fn stamp(self, mono: MonoTime) -> NtpTime {
        NtpTime::from_wall(WallTime::from_unix_nanos(mono.as_nanos().saturating_add_signed(self.wall_minus_mono_ns)))
    }
}

/// The answer to a probe, as long as the probe up to [`LARGE_LEN`]; `None` where the datagram is no probe.
#[must_use]
pub fn answer(datagram: &[u8], clock: StampClock, times: Times) -> Option<Reply> {
    // A shorter one may be a packet of TWAMP, whose answer would be longer than it.
    let question = datagram.get(..PACKET_LEN).and_then(|packet| Question::parse(packet).ok())?;
    let answer = Answer {
        sequence: question.sequence,
        sent: clock.stamp(times.sent),
        error: ErrorEstimate::UNSYNCHRONISED,
        received: clock.stamp(times.received),
        sender: question,
        sender_ttl: 255,
    };
    let mut reply = Reply { bytes: [0; LARGE_LEN], length: datagram.len().min(LARGE_LEN) };
    reply.bytes[..PACKET_LEN].copy_from_slice(&answer.emit::<PACKET_LEN>());
    Some(reply)
}

/// Puts into an answer when it leaves, where it has waited since it was made (RFC 8762 §4.3.1: octets 4 to 11).
pub fn stamp_departure(answer: &mut [u8], sent: NtpTime) {
    if let Some(place) = answer.get_mut(4..12) {
        place.copy_from_slice(&sent.bits().to_be_bytes());
    }
}

/// What goes back to the one who asked.
#[derive(Debug, Clone, Copy)]
pub struct Reply {
    bytes: [u8; LARGE_LEN],
    length: usize,
}

impl Reply {
    /// What is sent: as many bytes as were asked with, so that nobody gets more than they paid for.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// When a probe came and its answer goes.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// The probe arrived.
    pub received: MonoTime,
    /// The answer is about to be written.
    pub sent: MonoTime,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_carries_both_times_and_is_no_longer_than_its_question() {
        let clock = StampClock::new(WallTime::from_unix_nanos(1_790_000_000_000_000_000), MonoTime::from_nanos(77));
        let asked = NtpTime::from_wall(WallTime::from_unix_nanos(5));
        let question = Question { sequence: 9, sent: asked, error: ErrorEstimate::UNSYNCHRONISED };
        let times = Times { received: MonoTime::from_nanos(1_000_077), sent: MonoTime::from_nanos(1_500_077) };
        let reply = answer(&question.emit::<PACKET_LEN>(), clock, times).unwrap();
        assert_eq!(reply.bytes().len(), PACKET_LEN);
        let parsed = Answer::parse(reply.bytes()).unwrap();
        assert_eq!((parsed.sequence, parsed.sender), (9, question));
        assert_eq!(parsed.sent.nanos_since(parsed.received), 499_999, "half a millisecond, to NTP's fraction");
        let mut held = reply.bytes().to_vec();
        stamp_departure(&mut held, clock.stamp(MonoTime::from_nanos(2_000_077)));
        let held = Answer::parse(&held).unwrap();
        assert_eq!(held.sent.nanos_since(held.received), 999_999, "a millisecond, of one that has waited");
        assert_eq!(Answer { sent: parsed.sent, ..held }, parsed, "all else is as it was");
        assert!(answer(b"9876", clock, times).is_none());
        let mut large = [0; LARGE_LEN + 1];
        large[..PACKET_LEN].copy_from_slice(&question.emit::<PACKET_LEN>());
        assert_eq!(
            answer(&large[..900], clock, times).unwrap().bytes().len(),
            900,
            "a large probe gets a large answer"
        );
        assert_eq!(answer(&large, clock, times).unwrap().bytes().len(), LARGE_LEN);
    }
}
