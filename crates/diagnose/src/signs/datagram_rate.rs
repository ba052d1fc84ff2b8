//! What datagrams of a pair reach beside TCP between the same ends. Both end at the rate of a link or of a policer, and at as many packets a second
//! where somebody looks at each; what is lost at random slows TCP, and takes its part of datagrams at any rate.

use super::Observation;
use super::flow::{Flow, FlowKind};
use super::percent::percent;

/// Of a slow flow over TCP with the datagrams of its pair, and of lossy datagrams with its TCP.
pub(super) fn datagram_rate(flow: &Flow, others: &[&Flow]) -> Option<Observation> {
    // Packets of an overlay take the same links as those beside it.
    let is_of_hosts = |other: &Flow| other.sender.host == flow.sender.host && other.receiver.host == flow.receiver.host;
    let of_pair = others.iter().filter(|other| is_of_hosts(other));
    match flow.kind {
        FlowKind::Tcp => {
            let datagrams = of_pair.filter(|other| other.kind == FlowKind::Udp).max_by_key(|other| other.shape.paced);
            datagrams.and_then(|datagrams| beside(datagrams, flow)).or_else(|| as_many_segments(flow, others))
        }
        FlowKind::Udp => {
            beside(flow, of_pair.filter(|other| other.kind == FlowKind::Tcp).max_by_key(|other| other.goodput)?)
        }
        FlowKind::Http | FlowKind::Echo => None,
    }
}

fn beside(datagrams: &Flow, tcp: &Flow) -> Option<Observation> {
    let lost = datagrams.lost?;
    // A packet every now and then, as owping sends, meets no limit of a rate.
    let times = datagrams.goodput.share_of(tcp.goodput).filter(|times| *times >= SPARSE)?;
    let state = match times {
        // Slower than TCP without a loss, they met nothing.
        times if lost < FEW && times < ABOVE => return None,
        _ if lost < FEW => "all",
        _ if is_as_many(datagrams, tcp) => "as-many-packets",
        times if times < ABOVE => "as-much",
        _ => "more-with-loss",
    };
    let says =
        format!("datagrams arrived at {} with {} lost, TCP reached {}", datagrams.goodput, percent(lost), tcp.goodput);
    Observation::of("datagram-rate", state, says)
}

/// Whether another slow flow over TCP has as many packets a second as this one, of another size: segments of another length between the
/// same hosts, or the acknowledgements of what comes the other way, of which there is one for two segments (RFC 9293 section 3.8.6.3).
fn as_many_segments(flow: &Flow, others: &[&Flow]) -> Option<Observation> {
    let own = flow.goodput.bps() / u64::from(flow.shape.payload?.max(1));
    let is_like = |other: &Flow| other.kind == FlowKind::Tcp && other.is_bad() && flow.is_bad();
    let others = others.iter().filter(|other| is_like(other) && !std::ptr::eq(**other, flow));
    let near = |packets: u64| own * 20 >= packets * 17 && packets * 20 >= own * 17;
    others.into_iter().find_map(|other| {
        let payload = other.shape.payload?.max(1);
        let packets = other.goodput.bps() / u64::from(payload);
        let is_other_size = payload * 3 < flow.shape.payload? * 2 || flow.shape.payload? * 3 < payload * 2;
        let is_back = other.sender == flow.receiver && other.receiver == flow.sender;
        let says = if other.is_same_pair(flow) && is_other_size && near(packets) {
            format!("segments of {payload} bytes came as often: {} at {}", flow.goodput, other.goodput)
        } else if is_back && near(packets / 2) {
            format!("what came back, {}, has as many acknowledgements a second as it has segments", other.goodput)
        } else {
            return None;
        };
        Observation::of("datagram-rate", "as-many-packets", says)
    })
}

/// Whether packets of clearly different sizes came equally often: somebody counts packets, and not bytes.
fn is_as_many(datagrams: &Flow, tcp: &Flow) -> bool {
    let Some((small, large)) = datagrams.shape.payload.zip(tcp.shape.payload) else { return false };
    let of_bytes = |flow: &Flow, bytes: u32| u128::from(flow.goodput.bps()) / u128::from(bytes.max(1));
    let (one, other) = (of_bytes(datagrams, small), of_bytes(tcp, large));
    let is_near = one * 4 >= other * 3 && other * 4 >= one * 3;
    is_near && (small * 2 < large || large * 2 < small)
}

/// From this part on lost datagrams are cut by something, and not unlucky.
const FEW: f64 = 0.02;
/// Below this part of the rate of TCP datagrams are no load.
const SPARSE: f64 = 1e-3;
/// So many times the rate of TCP is more.
const ABOVE: f64 = 1.5;
