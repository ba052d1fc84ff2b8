//! What a peer claims, held against what this side counted and its own clock. A claim that cannot be true is said and
//! not used.

use std::time::Duration;

use model::measurement::Heading;
use model::spec::Protocol;
use units::{ByteCount, PacketCount};
use wire::extension::FlowReport;
use wire::results::StreamResult;

use super::flows::TwoEnds;

/// What a claim is held against, besides this side's own count of the stream.
#[derive(Debug, Clone, Copy)]
pub struct Knowledge {
    /// TCP or UDP: a datagram may be duplicated or lost on the path, a byte of a stream may not.
    pub protocol: Protocol,
    /// From our start to the end of our part.
    pub time: Duration,
    /// Start of the test that an iperf3 leaves out of its counts, at a moment of its own.
    pub omit: Duration,
    /// Of a TCP stream that this side sent, where its kernel told.
    pub acknowledged: Option<Acknowledged>,
}

/// What the peer's kernel said of a stream, which the peer's program does not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledged {
    /// Payload that it acknowledged.
    pub bytes: u64,
    /// The widest window that it advertised: what may lie in its buffer, unread.
    pub widest_window: u64,
}

/// More than a sender can still hold of a TCP stream when the test ends: the kernel's buffers end at 2 GiB.
const NOT_SCHEDULED_US: u64 = 200_000;
const LARGEST_BUFFER: u64 = 4 << 30;
/// An iperf3 counts no part of a block; one is 1 MiB at most (iperf 3.21: `MAX_BLOCKSIZE`).
const LARGEST_BLOCK: u64 = 1 << 20;
/// No host sends more datagrams in a second, nor bytes.
const MOST_DATAGRAMS_PER_SECOND: u64 = 1_000_000_000;
const MOST_BYTES_PER_SECOND: u64 = 1 << 38;
/// How much later than our own end a peer may have had its last byte.
const LATEST: Duration = Duration::from_secs(120);

/// What is wrong with an iperf3's result before anything else is known; `None` where it may be true.
#[must_use]
pub fn impossible(result: &StreamResult) -> Option<String> {
    let times = [result.start_time, result.end_time, result.jitter];
    if result.bytes < 0 {
        return Some(format!("claims {} bytes", result.bytes));
    }
    if result.packets < 0 {
        return Some(format!("claims {} datagrams", result.packets));
    }
    if times.iter().any(|time| !time.is_finite() || *time < 0.0) {
        return Some("claims times that are none".to_owned());
    }
    None
}

/// Takes the peer's claims out of a stream where they cannot be true, and says which.
pub fn hold_against(ends: &mut TwoEnds, known: Knowledge) -> Option<String> {
    let numbers = numbers_are_numbers(ends, known);
    let wrong = ends.peer.as_ref().and_then(|claim| wrong_of_stream(ends, claim, known));
    let Some(wrong) = wrong else { return numbers };
    ends.peer = None;
    Some(format!("the peer {wrong} on stream {}; its counts are not used", ends.stream))
}

fn wrong_of_stream(ends: &TwoEnds, claim: &FlowReport, known: Knowledge) -> Option<String> {
    if Duration::from_micros(claim.elapsed_us) > known.time.saturating_add(known.omit).saturating_add(LATEST) {
        let claimed = units::duration::show(Duration::from_micros(claim.elapsed_us));
        return Some(format!("claims that it took {claimed} of {}", units::duration::show(known.time)));
    }
    let (own, claimed) = (ends.local.bytes, claim.bytes);
    let show = |bytes| ByteCount::new(bytes).to_string();
    match ends.heading {
        Heading::Outbound if claimed > most_received(own, known) => {
            Some(format!("claims to have received {} of {} that were sent", show(claimed), show(own)))
        }
        Heading::Outbound if known.acknowledged.is_some_and(|kernel| claimed < least_received(kernel, known)) => {
            let acknowledged = known.acknowledged.map_or(0, |kernel| kernel.bytes);
            Some(format!("claims to have received {}; its kernel acknowledged {}", show(claimed), show(acknowledged)))
        }
        Heading::Outbound if is_too_soon(&ends.local, claim) => {
            let [claimed, sent] =
                [claim, &ends.local].map(|end| units::duration::show(Duration::from_micros(end.elapsed_us)));
            Some(format!("claims to have had the last byte after {claimed}, which was sent after {sent}"))
        }
        Heading::Inbound if claimed < least_sent(own, known) => {
            Some(format!("claims to have sent {}, of which {} came", show(claimed), show(own)))
        }
        Heading::Inbound if claimed > most_sent(own, known) => {
            Some(format!("claims to have sent {}, of which only {} came", show(claimed), show(own)))
        }
        _ => wrong_datagrams(ends, claim),
    }
}

/// A receiver that read to the end cannot have been done long before the sender was. Its time begins with its first byte,
/// and a busy sender may not be scheduled for a while before it sends that.
fn is_too_soon(own: &FlowReport, claim: &FlowReport) -> bool {
    claim.drained && claim.elapsed_us.saturating_add(NOT_SCHEDULED_US) < own.elapsed_us / 4
}

fn most_received(sent: u64, known: Knowledge) -> u64 {
    let slack = if known.omit.is_zero() { 0 } else { sent / 2 + LARGEST_BUFFER };
    match known.protocol {
        Protocol::Tcp => sent.saturating_add(slack),
        // A path may duplicate datagrams.
        Protocol::Udp => sent.saturating_mul(2).saturating_add(slack),
    }
}

/// What is acknowledged was read, or lies in a buffer that was as large as its widest window, in a kernel that counts each
/// byte with its overhead.
fn least_received(kernel: Acknowledged, known: Knowledge) -> u64 {
    let unread = kernel.widest_window.saturating_mul(2).saturating_add(LARGEST_BLOCK);
    // Some receivers go on reading until the sender has noticed the end, and no longer count: a busy one for a good part of a short test.
    if known.omit.is_zero() { (kernel.bytes / 2).saturating_sub(unread) } else { 0 }
}

fn least_sent(received: u64, known: Knowledge) -> u64 {
    let slack = if known.omit.is_zero() { 0 } else { received / 2 + LARGEST_BUFFER };
    match known.protocol {
        // Some senders go on writing until the receiver has noticed the end, and no longer count.
        Protocol::Tcp => received.saturating_sub(slack).saturating_sub(received / 50),
        Protocol::Udp => (received / 2).saturating_sub(slack),
    }
}

fn most_sent(received: u64, known: Knowledge) -> u64 {
    match known.protocol {
        Protocol::Tcp => received.saturating_add(LARGEST_BUFFER),
        Protocol::Udp => whole_seconds(known).saturating_mul(MOST_BYTES_PER_SECOND),
    }
}

fn wrong_datagrams(ends: &TwoEnds, claim: &FlowReport) -> Option<String> {
    let (own, claim) = (ends.local.datagrams?, claim.datagrams?);
    match ends.heading {
        Heading::Outbound if claim.sent > own.sent => {
            Some(format!("claims to have seen datagram {}, and {} were sent", claim.sent, own.sent))
        }
        Heading::Outbound if claim.lost > claim.sent => {
            Some(format!("claims that {} of {} datagrams were lost", claim.lost, claim.sent))
        }
        _ => None,
    }
}

/// A sender that writes no numbers into its datagrams (uiperf3 sends random bytes) is counted by what came.
fn numbers_are_numbers(ends: &mut TwoEnds, known: Knowledge) -> Option<String> {
    if ends.heading != Heading::Inbound {
        return None;
    }
    let claimed = ends.peer.as_ref().and_then(|claim| claim.datagrams).map(|counts| counts.sent);
    let own = ends.local.datagrams.as_mut()?;
    let most = PacketCount::new(whole_seconds(known).saturating_mul(MOST_DATAGRAMS_PER_SECOND));
    let beyond_claim = claimed.is_some_and(|sent| own.sent > sent && sent >= own.received);
    if own.sent <= most && !(beyond_claim && own.sent.get() / 2 > own.received.get()) {
        return None;
    }
    let highest = own.sent;
    own.sent = claimed.unwrap_or(own.received).max(own.received);
    own.lost = own.sent.saturating_sub(own.received);
    (own.lost_at_tail, own.reordered, own.duplicated) = (PacketCount::ZERO, PacketCount::ZERO, PacketCount::ZERO);
    let counted = if claimed.is_some() { "datagrams are counted by what each side says" } else { "loss is not known" };
    Some(format!(
        "the datagrams of stream {} are not numbered (the highest would be {highest}); {counted}",
        ends.stream
    ))
}

fn whole_seconds(known: Knowledge) -> u64 {
    known.time.as_secs().saturating_add(1)
}

#[cfg(test)]
mod tests {
    use model::measurement::DatagramCounts;

    use super::*;

    const TCP: Knowledge =
        Knowledge { protocol: Protocol::Tcp, time: Duration::from_secs(1), omit: Duration::ZERO, acknowledged: None };
    const UDP: Knowledge = Knowledge { protocol: Protocol::Udp, ..TCP };

    fn end(bytes: u64, elapsed_us: u64) -> FlowReport {
        FlowReport { bytes, elapsed_us, ..FlowReport::default() }
    }

    fn ends(heading: Heading, local: FlowReport, peer: FlowReport) -> TwoEnds {
        TwoEnds {
            stream: 1,
            heading,
            local_address: String::new(),
            peer_address: String::new(),
            local,
            peer: Some(peer),
        }
    }

    fn numbered(bytes: u64, highest: u64, received: u64) -> FlowReport {
        let counts = DatagramCounts {
            sent: PacketCount::new(highest),
            received: PacketCount::new(received),
            ..DatagramCounts::default()
        };
        FlowReport { datagrams: Some(counts), ..end(bytes, 1_000_000) }
    }

    #[test]
    fn more_than_was_sent_cannot_have_been_received() {
        let mut lie = ends(Heading::Outbound, end(1_000_000, 1_000_000), end(1_000_000_000_000_000, 1_000_000));
        let said = hold_against(&mut lie, TCP).unwrap();
        assert!(said.contains("claims to have received") && said.ends_with("its counts are not used"), "{said}");
        assert!(lie.peer.is_none());
        let mut honest = ends(Heading::Outbound, end(1_000_000, 1_000_000), end(999_999, 1_100_000));
        assert_eq!(hold_against(&mut honest, TCP), None);
        assert!(honest.peer.is_some());
    }

    #[test]
    fn a_receiver_has_what_its_kernel_acknowledged_or_leaves_a_buffer_of_it() {
        let acknowledged = Some(Acknowledged { bytes: 1_350_000_000, widest_window: 3_000_000 });
        let known = Knowledge { acknowledged, ..TCP };
        let claim = |bytes| ends(Heading::Outbound, end(1_350_000_000, 1_000_000), end(bytes, 1_000_000));
        let said = hold_against(&mut claim(1_000_000), known).unwrap();
        assert!(said.contains("claims to have received 1.00 MB; its kernel acknowledged 1.35 GB"), "{said}");
        assert_eq!(hold_against(&mut claim(1_345_000_000), known), None, "it stopped reading");
        assert_eq!(
            hold_against(&mut claim(1_100_000_000), known),
            None,
            "it read on after its time, and did not count"
        );
    }

    #[test]
    fn a_sender_cannot_have_sent_less_than_came_nor_more_than_fits_its_buffers() {
        for claimed in [900, 1_000_000_000_000_000] {
            let mut lie = ends(Heading::Inbound, end(1_000, 1_000_000), end(claimed, 1_000_000));
            assert!(hold_against(&mut lie, TCP).is_some(), "{claimed}");
        }
        // Not yet arrived, or sent after the end and not counted.
        for claimed in [4_000_000, 990] {
            let mut honest = ends(Heading::Inbound, end(1_000, 1_000_000), end(claimed, 900_000));
            assert_eq!(hold_against(&mut honest, TCP), None, "{claimed}");
        }
    }

    #[test]
    fn times_that_this_sides_clock_contradicts_are_not_used() {
        let hasty = FlowReport { drained: true, ..end(1_000_000, 1) };
        let mut lie = ends(Heading::Outbound, end(1_000_000, 1_000_000), hasty);
        assert!(hold_against(&mut lie, TCP).unwrap().contains("had the last byte after 1.00 µs"));
        let mut slow = ends(Heading::Outbound, end(1_000_000, 1_000_000), end(1_000_000, u64::MAX));
        assert!(hold_against(&mut slow, TCP).unwrap().contains("claims that it took"));
    }

    #[test]
    fn results_that_no_count_can_be_are_told_before_they_are_read() {
        let wrong = |result: StreamResult| impossible(&result);
        assert_eq!(wrong(StreamResult { bytes: -5, ..StreamResult::default() }).unwrap(), "claims -5 bytes");
        assert!(wrong(StreamResult { jitter: f64::NAN, ..StreamResult::default() }).is_some());
        assert!(wrong(StreamResult { packets: -1, ..StreamResult::default() }).is_some());
        // Old versions take more from the losses than there were.
        assert_eq!(wrong(StreamResult { errors: -3, ..StreamResult::default() }), None);
    }

    #[test]
    fn random_bytes_are_not_taken_for_numbers() {
        let mut noise =
            ends(Heading::Inbound, numbered(1_458_000, 7_456_598_535_998, 1_000), numbered(1_459_458, 1_001, 0));
        let said = hold_against(&mut noise, UDP).unwrap();
        assert!(said.contains("are not numbered"), "{said}");
        let counts = noise.local.datagrams.unwrap();
        assert_eq!((counts.sent.get(), counts.received.get(), counts.lost.get()), (1_001, 1_000, 1));
        let mut lossy = ends(Heading::Inbound, numbered(145_800, 990, 100), numbered(1_458_000, 1_000, 0));
        assert_eq!(hold_against(&mut lossy, UDP), None);
    }
}
