//! Transfers that have ended, for people.

use std::path::Path;

use chart::grid::short;
use comfy_table::{CellAlignment, Table};
use model::measurement::Heading;
use model::transfer::{LimitShare, LossEvent, LossEventKind, ReceivedCount, RetransmitRun, Transfer, TransferEnd};
use units::DataRate;
use units::duration::show;

use crate::show::plural::counted;
use crate::show::{table, when};

/// The list, or a line that says where transfers would be.
pub fn list(transfers: &[Transfer], archive: &Path) -> String {
    if transfers.is_empty() {
        return format!("no transfers in {}: `linerate watch flows` keeps those that end\n", archive.display());
    }
    let mut rows = Table::new();
    rows.set_header(["TRANSFER", "STARTED", "PEER", "MOVED", "IN", "RATE", "LIMITED BY"]);
    for transfer in transfers {
        let arrow = if transfer.heading == Heading::Outbound { "→" } else { "←" };
        let id = transfer.id.to_string();
        rows.add_row([
            id.get(..SHORT_ID).unwrap_or(&id).to_owned(),
            when::local(transfer.started),
            format!("{arrow} {}", transfer.peer),
            transfer.moved().to_string(),
            show(transfer.active),
            short(transfer.goodput),
            limited(transfer.goodput, transfer.limits.get(..1).unwrap_or_default()),
        ]);
    }
    for column in [3, 4, 5] {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    foreign::terminal::lines(&table::text(rows)).into_owned()
}

/// `02:13:07 gridftp → 192.0.2.7: 13.0 GB in 25.4 s, 4.10 of 9.30 Gbit/s, receive window 71 %`.
pub fn sentence(transfer: &Transfer) -> String {
    let started = when::local(transfer.started);
    let time = started.split_once(' ').map_or(started.as_str(), |(_, time)| time);
    let program = transfer.owner.as_ref().and_then(|owner| owner.program.as_deref()).unwrap_or("");
    let arrow = if transfer.heading == Heading::Outbound { "→" } else { "←" };
    let expected = transfer.expected.map(|expected| format!(" of {expected}")).unwrap_or_default();
    let limit = limited(transfer.goodput, transfer.limits.get(..1).unwrap_or_default());
    let limit = if limit.is_empty() { limit } else { format!(", {limit}") };
    let moved = transfer.moved().saturating_sub(transfer.before_watch);
    let (time_taken, rate) = (show(transfer.active), transfer.goodput);
    let program = if program.is_empty() { String::new() } else { format!("{program} ") };
    format!("{time} {program}{arrow} {}: {moved} in {time_taken}, {rate}{expected}{limit}", transfer.peer)
}

/// The head of an explanation: the sentence, the exact totals and what is not known of them.
pub fn head(transfer: &Transfer) -> String {
    let mut text = format!("transfer {}\n{}\n", transfer.id, sentence(transfer));
    text.push_str(&format!(
        "  {} bytes sent, {} bytes received{}, {} segments retransmitted\n",
        transfer.sent.get(),
        transfer.received.get(),
        match transfer.received_count {
            ReceivedCount::Exact => "",
            ReceivedCount::OneByteMore => " (or one less: this host closed first)",
        },
        transfer.retransmits
    ));
    if let Some(losses) = losses(&transfer.loss_events) {
        text.push_str(&format!("  {losses}\n"));
    }
    if let Some(runs) = runs(&transfer.retransmit_runs) {
        text.push_str(&format!("  {runs}\n"));
    }
    if transfer.before_watch.get() > 0 {
        text.push_str(&format!("  {} of that before it was watched\n", transfer.before_watch));
    }
    match transfer.end {
        TransferEnd::Closed => {}
        TransferEnd::NotHeard => text.push_str("  the kernel's last word was not heard: totals of the last sample\n"),
        TransferEnd::WatchEnded => text.push_str("  the watch ended before the transfer did\n"),
    }
    foreign::terminal::lines(&text).into_owned()
}

/// `losses noticed: 3 recoveries and 1 timeout, the first after 1.20 s, the last after 7.90 s`.
fn losses(events: &[LossEvent]) -> Option<String> {
    let (first, last) = (events.first()?, events.last()?);
    let timeouts = events.iter().filter(|event| event.kind == LossEventKind::Timeout).count();
    let recoveries = counted(events.len() - timeouts, "recovery", "recoveries");
    let timeouts = counted(timeouts, "timeout", "timeouts");
    let when = if events.len() == 1 {
        format!("after {}", show(first.at))
    } else {
        format!("the first after {}, the last after {}", show(first.at), show(last.at))
    };
    Some(format!("losses noticed: {recoveries} and {timeouts}, {when}"))
}

/// `retransmitted in 5 runs, most after 1.20 s: 60 transmissions within 80 ms`.
fn runs(runs: &[RetransmitRun]) -> Option<String> {
    let most = runs.iter().max_by_key(|run| run.transmissions)?;
    let within = if most.length.is_zero() { "at once".to_owned() } else { format!("within {}", show(most.length)) };
    Some(format!(
        "retransmitted in {}, most after {}: {} {within}",
        counted(runs.len(), "run", "runs"),
        show(most.at),
        counted(most.transmissions, "transmission", "transmissions"),
    ))
}

/// The first cause, with a second where it is no less than a fifth.
pub(super) fn limited(goodput: DataRate, limits: &[LimitShare]) -> String {
    if goodput.is_zero() {
        return String::new();
    }
    let named = |share: &LimitShare| format!("{} {:.0} %", share.label, share.part * 100.0);
    let shown: Vec<String> = limits.iter().take(2).filter(|share| share.part >= 0.2).map(named).collect();
    shown.join(", ")
}

/// As many letters as tell transfers of one hour apart.
const SHORT_ID: usize = 12;
