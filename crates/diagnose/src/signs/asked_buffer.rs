//! Whether a run whose sender asked for a larger send buffer was faster: then the room in the buffer was what the other was short of.

use super::Observation;
use super::flow::{Flow, FlowKind};

/// Of a slow flow over TCP, with others of its pair that differ in the buffer that their senders asked for.
pub(super) fn asked_buffer(flow: &Flow, others: &[&Flow]) -> Option<Observation> {
    let is_seen = flow.state("buffer-share").is_some() || flow.state("limit").is_some();
    (flow.kind == FlowKind::Tcp && !is_seen).then_some(())?;
    let is_larger = |other: &&&Flow| {
        other.kind == FlowKind::Tcp
            && other.is_same_pair(flow)
            && other.shape.streams == flow.shape.streams
            && other.shape.send_buffer.is_some()
            && other.shape.send_buffer > flow.shape.send_buffer.max(flow.shape.asked_window)
    };
    let best = others.iter().filter(is_larger).max_by_key(|other| other.goodput)?;
    let (own, larger) = (flow.shape.send_buffer, best.shape.send_buffer?);
    let times = best.goodput.share_of(flow.goodput)?;
    let asked = own.map_or_else(|| "its system's own".to_owned(), |own| own.to_string());
    let says =
        format!("with a send buffer of {larger} the pair reached {}, with {asked} {}", best.goodput, flow.goodput);
    if times >= FASTER {
        return Observation::of("buffer-share", "most", says);
    }
    // What a system takes by itself may be more than what was asked for.
    (own.is_some() && times < AS_FAST).then(|| Observation::of("buffer-share", "nothing", says))?
}

/// From here on another buffer, and not chance, made the difference.
const FASTER: f64 = 2.0;
/// Below this a larger buffer was of no use.
const AS_FAST: f64 = 1.2;

#[cfg(test)]
mod tests {
    use model::round::Endpoint;
    use units::{ByteCount, DataRate};

    use super::*;
    use crate::signs::flow::{FlowEnds, Shape};

    fn flow(mbits: u64, send_buffer: Option<u64>) -> Flow {
        let host = |name: &str| Endpoint { host: name.to_owned(), network: None };
        let ends = FlowEnds { sender: host("a"), receiver: host("b"), way: Vec::new(), way_back: Vec::new() };
        Flow {
            goodput: DataRate::from_bps(mbits * 1_000_000),
            shape: Shape { streams: 1, send_buffer: send_buffer.map(ByteCount::new), ..Shape::default() },
            ..Flow::between(ends, FlowKind::Tcp)
        }
    }

    #[test]
    fn a_larger_buffer_that_is_far_faster_was_what_the_other_was_short_of() {
        let state = |slow: &Flow, fast: &Flow| {
            asked_buffer(slow, &[slow, fast]).map(|seen| (seen.seen.sign().name, seen.seen.state().name))
        };
        assert_eq!(state(&flow(5, None), &flow(90, Some(1 << 20))), Some(("buffer-share", "most")));
        assert_eq!(state(&flow(5, Some(1 << 16)), &flow(90, Some(1 << 20))), Some(("buffer-share", "most")));
        assert_eq!(state(&flow(5, Some(1 << 16)), &flow(5, Some(1 << 20))), Some(("buffer-share", "nothing")));
        assert_eq!(state(&flow(5, None), &flow(5, Some(1 << 20))), None, "the system's own may be larger");
        assert_eq!(state(&flow(90, Some(1 << 20)), &flow(5, None)), None);
        let mut slow = flow(5, None);
        slow.shape.asked_window = Some(ByteCount::new(1 << 20));
        assert_eq!(state(&slow, &flow(90, Some(1 << 20))), None, "it asked for as much at both ends");
    }
}
