//! Leaving out the start of a test, as an iperf3 peer does where it is asked to: both sides must leave out the same.

use std::time::Duration;

use model::series::StreamSamples;
use model::series::field::Field;

use super::part::{LocalFlow, LocalResult, Omitted};
use report::timeline::value_at;

/// Takes what moved before `omit` out of the counts of each stream.
pub fn leave_out(part: &mut LocalResult, omit: Duration) {
    if omit.is_zero() {
        return;
    }
    for flow in &mut part.flows {
        if let Some(samples) = part.samples.iter().find(|samples| samples.stream == flow.number) {
            shorten(flow, samples, omit);
        }
    }
    part.time = part.time.saturating_sub(omit);
}

fn shorten(flow: &mut LocalFlow, samples: &StreamSamples, omit: Duration) {
    let at_us = i64::try_from(omit.as_micros()).unwrap_or(i64::MAX);
    let until = |field| value_at(samples, field, at_us).unwrap_or(0);
    let report = &mut flow.report;
    report.bytes = report.bytes.saturating_sub(until(Field::AppBytes));
    report.elapsed_us = report.elapsed_us.saturating_sub(at_us.unsigned_abs());
    report.retransmits = report.retransmits.map(|count| count.saturating_sub(until(Field::TotalRetrans)));
    if report.datagrams.is_some() {
        // Of datagrams both sides count all, and the receiver says how many to leave out.
        flow.omitted =
            Some(Omitted { datagrams: until(Field::AppPackets) + until(Field::AppLost), lost: until(Field::AppLost) });
    }
}
