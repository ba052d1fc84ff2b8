//! Transfers of a capture, for a person and for a program.

use std::fmt::Write as _;
use std::time::Duration;

use capture::Owner;
use capture::report::{CapturePoint, ConnectionReport, TraceDocument, TraceReport, TransferReport};
use capture::verdict::Verdict;
use comfy_table::Table;
use units::{ByteCount, DataRate};

use super::plural::counted;
use super::{table, wrap};

/// Rows of the list: a screen.
const ROWS: usize = 15;
/// Events of a transfer that are listed.
const EVENTS: usize = 6;
/// Verdicts with a smaller share of the time are left to the JSON form.
const LEAST_SHARE: f64 = 0.005;

/// The costliest first.
pub fn rank(report: &mut TraceReport) {
    let worst = |connection: &ConnectionReport| {
        let cost = connection.transfers.iter().map(TransferReport::cost_bytes).max().unwrap_or_default();
        (cost, connection.payload_bytes())
    };
    report.connections.sort_by_key(|connection| std::cmp::Reverse(worst(connection)));
}

/// Every transfer with its connection: bulk ones, then what is too small to have a limit.
pub fn transfers(report: &TraceReport) -> Vec<(&ConnectionReport, &TransferReport)> {
    let mut all: Vec<_> = report
        .connections
        .iter()
        .flat_map(|connection| connection.transfers.iter().map(move |transfer| (connection, transfer)))
        .collect();
    let largest = all.iter().map(|(_, transfer)| transfer.counts.payload_bytes).max().unwrap_or_default();
    let worth =
        |transfer: &TransferReport| (is_bulk(transfer, largest), transfer.cost_bytes(), transfer.counts.payload_bytes);
    all.sort_by_key(|(_, transfer)| std::cmp::Reverse(worth(transfer)));
    all
}

/// A transfer of more than the initial window of most hosts, and no control connection beside a much larger one.
fn is_bulk(transfer: &TransferReport, largest: u64) -> bool {
    transfer.counts.segments > 10 && transfer.counts.payload_bytes >= largest / 100
}

/// A screen: one transfer in full where one was asked for or only one matters, else the list.
pub fn text(document: &TraceDocument, wanted: Option<usize>) -> String {
    let all = transfers(&document.report);
    let mut page = head(&document.file, &document.report, all.len());
    let largest = all.iter().map(|(_, transfer)| transfer.counts.payload_bytes).max().unwrap_or_default();
    let bulk = all.iter().filter(|(_, transfer)| is_bulk(transfer, largest)).count();
    let number = wanted.or((bulk == 1 || all.len() == 1).then_some(1));
    match number.and_then(|number| all.get(number.checked_sub(1)?)) {
        Some((connection, transfer)) => in_full(connection, transfer, &mut page),
        None if wanted.is_none() && !all.is_empty() => list(&all, &mut page),
        None => {}
    }
    page
}

fn head(name: &str, report: &TraceReport, transfers: usize) -> String {
    let counts = &report.counts;
    let mut page = format!(
        "{name}: {}, {} of them TCP, {}, {}\n",
        counted(report.packets, "packet", "packets"),
        counts.tcp,
        counted(report.connections.len() as u64 + report.left_out, "connection", "connections"),
        counted(transfers as u64, "transfer", "transfers"),
    );
    let mut note = |text: String| {
        let _ = write!(page, "  note         {}", wrap::narrow(&text, 15).trim_start());
    };
    if let Some(damage) = &report.damage {
        note(format!("read in part: {damage}"));
    }
    let drops = report.drops.interface + report.drops.system + report.drops.between;
    if drops > 0 {
        note(format!("the capturing host dropped {drops} packets"));
    }
    if report.order.steps_back > 0 {
        note(format!(
            "the capture's clock went back {}, first at frame {}; times after it are shifted",
            counted(report.order.steps_back, "time", "times"),
            report.order.first_step_frame
        ));
    }
    if let Some(link) = counts.first_unknown_link {
        note(format!("{} of a link layer that is not read (LINKTYPE {link})", packets(counts.unknown_link)));
    }
    let joined = counts.fragments.saturating_sub(counts.fragments_apart);
    for (count, what) in [
        (joined, "of IP packets, put together with the first"),
        (counts.fragments_apart, "of IP packets whose first one is missing: their bytes are not counted"),
    ] {
        if count > 0 {
            note(format!("{} {what}", counted(count, "later fragment", "later fragments")));
        }
    }
    for (count, what) in [
        (counts.cut_short, "of which too little was stored"),
        (report.connections.iter().map(|connection| connection.duplicates).sum(), "left out: copies of others"),
    ] {
        if count > 0 {
            note(format!("{} {what}", packets(count)));
        }
    }
    if report.left_out > 0 {
        note(format!("{} left out", counted(report.left_out, "smaller connection", "smaller connections")));
    }
    if transfers == 0 && !report.connections.is_empty() {
        note("no data: nothing was sent, or the capture has acknowledgments only".to_owned());
    }
    page
}

fn packets(count: u64) -> String {
    counted(count, "packet", "packets")
}

fn list(all: &[(&ConnectionReport, &TransferReport)], page: &mut String) {
    let mut rows = Table::new();
    rows.set_header(["NO", "FROM", "TO", "PAYLOAD", "GOODPUT", "RETRANSMITS", "RTT MIN", "NOT SENT", "LIMITED BY"]);
    for (number, (connection, transfer)) in (1..).zip(all).take(ROWS) {
        let limit = transfer.verdicts.first().map_or_else(|| dominant(transfer), limit);
        rows.add_row([
            number.to_string(),
            tagged(connection, transfer),
            transfer.to.to_string(),
            ByteCount::new(transfer.delivered_bytes).to_string(),
            transfer.goodput_bps().map_or_else(|| "-".to_owned(), |bps| DataRate::from_bps(bps).to_string()),
            transfer.counts.retransmits.to_string(),
            transfer.rtt.map_or_else(|| "-".to_owned(), |rtt| time(rtt.min_ns)),
            ByteCount::new(transfer.cost_bytes()).to_string(),
            limit,
        ]);
    }
    page.push('\n');
    page.push_str(&table::text(rows));
    if all.len() > ROWS {
        let _ = writeln!(page, "and {} more (--json has all)", all.len() - ROWS);
    }
    page.push_str("\nOne in full: --flow NO; a picture of it: --flow NO --plot FILE.svg\n");
}

/// Who sends, and what is around the packets: the same connection may pass in several places.
fn tagged(connection: &ConnectionReport, transfer: &TransferReport) -> String {
    match &connection.tags {
        Some(tags) => format!("{} ({tags})", transfer.from),
        None => transfer.from.to_string(),
    }
}

fn limit(verdict: &Verdict) -> String {
    match verdict.time_share {
        Some(share) if share > 0.0 => format!("{} ({:.0} %)", verdict.cause.name(), share * 100.0),
        _ => verdict.cause.name().to_owned(),
    }
}

/// The owner of most of the time, where no rule has fired.
fn dominant(transfer: &TransferReport) -> String {
    let most = transfer.budget.iter().max_by_key(|share| share.time_ns);
    most.filter(|share| share.time_ns > 0).map_or_else(|| "-".to_owned(), |share| share.owner.name().to_owned())
}

fn in_full(connection: &ConnectionReport, transfer: &TransferReport, page: &mut String) {
    let point = match transfer.captured_at {
        CapturePoint::Sender => "captured at the sender",
        CapturePoint::Receiver => "captured at the receiver",
        CapturePoint::Between => "captured between the two",
        CapturePoint::Unknown => "where it was captured is not known",
    };
    let around = connection.tags.as_ref().map_or_else(String::new, |tags| format!(", in {tags}"));
    let _ = writeln!(page, "\n{} -> {}, {point}{around}", transfer.from, transfer.to);
    numbers(connection, transfer, page);
    budget(transfer, page);
    verdicts(transfer, page);
    events(transfer, page);
}

fn numbers(connection: &ConnectionReport, transfer: &TransferReport, page: &mut String) {
    let counts = &transfer.counts;
    let mut line = |label: &str, text: String| {
        let text = wrap::narrow(&text, 15);
        let _ = write!(page, "  {label:<12} {}", text.trim_start());
    };
    let goodput = transfer.goodput_bps().map_or_else(|| "none".to_owned(), |bps| DataRate::from_bps(bps).to_string());
    line(
        "goodput",
        if counts.acks == 0 {
            format!("not known: {} sent in {}", ByteCount::new(counts.payload_bytes), time(transfer.duration_ns))
        } else {
            format!("{goodput}: {} in {}", ByteCount::new(transfer.delivered_bytes), time(transfer.duration_ns))
        },
    );
    if let Some(rtt) = transfer.rtt {
        let [min, median, high, max] = [rtt.min_ns, rtt.median_ns, rtt.p95_ns, rtt.max_ns].map(time);
        line("RTT", format!("min/median/95 %/max {min}/{median}/{high}/{max}, {} samples", rtt.samples));
    }
    line(
        "segments",
        format!(
            "{} of {} B, {} retransmitted ({} spurious), {} reordered, {} timeouts",
            counts.segments, counts.mss_bytes, counts.retransmits, counts.spurious, counts.reordered, counts.timeouts
        ),
    );
    let window = &transfer.window;
    let scale =
        window.scale.map_or_else(|| "at least: no SYN was captured".to_owned(), |scale| format!("scale {scale}"));
    // Without acknowledgments nobody knows what is offered and what is outstanding.
    if counts.acks > 0 {
        line(
            "window",
            format!("offered {} to {} ({scale})", ByteCount::new(window.min_bytes), ByteCount::new(window.max_bytes),),
        );
        let [mean, max] = [transfer.outstanding_mean_bytes, transfer.outstanding_max_bytes].map(ByteCount::new);
        line("outstanding", format!("mean/max {mean}/{max}"));
    }
    if counts.super_packets > 0 {
        line(
            "note",
            format!(
                "{} of {} packets are not cut yet (TSO/GRO): spacing inside is unknown",
                counts.super_packets, counts.data_packets
            ),
        );
    }
    if let Some(most_ns) = transfer.held_max_ns.filter(|_| counts.held_packets * 20 >= counts.data_packets) {
        line(
            "note",
            format!(
                "{} of {} packets had waited in the sending host, up to {}, as their time stamps show: a qdisc there is a bottleneck",
                counts.held_packets,
                counts.data_packets,
                time(most_ns)
            ),
        );
    }
    if connection.cut_options > 0 {
        line(
            "note",
            format!(
                "TCP options of {} packets are cut off: SACK and time stamps are incomplete",
                connection.cut_options
            ),
        );
    }
}

fn budget(transfer: &TransferReport, page: &mut String) {
    const BAR: f64 = 24.0;
    // A clock that is damaged may go on for centuries.
    let total = transfer.budget.iter().fold(0_i64, |sum, share| sum.saturating_add(share.time_ns));
    if total <= 0 {
        return;
    }
    page.push_str("\n  Where the time went\n");
    let mut shares: Vec<(Owner, i64)> = transfer.budget.iter().map(|share| (share.owner, share.time_ns)).collect();
    shares.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    // A share of a thousandth and more, also of the centuries that a damaged clock makes.
    for (owner, ns) in shares.into_iter().filter(|(_, ns)| *ns > total / 1_000) {
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = ns as f64 / total as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "24 at most")]
        let bar = "#".repeat((share * BAR).round() as usize);
        let line = format!("    {:<32} {:>9} {:>5.1} %  {bar}", owner.name(), time(ns), share * 100.0);
        let _ = writeln!(page, "{}", line.trim_end());
    }
}

fn verdicts(transfer: &TransferReport, page: &mut String) {
    page.push_str("\n  What limited it\n");
    let worth = |verdict: &&Verdict| verdict.time_share.is_none_or(|share| share == 0.0 || share >= LEAST_SHARE);
    let mut count = 0;
    for verdict in transfer.verdicts.iter().filter(worth) {
        count += 1;
        // What follows a cause is indented by two more.
        let text = wrap::narrow(&format!("{}: {}", limit(verdict), verdict.evidence), 6);
        page.push_str(text.get(2..).unwrap_or(&text));
        let mut detail = Vec::new();
        if !verdict.frames.is_empty() {
            let frames: Vec<String> = verdict.frames.iter().map(u64::to_string).collect();
            detail.push(format!("frames {}", frames.join(", ")));
        }
        if !verdict.rivals.is_empty() {
            detail.push(format!("not excluded: {}", verdict.rivals.join("; ")));
        }
        if let Some(test) = &verdict.next_test {
            detail.push(format!("next: {test}"));
        }
        for line in detail {
            page.push_str(&wrap::narrow(&line, 6));
        }
    }
    if count == 0 {
        page.push_str("    not judged: no rule has enough evidence in this capture\n");
    }
}

fn events(transfer: &TransferReport, page: &mut String) {
    if transfer.events.is_empty() {
        return;
    }
    let count = transfer.events.len() as u64 + transfer.events_left_out;
    let _ = writeln!(page, "\n  The costliest of {count} events");
    let mut rows = Table::new();
    rows.set_header(["    NO", "AT", "WHAT", "DURATION", "RETRANSMITS", "NOT SENT", "FRAME"]);
    for event in transfer.events.iter().take(EVENTS) {
        let spurious = if event.spurious > 0 {
            format!(" ({} spurious)", event.spurious.min(event.retransmits))
        } else {
            String::new()
        };
        rows.add_row([
            format!("    {}", event.number),
            time(event.from_ns),
            event.event.name().to_owned(),
            time(event.to_ns - event.from_ns),
            format!("{}{spurious}", event.retransmits),
            ByteCount::new(event.cost_bytes).to_string(),
            event.first_frame.to_string(),
        ]);
    }
    page.push_str(&table::text(rows));
}

/// A time of which a capture has nanoseconds, in as many digits as help.
fn time(ns: i64) -> String {
    units::duration::show(Duration::from_nanos(ns.max(0).unsigned_abs()))
}
