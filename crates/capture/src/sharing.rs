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

/// Losses that make a rate, and that there should have been where hardly any are; and what counts as hardly any of them.
const LEAST_LOSSES: f64 = 15.0;
const LEAST_EXPECTED: f64 = 100.0;
const SPARED: f64 = 0.1;

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
        while !transfers.is_empty() {
            let (alike, others) = losing_alike(reports, transfers);
            if alike.len() > 1 {
                judge_pair(reports, &alike);
            }
            transfers = others;
        }
    }
}

/// Real losses of a transfer, and of how many segments.
#[derive(Debug, Clone, Copy)]
struct Lost {
    losses: f64,
    segments: f64,
}

impl Lost {
    #[expect(clippy::cast_precision_loss, reason = "counts as shares")]
    fn of(transfer: &TransferReport) -> Self {
        let counts = &transfer.counts;
        let losses = counts.retransmits.saturating_sub(counts.spurious) as f64;
        Self { losses, segments: counts.segments.max(1) as f64 }
    }

    /// Whether it lost far less than it would at a rate of losses.
    fn is_spared(self, rate: f64) -> bool {
        let expected = rate * self.segments;
        expected >= LEAST_EXPECTED && self.losses < expected * SPARED
    }
}

/// A bucket drops segments of whoever comes when it is empty: transfers that lose far less than another do not pass its bucket.
/// Those that lose about as much as the one that loses most, and the others.
fn losing_alike(
    reports: &[ConnectionReport],
    transfers: Vec<TransferIndex>,
) -> (Vec<TransferIndex>, Vec<TransferIndex>) {
    let lost = |index: &TransferIndex| at(reports, *index).map(Lost::of);
    // What lost a few of a few has no rate.
    let known = transfers.iter().filter_map(lost).filter(|lost| lost.losses >= LEAST_LOSSES);
    let most = known.map(|lost| lost.losses / lost.segments).fold(0.0, f64::max);
    transfers.into_iter().partition(|index| !lost(index).is_some_and(|lost| lost.is_spared(most)))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of a path with a policer for one port: 22,831 of 130,739 segments, and 6 of 202,297 beside it.
    #[test]
    fn a_transfer_that_is_spared_passes_another_bucket_and_a_short_one_may_pass_the_same() {
        let policed = 22_831.0 / 130_739.0;
        assert!(Lost { losses: 6.0, segments: 202_297.0 }.is_spared(policed));
        assert!(!Lost { losses: 9_000.0, segments: 202_297.0 }.is_spared(policed));
        assert!(!Lost { losses: 0.0, segments: 400.0 }.is_spared(policed));
    }
}
