//! A measured transfer laid over a simulated one: goodput, cwnd, RTT and retransmits, each as `measured / simulated`.

use std::time::Duration;

use comfy_table::Table;
use model::measurement::Interval;
use sim::flow::{Outcome, Sample};
use units::{ByteCount, DataRate, PacketCount};

use super::simulate::step_for;
use super::table;

/// About ten rows over the time that both have.
pub fn text(measured: &[Interval], simulated: &[Outcome]) -> String {
    let ends = measured.last().map_or(Duration::ZERO, |interval| interval.end);
    let mut table = Table::new();
    table.set_header(["TO", "GOODPUT, MEASURED / SIMULATED", "CWND", "RTT", "RETRANSMITS"]);
    let mut from = Duration::ZERO;
    for piece in pieces(measured, step_for(ends)) {
        let Some(last) = piece.last() else { continue };
        table.add_row(row(piece, last, from, simulated));
        from = last.end;
    }
    format!("\n{}", table::text(table))
}

fn row(piece: &[Interval], last: &Interval, from: Duration, simulated: &[Outcome]) -> [String; 5] {
    let bytes: ByteCount = piece.iter().map(|interval| interval.bytes).sum();
    let rate = DataRate::of(bytes, last.end.saturating_sub(from)).unwrap_or_default();
    let retransmits: Option<Vec<PacketCount>> = piece.iter().map(|interval| interval.retransmits).collect();
    let model = Model::between(simulated, from, last.end);
    let both = |measured: Option<String>, simulated: String| {
        format!("{} / {simulated}", measured.as_deref().unwrap_or("unknown"))
    };
    [
        units::duration::show(last.end),
        both(Some(rate.to_string()), model.rate.to_string()),
        both(last.cwnd.map(|cwnd| cwnd.to_string()), model.cwnd.to_string()),
        both(last.rtt.map(units::duration::show), units::duration::show(model.rtt)),
        both(retransmits.map(|all| all.into_iter().sum::<PacketCount>().to_string()), model.retransmits.to_string()),
    ]
}

/// Intervals grouped into steps.
fn pieces(measured: &[Interval], step: Duration) -> impl Iterator<Item = &[Interval]> {
    let step = step.as_nanos().max(1);
    let number = move |interval: &Interval| interval.end.as_nanos().saturating_sub(1) / step;
    measured.chunk_by(move |one, other| number(one) == number(other))
}

/// All simulated flows together over a span of time.
struct Model {
    rate: DataRate,
    cwnd: ByteCount,
    rtt: Duration,
    retransmits: u64,
}

impl Model {
    fn between(flows: &[Outcome], from: Duration, to: Duration) -> Self {
        let at =
            |flow: &Outcome, instant| flow.samples.iter().take_while(|sample| sample.at <= instant).last().copied();
        let acked = |sample: Option<Sample>| sample.map_or(0, |sample| sample.acked.get());
        let resent = |sample: Option<Sample>| sample.map_or(0, |sample| sample.retransmits.get());
        let last: Vec<Sample> = flows.iter().filter_map(|flow| at(flow, to)).collect();
        let grown = |of: fn(Option<Sample>) -> u64| -> u64 {
            flows.iter().map(|flow| of(at(flow, to)).saturating_sub(of(at(flow, from)))).sum()
        };
        let count = u32::try_from(last.len().max(1)).unwrap_or(u32::MAX);
        Self {
            rate: DataRate::of(ByteCount::new(grown(acked)), to.saturating_sub(from)).unwrap_or_default(),
            cwnd: last.iter().map(|sample| sample.cwnd).sum(),
            rtt: last.iter().map(|sample| sample.rtt).sum::<Duration>() / count,
            retransmits: grown(resent),
        }
    }
}
