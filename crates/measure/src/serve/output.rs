//! What an iperf3 client that asks for the server's output gets to read.

use std::fmt::Write;

use model::measurement::Heading;
use model::spec::TestSpec;

use crate::session::part::LocalResult;
use report::timeline::Timeline;

/// The test as this side saw it: a line for each interval, then one for each stream.
#[must_use]
pub(super) fn text(part: &LocalResult, spec: &TestSpec) -> String {
    let mut text = String::from("linerate, as the server saw it\n");
    for (heading, what) in [(Heading::Inbound, "received"), (Heading::Outbound, "sent")] {
        let Some(timeline) = Timeline::new(&part.samples, heading) else { continue };
        for interval in timeline.intervals(spec.interval, part.time) {
            // Writing to a text cannot fail.
            let _ = writeln!(
                text,
                "[SUM] {:6.2}-{:<6.2} sec  {what} {:>10}  {:>12}",
                interval.start.as_secs_f64(),
                interval.end.as_secs_f64(),
                interval.bytes.to_string(),
                interval.rate.to_string(),
            );
        }
    }
    for flow in &part.flows {
        let what = if flow.heading == Heading::Inbound { "received" } else { "sent" };
        let _ = writeln!(text, "[{:3}] {} {what} {} bytes", flow.number, flow.remote, flow.report.bytes);
    }
    text
}
