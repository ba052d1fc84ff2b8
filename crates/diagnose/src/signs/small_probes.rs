//! Whether small packets that went beside a flow were lost as often as those of the flow. What hits packets by chance, one like another,
//! takes as many of either; what hits bits, or bytes that come too fast, takes the large ones.

use model::measurement::Measurement;

use super::Observation;
use super::flow::{Flow, FlowKind};
use super::percent::percent;

/// What the probes under load say of the part of its packets that the flow lost on the path; nothing where they are too few, or were lost all
/// at once.
pub(super) fn small_probes(flow: &Flow, measurement: &Measurement) -> Option<Observation> {
    let is_lost_otherwise = flow.state("silence") == Some("once")
        || flow.state("spurious") == Some("most")
        || flow.state("order") == Some("broken")
        || flow.kind == FlowKind::Udp && flow.state("datagrams") != Some("path");
    let part = flow.lost.filter(|_| !is_lost_otherwise)?;
    let probes = measurement.latency.as_ref()?.loaded?;
    #[expect(clippy::cast_precision_loss, reason = "counts of probes")]
    let (sent, lost) = (probes.sent.get() as f64, probes.lost.get() as f64);
    let as_many = sent * part;
    if as_many < FEWEST {
        return None;
    }
    let state = match lost / as_many {
        times if times >= AS_OFTEN => "as-often",
        times if times <= LESS_OFTEN => "less-often",
        _ => return None,
    };
    let says = format!("{lost} of {sent} small probes beside it were lost, and {} of its own packets", percent(part));
    Observation::of("small-probes", state, says)
}

/// Whether a flow over TCP loses much to what takes small packets as well, at any time: a queue that the flow filled at its start loses all alike
/// too, but for a time.
pub(super) fn is_by_chance(flow: &Flow) -> bool {
    flow.kind == FlowKind::Tcp
        && flow.lost.is_some_and(|lost| lost >= BY_CHANCE)
        && flow.state("small-probes") == Some("as-often")
        && flow.state("queue-at-loss") != Some("full")
}

/// From this part on such losses would cost most flows of TCP their rate.
const BY_CHANCE: f64 = 0.02;
/// So many probes would be lost as often as the packets of the flow: of fewer none may be missing by chance.
const FEWEST: f64 = 8.0;
/// In parts of that number. Packets of a flow that come in bunches are lost more often than probes between them.
const AS_OFTEN: f64 = 0.4;
const LESS_OFTEN: f64 = 0.15;

#[cfg(test)]
mod tests {
    use model::measurement::{Latency, RttSummary};
    use model::round::Endpoint;
    use units::PacketCount;

    use super::*;
    use crate::signs::flow::FlowEnds;

    fn state(part: f64, sent: u64, lost: u64) -> Option<&'static str> {
        let end = |host: &str| Endpoint { host: host.to_owned(), network: None };
        let ends = FlowEnds { sender: end("a"), receiver: end("b"), way: Vec::new(), way_back: Vec::new() };
        let flow = Flow { lost: Some(part), ..Flow::between(ends, FlowKind::Tcp) };
        let loaded = RttSummary { sent: PacketCount::new(sent), lost: PacketCount::new(lost), ..RttSummary::default() };
        let latency = Latency { idle: None, loaded: Some(loaded), packet_times: None };
        let measurement = Measurement { latency: Some(latency), ..Measurement::default() };
        small_probes(&flow, &measurement).map(|seen| seen.seen.state().name)
    }

    #[test]
    fn loss_by_chance_takes_small_packets_as_well() {
        assert_eq!(state(0.043, 862, 35), Some("as-often"));
        assert_eq!(state(0.034, 910, 1), Some("less-often"));
        assert_eq!(state(0.043, 862, 9), None, "neither");
        assert_eq!(state(0.002, 862, 0), None, "two would be missing, and may be elsewhere by chance");
    }
}
