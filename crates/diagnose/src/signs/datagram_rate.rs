//! What datagrams of a pair reach beside TCP between the same ends. Both end at the rate of a link or of a policer, and at as many packets a second
//! where somebody looks at each; what is lost at random slows TCP, and takes its part of datagrams at any rate.

use super::Observation;
use super::flow::{Flow, FlowKind};
use super::numbers::percent;

/// Of a slow flow over TCP with the datagrams of its pair, and of lossy datagrams with its TCP.
pub(super) fn datagram_rate(flow: &Flow, others: &[&Flow]) -> Option<Observation> {
    let of_pair = others.iter().filter(|other| other.is_same_pair(flow));
    match flow.kind {
        FlowKind::Tcp => {
            let datagrams =
                of_pair.filter(|other| other.kind == FlowKind::Udp).max_by_key(|other| other.shape.paced)?;
            beside(datagrams, flow)
        }
        FlowKind::Udp => {
            beside(flow, of_pair.filter(|other| other.kind == FlowKind::Tcp).max_by_key(|other| other.goodput)?)
        }
        FlowKind::Http | FlowKind::Echo => None,
    }
}

fn beside(datagrams: &Flow, tcp: &Flow) -> Option<Observation> {
    let lost = datagrams.lost?;
    let times = datagrams.goodput.share_of(tcp.goodput)?;
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
/// So many times the rate of TCP is more.
const ABOVE: f64 = 1.5;
