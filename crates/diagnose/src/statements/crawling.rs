//! Streams of one test of which a few are far slower than the others.

use model::measurement::{DirectionTotal, Flow, Measurement};
use units::DataRate;

use super::statement::Statement;

/// Some streams crawl beside others that are alike: they take another path, or another member of a bundle.
pub(super) fn of(whose: &str, found: &Measurement, total: &DirectionTotal) -> Option<Statement> {
    let flows = found.flows.iter().filter(|flow| flow.heading == total.heading);
    let mut flows: Vec<(DataRate, &Flow)> =
        flows.filter_map(|flow| Some((DataRate::of(flow.received.or(flow.sent)?, total.elapsed)?, flow))).collect();
    flows.sort_by_key(|(rate, _)| *rate);
    (flows.len() >= FEWEST).then_some(())?;
    let crawls = |rate: &DataRate, typical: DataRate| rate.bps().saturating_mul(FAR) < typical.bps();
    let typical = flows.get(flows.len() / 2)?.0;
    let slow = flows.iter().take_while(|(rate, _)| crawls(rate, typical)).count();
    let (slow, others) = flows.split_at(slow);
    let (least, most) = (others.first()?.0, others.last()?.0);
    // Shares that are all different are those of one queue.
    (!slow.is_empty() && most.bps() <= least.bps().saturating_mul(2)).then_some(())?;
    let count = |flows: &[(DataRate, &Flow)]| -> Option<u64> {
        flows.iter().map(|(_, flow)| flow.retransmits.map(|count| count.get())).sum()
    };
    let again = count(slow).zip(count(&flows)).filter(|(_, all)| *all > 0);
    let again = again.map_or_else(String::new, |(own, all)| format!(", with {own} of the {all} retransmits"));
    Some(Statement::fault(format!(
        "{whose}: {} of {} streams crawl at {}{again}, the other {} reach {}: some flows take a path that loses, such as one member of a \
         bundle or of equal-cost paths; the sum hides it",
        slow.len(),
        flows.len(),
        between(slow),
        others.len(),
        between(others),
    )))
}

/// `26.5 Mbit/s to 27.8 Mbit/s`, of flows that are sorted.
fn between(flows: &[(DataRate, &Flow)]) -> String {
    match (flows.first(), flows.last()) {
        (Some((least, _)), Some((most, _))) if least != most => format!("{least} to {most}"),
        (Some((only, _)), _) => only.to_string(),
        _ => String::new(),
    }
}

/// Of fewer streams none is usual.
const FEWEST: usize = 4;
/// Streams that share a queue fairly differ by less.
const FAR: u64 = 5;
