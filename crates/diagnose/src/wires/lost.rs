//! What is missing between two counters.
//!
//! A kernel hands large packets to its interface, and counts each as one; a device on the way cuts them into segments with
//! headers of their own. Packets are then more behind than before, and only payload can be compared: bytes less the headers
//! of all packets. How long headers are is known of the tests of the round. Where several kinds of traffic cross a segment
//! their lengths differ, and the payload is known from the least to the most that this leaves open.

use std::collections::BTreeSet;

use model::played::Finding;
use model::round::Round;
use model::spec::Protocol;

use super::ports::Counts;

/// What one end sent and the other did not receive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Missing {
    /// Payload that was sent, in bytes.
    pub(crate) sent: f64,
    /// Of it, what is missing at the least.
    pub(crate) least: f64,
    /// And at the most.
    pub(crate) most: f64,
}

impl Missing {
    #[expect(clippy::cast_precision_loss, reason = "bytes of minutes are below 2^53")]
    pub(super) fn between(sent: Counts, received: Counts, headers: &BTreeSet<u32>) -> Self {
        let payload = |counts: Counts, header: f64| counts.bytes as f64 - counts.packets as f64 * header;
        let shortest = headers.first().copied().map_or(0.0, f64::from);
        if received.packets <= sent.packets {
            // Nothing was cut, and every packet that is missing is missing with its header. Some adapters count four bytes
            // more of each than others.
            let is_same = received.packets == sent.packets;
            let bytes = if is_same { 0.0 } else { (sent.bytes as f64 - received.bytes as f64).max(0.0) };
            return Self { sent: payload(sent, shortest), least: bytes, most: bytes };
        }
        let missing = headers.iter().map(|header| {
            let header = f64::from(*header);
            payload(sent, header) - payload(received, header)
        });
        let (least, most) = missing
            .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), missing| (least.min(missing), most.max(missing)));
        Self { sent: payload(sent, shortest), least: if least.is_finite() { least.max(0.0) } else { 0.0 }, most }
    }

    /// The same where it is known that `lost` bytes are missing on it and on those others together that are open: so many are,
    /// this one with them.
    pub(super) fn narrowed(self, lost: f64, open: usize) -> Self {
        if self.is_none() || self.is_some() {
            return self;
        }
        if lost <= FEW {
            Self { least: 0.0, most: self.most.min(FEW), ..self }
        } else if open == 1 {
            Self { least: lost, most: lost, ..self }
        } else {
            Self { most: self.most.min(lost), ..self }
        }
    }

    /// The part of what was sent that is missing for sure.
    pub(crate) fn ratio(self) -> f64 {
        self.least / self.sent.max(1.0)
    }

    /// Whether packets were lost for sure.
    pub(crate) fn is_some(self) -> bool {
        self.least > FEW
    }

    /// Whether none was, but for those that were under way while the counters were read.
    pub(crate) fn is_none(self) -> bool {
        self.most <= FEW
    }
}

/// How long the headers of bulk packets in this round are, from Ethernet to the payload of TCP (with its time stamps) or UDP.
/// In an overlay another set of headers comes before these: VXLAN's is 50 bytes over IPv4 (RFC 7348 section 5).
pub(super) fn headers(round: &Round) -> BTreeSet<u32> {
    let mut headers = BTreeSet::new();
    for tested in &round.tests {
        let Finding::Run(run) = &tested.finding else { continue };
        let of_ip = match run.spec.family {
            Some(model::spec::Family::Ipv6) => 40,
            _ => 20,
        };
        let of_protocol = if run.spec.protocol == Protocol::Tcp { 32 } else { 8 };
        let outer = if tested.to.network.is_some() { 50 } else { 0 };
        headers.insert(14 + of_ip + of_protocol + outer);
    }
    headers
}

/// Three full packets, which may have been under way.
const FEW: f64 = 4_500.0;

#[cfg(test)]
mod tests {
    use super::*;

    const fn counts(packets: u64, bytes: u64) -> Counts {
        Counts { packets, bytes }
    }

    #[test]
    fn packets_that_were_cut_are_not_missing() {
        // Ten large packets of 14,480 bytes become a hundred with headers of their own.
        let missing = Missing::between(counts(10, 145_460), counts(100, 151_400), &BTreeSet::from([66]));
        assert!(missing.is_none() && !missing.is_some(), "{missing:?}");
    }

    #[test]
    fn segments_that_vanish_after_they_were_cut_are() {
        let missing = Missing::between(counts(10, 145_460), counts(90, 136_260), &BTreeSet::from([66]));
        assert!(missing.is_some(), "{missing:?}");
        assert!((missing.least - 14_480.0).abs() < 1.0, "{missing:?}");
    }

    #[test]
    fn what_a_router_did_not_send_on_settles_what_is_open() {
        let open = Missing { sent: 1e8, least: 0.0, most: 900_000.0 };
        assert!(open.narrowed(0.0, 1).is_none());
        assert!(open.narrowed(130_000.0, 1).is_some());
        let shared = open.narrowed(130_000.0, 2);
        assert!(!shared.is_some() && !shared.is_none() && shared.most < 130_001.0, "{shared:?}");
    }

    #[test]
    fn what_headers_leave_open_is_said_to_be() {
        let headers = BTreeSet::from([42, 66]);
        let missing = Missing::between(counts(10_000, 145_460_000), counts(100_000, 151_400_000), &headers);
        assert!(!missing.is_some(), "{missing:?}");
    }
}
