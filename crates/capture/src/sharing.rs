//! Several transfers between two hosts through one bucket: each sees only a part of what empties it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::direction::losses::LossRecord;
use crate::direction::owner::Owner;
use crate::report::{ConnectionReport, TransferReport};
use crate::verdict::{Cause, PolicerFit, rank};

/// Transfers that are replayed together, at most: those that lost most.
const MAX_TOGETHER: usize = 16;
/// Pairs of hosts that are looked at, at most.
const MAX_PAIRS: usize = 64;

/// A direction between two hosts, with tags and tunnels around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HostPair {
    from: IpAddr,
    to: IpAddr,
    outer: u32,
}

/// Where in the reports a transfer is.
#[derive(Debug, Clone, Copy)]
struct TransferIndex {
    connection: usize,
    transfer: usize,
}

/// Looks for a bucket that the transfers of a pair of hosts share, and gives each of them that lost anything the verdict.
pub(crate) fn judge_shared(reports: &mut [ConnectionReport]) {
    let mut pairs: BTreeMap<HostPair, Vec<TransferIndex>> = BTreeMap::new();
    for (connection, report) in reports.iter().enumerate() {
        for (transfer, each) in report.transfers.iter().enumerate().filter(|(_, each)| each.losses.is_some()) {
            let pair = HostPair { from: each.from.ip(), to: each.to.ip(), outer: report.outer };
            pairs.entry(pair).or_default().push(TransferIndex { connection, transfer });
        }
    }
    for mut transfers in pairs.into_values().filter(|transfers| transfers.len() > 1).take(MAX_PAIRS) {
        transfers.sort_by_key(|index| std::cmp::Reverse(at(reports, *index).map_or(0, |each| each.counts.retransmits)));
        transfers.truncate(MAX_TOGETHER);
        judge_pair(reports, &transfers);
    }
}

fn at(reports: &[ConnectionReport], index: TransferIndex) -> Option<&TransferReport> {
    reports.get(index.connection)?.transfers.get(index.transfer)
}

fn judge_pair(reports: &mut [ConnectionReport], transfers: &[TransferIndex]) {
    let all: Vec<&TransferReport> = transfers.iter().filter_map(|index| at(reports, *index)).collect();
    let records: Vec<&LossRecord> = all.iter().filter_map(|transfer| transfer.losses.as_deref()).collect();
    let mss = all.iter().map(|transfer| u64::from(transfer.counts.mss_bytes)).max().unwrap_or(1);
    let rtt_ns = all.iter().filter_map(|transfer| Some(transfer.rtt?.min_ns)).min().unwrap_or_default();
    let Some(found) = PolicerFit::shared(&records, mss, rtt_ns) else { return };
    for index in transfers {
        let transfer = reports.get_mut(index.connection).and_then(|report| report.transfers.get_mut(index.transfer));
        if let Some(transfer) = transfer.filter(|transfer| transfer.counts.retransmits > 0) {
            give(&found, transfer);
        }
    }
}

fn give(found: &PolicerFit, transfer: &mut TransferReport) {
    // What a transfer alone looked like is explained by all of them.
    transfer.verdicts.retain(|verdict| {
        !matches!(verdict.cause, Cause::Policer | Cause::ShallowBuffer | Cause::DeepBuffer | Cause::RandomLoss)
    });
    let mut verdict = found.verdict(u64::from(transfer.counts.mss_bytes)).share(limited_share(transfer));
    verdict.frames =
        transfer.events.iter().filter(|event| event.retransmits > 0).take(5).map(|event| event.first_frame).collect();
    verdict.cost_bytes =
        transfer.events.iter().filter(|event| event.retransmits > 0).map(|event| event.cost_bytes).sum();
    transfer.verdicts.push(verdict);
    rank(&mut transfer.verdicts);
}

/// Share of the time in which the network limited a transfer.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn limited_share(transfer: &TransferReport) -> f64 {
    let total: i64 = transfer.budget.iter().map(|share| share.time_ns).sum();
    let limited: i64 = transfer
        .budget
        .iter()
        .filter(|share| {
            matches!(share.owner, Owner::Recovery | Owner::Timeout | Owner::SlowStart | Owner::CongestionWindow)
        })
        .map(|share| share.time_ns)
        .sum();
    limited as f64 / total.max(1) as f64
}
