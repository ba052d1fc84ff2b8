//! What two tests of one file say together.

use model::measurement::{DirectionTotal, Heading};
use units::DataRate;

use super::Observation;
use crate::Imported;

/// What the tests say in pairs.
#[must_use]
pub fn between(tests: &[Imported]) -> Vec<Observation> {
    let mut observations = Vec::new();
    for (index, out) in tests.iter().enumerate() {
        let Some(there) = only(out, Heading::Outbound) else { continue };
        let back = tests.iter().skip(index + 1).chain(&tests[..index]).find(|back| {
            back.peer.target == out.peer.target
                && back.format == out.format
                && back.spec.protocol == out.spec.protocol
                && only(back, Heading::Inbound).is_some()
        });
        if let Some(back) = back
            && let Some(here) = only(back, Heading::Inbound)
            && differ(there.goodput, here.goodput)
            && out.peer.target != "unknown"
        {
            observations.push(Observation::Asymmetry {
                out: there.goodput,
                back: here.goodput,
                retransmits: both(there.retransmits, here.retransmits),
                rtt: both(handshake(out), handshake(back)),
                peer: out.peer.target.clone(),
            });
        }
    }
    observations
}

/// The sums of a test that went only this way.
fn only(test: &Imported, heading: Heading) -> Option<&DirectionTotal> {
    match test.measurement.as_ref()?.totals.as_slice() {
        [total] if total.heading == heading => Some(total),
        _ => None,
    }
}

/// A factor of two is more than one run differs from the next.
fn differ(a: DataRate, b: DataRate) -> bool {
    a.bps() > b.bps().saturating_mul(2) || b.bps() > a.bps().saturating_mul(2)
}

fn both<T>(a: Option<T>, b: Option<T>) -> Option<(T, T)> {
    a.zip(b)
}

fn handshake(test: &Imported) -> Option<std::time::Duration> {
    let idle = test.measurement.as_ref()?.latency.as_ref()?.idle?;
    idle.min_us.map(std::time::Duration::from_micros)
}
