//! Each stream, its two ends put together.

use model::measurement::{DatagramCounts, Flow, Heading};
use units::{ByteCount, PacketCount};

use wire::extension::FlowReport;
use wire::results::StreamResult;

/// A stream with what each side says of it.
#[derive(Debug, Clone)]
pub struct TwoEnds {
    /// Number of the stream, from 1.
    pub stream: u32,
    /// Which way its payload goes, seen from here.
    pub heading: Heading,
    /// Our address.
    pub local_address: String,
    /// The peer's address.
    pub peer_address: String,
    /// What this side counted.
    pub local: FlowReport,
    /// What the peer counted, where it said so.
    pub peer: Option<FlowReport>,
}

impl TwoEnds {
    /// What the sender counted, where it is known.
    #[must_use]
    pub fn sender(&self) -> Option<&FlowReport> {
        match self.heading {
            Heading::Outbound => Some(&self.local),
            Heading::Inbound => self.peer.as_ref(),
        }
    }

    /// What the receiver counted, where it is known.
    #[must_use]
    pub fn receiver(&self) -> Option<&FlowReport> {
        match self.heading {
            Heading::Outbound => self.peer.as_ref(),
            Heading::Inbound => Some(&self.local),
        }
    }

    /// The two ends as one flow.
    #[must_use]
    pub fn flow(&self) -> Flow {
        let (sender, receiver) = (self.sender(), self.receiver());
        Flow {
            stream: self.stream,
            heading: self.heading,
            local_address: self.local_address.clone(),
            peer_address: self.peer_address.clone(),
            mss: sender.and_then(|end| end.mss).or_else(|| receiver.and_then(|end| end.mss)),
            congestion_control: sender.and_then(|end| end.congestion_control.clone()),
            sent_by: sender.and_then(|end| end.sent_by),
            copy_fallback: sender.and_then(|end| end.copy_fallback),
            received_by: receiver.and_then(|end| end.received_by),
            sent: sender.map(|end| ByteCount::new(end.bytes)),
            received: receiver.map(|end| ByteCount::new(end.bytes)),
            retransmits: sender.and_then(|end| end.retransmits).map(PacketCount::new),
            datagrams: self.datagrams(),
        }
    }

    /// What became of the datagrams, the tail included where the sender's count is known.
    fn datagrams(&self) -> Option<DatagramCounts> {
        let sent = self.sender().and_then(|end| end.datagrams).map(|counts| counts.sent);
        let Some(seen) = self.receiver().and_then(|end| end.datagrams) else {
            return sent.map(|sent| DatagramCounts { sent, ..DatagramCounts::default() });
        };
        // A receiver's own `sent` is the highest number that it saw.
        let highest = seen.sent;
        let sent = sent.unwrap_or(highest).max(highest);
        Some(DatagramCounts {
            sent,
            lost: sent.saturating_sub(seen.received),
            lost_at_tail: sent.saturating_sub(highest),
            ..seen
        })
    }
}

/// What a plain iperf3 says of its end.
#[must_use]
pub fn from_iperf3(result: &StreamResult, has_datagrams: HasDatagrams) -> FlowReport {
    let count = |value: i64| u64::try_from(value).unwrap_or(0);
    let datagrams = (has_datagrams == HasDatagrams::Yes).then(|| {
        let seen = count(result.packets);
        // Old versions subtract more from the losses than there were, and report a negative count.
        let lost = count(result.errors);
        DatagramCounts {
            sent: PacketCount::new(seen),
            received: PacketCount::new(seen.saturating_sub(lost)),
            lost: PacketCount::new(lost),
            jitter: std::time::Duration::try_from_secs_f64(result.jitter).unwrap_or_default(),
            ..DatagramCounts::default()
        }
    });
    let elapsed = std::time::Duration::try_from_secs_f64(result.end_time - result.start_time).unwrap_or_default();
    FlowReport {
        bytes: count(result.bytes),
        elapsed_us: units::duration::micros(elapsed),
        retransmits: u64::try_from(result.retransmits).ok(),
        datagrams,
        ..FlowReport::default()
    }
}

/// Whether a result is of datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HasDatagrams {
    /// UDP.
    Yes,
    /// TCP.
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagrams(sent: u64, received: u64) -> FlowReport {
        let counts = DatagramCounts {
            sent: PacketCount::new(sent),
            received: PacketCount::new(received),
            ..DatagramCounts::default()
        };
        FlowReport { datagrams: Some(counts), ..FlowReport::default() }
    }

    fn outbound(local: FlowReport, peer: Option<FlowReport>) -> TwoEnds {
        TwoEnds {
            stream: 1,
            heading: Heading::Outbound,
            local_address: String::new(),
            peer_address: String::new(),
            local,
            peer,
        }
    }

    #[test]
    fn datagrams_lost_at_the_tail_are_lost() {
        let counts = outbound(datagrams(100, 0), Some(datagrams(90, 85))).flow().datagrams.unwrap();
        assert_eq!(counts.lost, PacketCount::new(15));
        assert_eq!(counts.lost_at_tail, PacketCount::new(10));
    }

    #[test]
    fn without_the_receiver_nothing_is_known_to_be_lost() {
        let counts = outbound(datagrams(100, 0), None).flow().datagrams.unwrap();
        assert_eq!((counts.sent, counts.lost), (PacketCount::new(100), PacketCount::ZERO));
    }

    #[test]
    fn an_iperf3_receiver_counts_the_highest_number_not_what_it_got() {
        let result = StreamResult { packets: 447_286, errors: 422_793, ..StreamResult::default() };
        let counts = outbound(datagrams(454_125, 0), Some(from_iperf3(&result, HasDatagrams::Yes))).flow().datagrams;
        let counts = counts.unwrap();
        assert_eq!(counts.received, PacketCount::new(447_286 - 422_793));
        assert_eq!(counts.lost_at_tail, PacketCount::new(454_125 - 447_286));
    }
}
