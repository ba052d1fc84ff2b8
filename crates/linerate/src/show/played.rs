//! A scenario on screen: the network before it is played, each test as it ends, and the truth after it.

use diagnose::waterfall::line::LineRate;
use diagnose::waterfall::{self, Waterfall};
use lab::scenario::Scenario;
use model::measurement::{Latency, RttSummary};
use model::played::{Finding, LinkAccount, PlantedCause, Played, Tested};
use model::probe::download::Download;
use model::probe::path_mtu::{MtuLimit, PathMtu};
use model::run::{Outcome, Run};
use model::series::RunSamples;
use model::spec::Protocol;
use units::PacketCount;
use units::duration::show;

use super::intervals::way;
use super::wrap;

/// What is going to be played.
pub fn introduction(scenario: &Scenario) -> String {
    let mut text = format!(
        "{}\n{}\n\n{}",
        scenario.title,
        "=".repeat(scenario.title.chars().count()),
        wrap::text(&scenario.about, 0)
    );
    for (what, how) in [("emulated", &scenario.emulates), ("scaled", &scenario.scale)] {
        if let Some(how) = how {
            text.push_str(&format!("\n{what}: {}", wrap::text(how, what.len() + 2).trim_start()));
        }
    }
    text.push('\n');
    text
}

/// One test with its result: a line, and one more for each thing to know.
pub fn tested(tested: &Tested, samples: Option<&RunSamples>) -> String {
    let head = format!("{:5.1} s  {:<28}", tested.began.as_secs_f64(), tested.label);
    let lines = finding(&tested.finding, samples);
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let head = if number == 0 { head.clone() } else { " ".repeat(head.chars().count()) };
        text.push_str(&format!("{head} {line}\n"));
    }
    text
}

/// What a test has found, in a line or more.
pub fn finding(finding: &Finding, samples: Option<&RunSamples>) -> Vec<String> {
    match finding {
        Finding::Run(run) => flow(run, samples),
        Finding::Echo(series) => vec![or_failure("ping", &series.outcome, || echoes(&series.summary.rtt))],
        Finding::PathMtu(found) => vec![or_failure("mtu", &found.outcome, || path_mtu(found))],
        Finding::Hops(trace) => {
            let addresses: Vec<String> = trace.hops.iter().map(|hop| hop_address(&hop.answers)).collect();
            vec![or_failure("hops", &trace.outcome, || format!("hops {}", addresses.join(" > ")))]
        }
        Finding::Downloads(downloads) => downloads.iter().map(download).collect(),
        Finding::Nothing { detail } => vec![format!("no result: {detail}")],
    }
}

fn or_failure(kind: &str, outcome: &Outcome, text: impl FnOnce() -> String) -> String {
    match outcome {
        Outcome::Complete => text(),
        Outcome::Failed(failure) => format!("{kind} failed: {}", failure.detail),
    }
}

fn flow(run: &Run, samples: Option<&RunSamples>) -> Vec<String> {
    let Some(measurement) = run.measurement.as_ref().filter(|_| run.outcome == Outcome::Complete) else {
        let Outcome::Failed(failure) = &run.outcome else { return Vec::new() };
        return vec![format!("failed: {}", failure.detail)];
    };
    let protocol = if run.spec.protocol == Protocol::Tcp { "tcp" } else { "udp" };
    let mut lines = Vec::new();
    for total in &measurement.totals {
        let mut line = format!("{protocol} {:<3} {:>12}", way(total.heading), total.goodput.to_string());
        if let Some(retransmits) = total.retransmits {
            line.push_str(&format!("  retransmits {}", retransmits.get()));
        }
        if let Some(lost) = &total.datagrams {
            line.push_str(&format!("  lost {} of {}", lost.lost.get(), lost.sent.get()));
        }
        lines.push(line);
    }
    lines.extend(measurement.latency.as_ref().and_then(round_trips));
    let waterfalls = samples.map(|samples| waterfall::explain(run, samples, LineRate::of(run)));
    lines.extend(waterfalls.iter().flatten().filter_map(largest));
    lines
}

/// What a stream does to the round trips of everybody.
fn round_trips(latency: &Latency) -> Option<String> {
    let (idle, loaded) = (latency.idle.as_ref()?.median_us?, latency.loaded.as_ref()?.median_us?);
    Some(format!("RTT {}, under load {}", us(idle), us(loaded)))
}

/// The three largest shares of the gap.
fn largest(waterfall: &Waterfall) -> Option<String> {
    let mut shares: Vec<_> = waterfall.shares.iter().filter(|share| share.part_of_line_rate >= 0.01).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.bytes));
    let named: Vec<String> = shares
        .iter()
        .take(3)
        .map(|share| format!("{} {:.0} %", waterfall.label(share.cause), share.part_of_line_rate * 100.0))
        .collect();
    (!named.is_empty()).then(|| format!("of {}: {}", waterfall.line_rate.rate, named.join(", ")))
}

fn echoes(rtt: &RttSummary) -> String {
    let answered = rtt.sent.get() - rtt.lost.get();
    let times = match (rtt.median_us, rtt.max_us) {
        (Some(median), Some(max)) => format!(", RTT {} (max {})", us(median), us(max)),
        _ => String::new(),
    };
    format!("ping {answered} of {} answered{times}", rtt.sent.get())
}

fn path_mtu(found: &PathMtu) -> String {
    let Some(mtu) = found.path_mtu else { return "mtu: nothing arrives".to_owned() };
    let how = match &found.limit {
        Some(MtuLimit::Interface) => "that of the device".to_owned(),
        Some(MtuLimit::Told { reporter: Some(reporter), .. }) => format!("as {reporter} says"),
        Some(MtuLimit::Told { .. }) => "as this host knows".to_owned(),
        Some(MtuLimit::Silent) => "larger ones vanish, and nobody says so".to_owned(),
        None => "the limit was not found".to_owned(),
    };
    format!("mtu {} B, {how}", mtu.get())
}

fn hop_address(answers: &[model::probe::hops::HopAnswer]) -> String {
    let address = answers.iter().find_map(|answer| answer.address);
    address.map_or_else(|| "?".to_owned(), |address| address.to_string())
}

fn download(download: &Download) -> String {
    or_failure("http", &download.outcome, || {
        let goodput = download.goodput.map(|goodput| goodput.to_string()).unwrap_or_default();
        let server = download.answer.as_ref().and_then(|answer| answer.served_by.clone());
        format!("http {goodput}{}", server.map(|server| format!(" from {server}")).unwrap_or_default())
    })
}

fn us(time: u64) -> String {
    show(std::time::Duration::from_micros(time))
}

/// How a scenario was played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By real hosts over emulated paths.
    Live,
    /// In virtual time.
    Virtual,
}

/// What really was: the truth, what the path did to packets, and whether an emulation kept up.
pub fn truth(played: &Played, mode: Mode) -> String {
    let mut text = String::from("\nthe truth\n");
    if played.truth.is_empty() {
        text.push_str("  nothing is wrong\n");
    }
    for cause in &played.truth {
        text.push_str(&format!("  {}\n", planted(cause)));
    }
    text.push_str("\nwhat the links did\n");
    for account in played.links.iter().filter(|account| account.taken_packets.get() > 0) {
        text.push_str(&format!("  {}\n", link(account)));
    }
    text.push('\n');
    match mode {
        Mode::Virtual => text.push_str("Simulated in virtual time: nothing on this machine can have disturbed it.\n"),
        Mode::Live if played.limited_by_emulation.is_empty() => {
            text.push_str("The emulation kept up: what was measured is the network's doing.\n");
        }
        Mode::Live => {}
    }
    for limit in &played.limited_by_emulation {
        text.push_str(&format!("Not judged, this machine disturbed the play: {limit}\n"));
    }
    text
}

fn planted(cause: &PlantedCause) -> String {
    let towards = cause.towards.as_ref().map(|host| format!(" towards {host}")).unwrap_or_default();
    let since = if cause.since.is_zero() { String::new() } else { format!(", since {}", show(cause.since)) };
    format!("{} at {}{towards}{since}", cause.cause, cause.place)
}

fn link(account: &LinkAccount) -> String {
    let mut text = format!(
        "{:<40} {:>9} packets",
        format!("{}: {} > {}", account.link, account.from, account.to),
        account.taken_packets.get()
    );
    let counts = [
        (&account.dropped_packets, "dropped"),
        (&account.lost_packets, "lost by the emulation"),
        (&account.marked_packets, "marked"),
    ];
    for (reason, packets, what) in counts.iter().flat_map(|(counts, what)| {
        counts.iter().map(move |(reason, packets): (&String, &PacketCount)| (reason, packets, what))
    }) {
        text.push_str(&format!(", {} {what} ({reason})", packets.get()));
    }
    if let Some(queue) = account.mean_delay_ns.get("queue").filter(|nanos| **nanos > 100_000) {
        text.push_str(&format!(", {} in the queue", show(std::time::Duration::from_nanos(*queue))));
    }
    text
}
