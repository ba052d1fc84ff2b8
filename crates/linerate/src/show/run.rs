//! A run, for a person: what was measured, and under which conditions.

use std::time::Duration;

use diagnose::balance::ShortOffer;
use model::expectation::Expectation;
use model::measurement::{
    CpuUse, DatagramCounts, DirectionTotal, Flow, Heading, Latency, Measurement, RttSummary, SteadyState,
};
use model::quality::{Grade, Quality};
use model::run::{Outcome, Run};
use model::series::RunSamples;
use model::spec::{Protocol, ReceiveMethod, SendMethod};
use units::duration::show;
use units::{ByteCount, DataRate};

use super::{expectation, when};

/// How the run comes before a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// It has just ended: what was typed is still on the screen.
    Fresh,
    /// The same, and it is not kept.
    Unkept,
    /// It comes out of the archive.
    Stored,
}

/// The run as a few lines, each with a label.
pub fn text(run: &Run, samples: &RunSamples, detail: Detail) -> String {
    let mut page = Page::default();
    page.line("test", &format!("{}, with {}", run.spec.summary(), peer(run)));
    if detail == Detail::Stored {
        page.line("started", &when::local(run.started));
        if !run.command.is_empty() {
            page.line("command", &run.command.join(" "));
        }
    }
    if let Outcome::Failed(failure) = &run.outcome {
        page.line("failed", &failure.detail);
    }
    let expectations = expectation::of(run);
    if let Some(measurement) = &run.measurement {
        describe(&mut page, run, (measurement, &expectations));
    }
    // A name by which nothing can be found helps nobody.
    if detail != Detail::Unkept {
        page.line("run", &run.id.to_string());
    }
    page.0.push_str(&super::explain::text(run, samples));
    if detail == Detail::Stored {
        page.0.push_str(&expectation::inputs(&expectations));
    }
    page.0
}

/// More of them nobody reads.
const MOST_DISTURBANCES: usize = 3;

#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, label: &str, text: &str) {
        self.0.push_str(&format!("{label:<12} {text}\n"));
    }
}

fn describe(page: &mut Page, run: &Run, (measurement, expectations): (&Measurement, &[Expectation])) {
    let several = measurement.totals.len() > 1;
    for total in &measurement.totals {
        let label = match (several, total.heading) {
            (false, _) => "goodput",
            (true, Heading::Outbound) => "goodput out",
            (true, Heading::Inbound) => "goodput in",
        };
        page.line(label, &goodput(total));
        page.line("steady", &steady(&total.steady));
        if let Some(of_it) = expectations.iter().find(|expectation| expectation.heading == total.heading) {
            page.line("expected", &expectation::line(run, of_it));
        }
        if let Some(retransmits) = total.retransmits {
            page.line(
                "retransmits",
                &format!("{retransmits} {}", if retransmits.get() == 1 { "segment" } else { "segments" }),
            );
        }
        if let Some(datagrams) = &total.datagrams {
            page.line("datagrams", &lost(datagrams, total.received));
        }
        if let Some(offered) = offered(run, total) {
            page.line("offered", &offered);
        }
    }
    if let Some(latency) = &measurement.latency {
        page.line("RTT", &latency_line(latency));
    }
    if let Some(cpu) = cpu(measurement) {
        page.line("CPU", &cpu);
    }
    if run.spec.protocol == Protocol::Tcp
        && let Some(flow) = measurement.flows.first()
    {
        page.line("transport", &methods(flow));
        if let Some(buffers) = buffers(run, flow.heading) {
            page.line("buffers", &buffers);
        }
    }
    let quality = Quality::of_run(run);
    if quality.grade() > Grade::Good {
        for (number, disturbance) in quality.disturbances.iter().take(MOST_DISTURBANCES).enumerate() {
            let label = if number == 0 { "quality" } else { "" };
            let grade = if number == 0 { format!("{}: ", quality.grade().name()) } else { String::new() };
            page.line(label, &format!("{grade}{disturbance}"));
        }
    }
    for anomaly in &measurement.anomalies {
        page.line("note", anomaly);
    }
}

/// How far the buffers of a TCP run could grow: what was asked for, or the limits of autotuning in the hosts at that time.
fn buffers(run: &Run, heading: Heading) -> Option<String> {
    if let Some(window) = run.spec.window {
        return Some(format!("{window} asked of both ends (--window)"));
    }
    let (sender, receiver) = match heading {
        Heading::Outbound => (&run.local, &run.peer.host),
        Heading::Inbound => (&run.peer.host, &run.local),
    };
    let sent = sender.tcp.map(|tcp| format!("sender up to {} (tcp_wmem)", tcp.send.most));
    let received = receiver.tcp.map(|tcp| format!("receiver up to {} (tcp_rmem)", tcp.receive.most));
    let known: Vec<String> = sent.into_iter().chain(received).collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// What the peer printed of its own side, where it was asked to send it.
pub fn server_output(run: &Run) -> String {
    match run.measurement.as_ref().and_then(|measurement| measurement.peer_output.as_ref()) {
        Some(output) => format!("\nwhat the peer saw\n{}\n", output.trim_end()),
        None => "\nthe peer sent no output of its own\n".to_owned(),
    }
}

/// A sender that could not offer what was asked of it: what nothing lost means depends on it.
fn offered(run: &Run, total: &DirectionTotal) -> Option<String> {
    let ShortOffer { offered, asked } = ShortOffer::of(run, total)?;
    Some(format!("{offered} of the {asked} asked for: the sending host or its first queue took no more"))
}

fn goodput(total: &DirectionTotal) -> String {
    let (rate, time) = (total.goodput.to_string(), show(total.elapsed));
    if let Some(received) = total.received {
        return format!("{rate:<16} {received} received, in {time}");
    }
    let sent = total.sent.unwrap_or_default();
    // No kernel acknowledges datagrams: a rate of sending says nothing of what arrived.
    if total.datagrams.is_some() {
        return format!("{:<16} {sent} sent at {rate}, in {time}; the receiver reported nothing", "unknown");
    }
    let at_sending = DataRate::of(sent, total.elapsed).unwrap_or_default();
    let of = if total.goodput < at_sending { "as acknowledged, of " } else { "" };
    format!("{rate:<16} {of}{sent} sent in {time}; the receiver reported nothing")
}

fn steady(steady: &SteadyState) -> String {
    match steady {
        SteadyState::Reached { ramp_up, goodput } if ramp_up.is_zero() => format!("{goodput:<16} from the start"),
        SteadyState::Reached { ramp_up, goodput } => format!("{goodput:<16} after {} of ramp-up", show(*ramp_up)),
        SteadyState::NotCounted => {
            "unknown: the receiver reports no counts over time, and a part of what was sent did not arrive".to_owned()
        }
        SteadyState::NotReached => "not reached: the rate was still moving, or the test was too short".to_owned(),
    }
}

fn lost(counts: &DatagramCounts, received: Option<ByteCount>) -> String {
    if received.is_none() {
        return format!("{} sent; not known how many of them arrived", counts.sent);
    }
    let share = counts.lost.share_of(counts.sent).unwrap_or(0.0) * 100.0;
    let mut text = format!("{} lost of {} sent ({share:.3} %)", counts.lost, counts.sent);
    for (count, what) in
        [(counts.lost_at_tail, "at the tail"), (counts.reordered, "reordered"), (counts.duplicated, "duplicated")]
    {
        if count.get() > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    if let Some(drops) = counts.dropped_at_socket.filter(|drops| drops.get() > 0) {
        text.push_str(&format!(", {drops} of them dropped by the receiver's own socket"));
    }
    text.push_str(&format!(", jitter {}", show(counts.jitter)));
    text
}

fn latency_line(latency: &Latency) -> String {
    let parts: Vec<String> = [("idle", latency.idle), ("loaded", latency.loaded)]
        .into_iter()
        .filter_map(|(name, summary)| Some(format!("{name} {}", rtt(&summary?))))
        .collect();
    parts.join("   ")
}

fn rtt(summary: &RttSummary) -> String {
    let micros = |micros: u64| show(Duration::from_micros(micros));
    let Some(median) = summary.median_us else { return format!("unknown, all {} probes lost", summary.sent) };
    let p95 = summary.p95_us.map(|p95| format!("p95 {}", micros(p95)));
    // Of a single RTT, as a handshake's, there is nothing more to say.
    let max = summary.max_us.filter(|_| summary.sent.get() != 1).map(|max| format!("max {}", micros(max)));
    let lost = (summary.lost.get() > 0).then(|| format!("{} of {} lost", summary.lost, summary.sent));
    let known: Vec<String> = [p95, max, lost].into_iter().flatten().collect();
    if known.is_empty() { micros(median) } else { format!("median {} ({})", micros(median), known.join(", ")) }
}

/// `None` where neither end is known, as of a test that never began.
fn cpu(measurement: &Measurement) -> Option<String> {
    if measurement.local_cpu.is_none() && measurement.peer_cpu.is_none() {
        return None;
    }
    let share = |cpu: &Option<CpuUse>| {
        cpu.as_ref().map_or_else(|| "unknown".to_owned(), |cpu| format!("{:.0} %", (cpu.user + cpu.system) * 100.0))
    };
    Some(format!("this host {}, peer {} of one core", share(&measurement.local_cpu), share(&measurement.peer_cpu)))
}

fn methods(flow: &Flow) -> String {
    let sent = match flow.sent_by {
        Some(SendMethod::Auto) | None => "unknown",
        Some(SendMethod::Write) => "write(2)",
        Some(SendMethod::Sendfile) => "sendfile(2)",
        Some(SendMethod::Splice) => "splice(2)",
        Some(SendMethod::Zerocopy) => "MSG_ZEROCOPY",
    };
    let fallback = if flow.copy_fallback == Some(true) { " (copied by the kernel all the same)" } else { "" };
    let received = match flow.received_by {
        Some(ReceiveMethod::Copy) => "recv(2)",
        Some(ReceiveMethod::Discard) => "MSG_TRUNC",
        Some(ReceiveMethod::Auto) | None => "unknown",
    };
    let control = flow.congestion_control.as_deref().unwrap_or("congestion control unknown");
    let mss = flow.mss.map_or_else(String::new, |mss| format!(", MSS {mss}"));
    format!("{control}{mss}, send {sent}{fallback}, receive {received}")
}

fn peer(run: &Run) -> String {
    let address = run.peer.address.clone().unwrap_or_else(|| run.peer.target.clone());
    match &run.peer.host.software {
        Some(software) => format!("{address} ({software})"),
        None => address,
    }
}

#[cfg(test)]
mod tests {
    use units::PacketCount;

    use super::*;

    /// A second of 1 MB handed to the kernel, of which the receiver reports nothing.
    fn unreported(goodput_bps: u64, datagrams: Option<DatagramCounts>) -> DirectionTotal {
        DirectionTotal {
            heading: Heading::Outbound,
            sent: Some(ByteCount::new(1_000_000)),
            received: None,
            elapsed: Duration::from_secs(1),
            goodput: DataRate::from_bps(goodput_bps),
            retransmits: None,
            datagrams,
            steady: SteadyState::NotCounted,
        }
    }

    #[test]
    fn datagrams_that_nobody_counted_have_no_goodput_and_no_loss() {
        let counts = DatagramCounts { sent: PacketCount::new(700), ..DatagramCounts::default() };
        let total = unreported(8_000_000, Some(counts));
        assert_eq!(
            goodput(&total),
            "unknown          1.00 MB sent at 8.00 Mbit/s, in 1.00 s; the receiver reported nothing"
        );
        assert_eq!(lost(&counts, total.received), "700 sent; not known how many of them arrived");
    }

    #[test]
    fn a_stream_that_nobody_counted_has_the_goodput_that_was_acknowledged() {
        let line = goodput(&unreported(6_000_000, None));
        assert_eq!(line, "6.00 Mbit/s      as acknowledged, of 1.00 MB sent in 1.00 s; the receiver reported nothing");
        let line = goodput(&unreported(8_000_000, None));
        assert_eq!(line, "8.00 Mbit/s      1.00 MB sent in 1.00 s; the receiver reported nothing");
    }

    #[test]
    fn what_is_not_known_of_a_round_trip_is_left_out() {
        let mut summary = RttSummary { median_us: Some(209_000), ..RttSummary::default() };
        assert_eq!(rtt(&summary), "209 ms");
        let handshake = RttSummary { sent: PacketCount::new(1), max_us: Some(209_000), ..summary };
        assert_eq!(rtt(&handshake), "209 ms");
        summary.max_us = Some(215_000);
        summary.sent = PacketCount::new(100);
        summary.lost = PacketCount::new(2);
        assert_eq!(rtt(&summary), "median 209 ms (max 215 ms, 2 of 100 lost)");
        summary.p95_us = Some(210_000);
        assert_eq!(rtt(&summary), "median 209 ms (p95 210 ms, max 215 ms, 2 of 100 lost)");
        assert_eq!(rtt(&RttSummary { median_us: None, ..summary }), "unknown, all 100 probes lost");
    }
}
