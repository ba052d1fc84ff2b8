//! What limited the transfers of a packet capture, as causes at places: the verdicts of `capture` in the words of the catalogue.
//!
//! The probability of a cause is that of its verdict, which is judged on transfers whose limit is known (docs/traces.md). What
//! is left goes to the causes that look most like it there, and to "something else". Limits that are no faults, a busy
//! bottleneck, a pacing rate and an application with nothing to send, leave a transfer unjudged: it may have all that it should.

use std::collections::BTreeMap;

use capture::report::TransferReport;
use capture::verdict::{Cause as Limit, Verdict};
use units::DataRate;

use super::place::FaultLocation;
use super::problem::{Diagnosis, LikelyPlace, Problem, Ranked, Symptom, UnjudgedFlow};
use super::verdict;
use crate::causes::Catalogue;

/// Where on its path a limit of a transfer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Sender,
    Receiver,
    Path,
}

/// A limit in the words of the catalogue, with the causes that look most like it in a capture.
struct Named {
    limit: Limit,
    cause: &'static str,
    side: Side,
    alike: &'static [(&'static str, Side)],
    rank: Rank,
}

/// Whether a limit is a fault by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rank {
    Fault,
    /// A sign that several faults give: it is named where none of them is, by the likeliest of them with this probability.
    Sign(f64),
}

/// Limits that are faults, and signs of some. No fault thins acknowledgments: offload at a receiver does, as a rule.
const NAMED: [Named; 15] = [
    Named {
        limit: Limit::ReceiverWindow,
        cause: "receive-window-small",
        side: Side::Receiver,
        alike: &[("receiver-slow", Side::Receiver), ("window-scaling-off", Side::Receiver)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::ZeroWindow,
        cause: "receiver-slow",
        side: Side::Receiver,
        alike: &[("receive-window-small", Side::Receiver)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::SendBuffer,
        cause: "send-buffer-small",
        side: Side::Sender,
        alike: &[("congestion-control", Side::Sender)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::SlowStartOvershoot,
        cause: "sender-unpaced",
        side: Side::Sender,
        alike: &[("shallow-queue", Side::Path)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::DeepBuffer,
        cause: "bufferbloat",
        side: Side::Path,
        alike: &[("cross-traffic", Side::Path)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::ShallowBuffer,
        cause: "shallow-queue",
        side: Side::Path,
        alike: &[("policer", Side::Path), ("random-loss", Side::Path)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::Policer,
        cause: "policer",
        side: Side::Path,
        alike: &[("shallow-queue", Side::Path)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::RandomLoss,
        cause: "random-loss",
        side: Side::Path,
        alike: &[("cross-traffic", Side::Path), ("policer", Side::Path)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::DelayedPackets,
        cause: "firewall",
        side: Side::Path,
        // Packets of one flow over paths of unequal length are late as well.
        alike: &[("reordering", Side::Path), ("receiver-cpu", Side::Receiver)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::EcnMarking,
        cause: "ecn-marking-below-capacity",
        side: Side::Path,
        alike: &[("bufferbloat", Side::Path)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::MtuBlackHole,
        cause: "mtu-black-hole",
        side: Side::Path,
        alike: &[("mtu-mismatch", Side::Path)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::PathChange,
        cause: "route-change",
        side: Side::Path,
        alike: &[("cross-traffic", Side::Path)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::Reordering,
        cause: "reordering",
        side: Side::Path,
        alike: &[("route-change", Side::Path), ("sender-cpu", Side::Sender)],
        rank: Rank::Fault,
    },
    Named {
        limit: Limit::SpuriousRetransmission,
        cause: "reordering",
        side: Side::Path,
        alike: &[("firewall", Side::Path), ("cross-traffic", Side::Path)],
        rank: Rank::Sign(0.5),
    },
    Named {
        limit: Limit::Timeout,
        cause: "random-loss",
        side: Side::Path,
        alike: &[("shallow-queue", Side::Path), ("firewall", Side::Path)],
        rank: Rank::Sign(0.4),
    },
];

/// A fault with less of the time, and of what could have been delivered, is not what made a transfer slow.
const LEAST_SHARE: f64 = 0.05;
/// What the causes that look alike have of the probability that a verdict leaves.
const ALIKE: f64 = 0.7;

/// Explains transfers of a capture, the costliest first.
#[must_use]
pub fn of_transfers(transfers: &[&TransferReport], catalogue: &Catalogue) -> Diagnosis {
    let mut diagnosis = Diagnosis {
        verdict: String::new(),
        symptoms: Vec::new(),
        problems: Vec::new(),
        located: Vec::new(),
        judged: 0,
        not_judged: Vec::new(),
        notes: Vec::new(),
    };
    // One problem for each limit and place, with all transfers that it explains.
    let mut problems: BTreeMap<(usize, FaultLocation), Problem> = BTreeMap::new();
    let mut order = Vec::new();
    for (number, transfer) in (1..).zip(transfers) {
        let label = format!("transfer {number}");
        diagnosis.notes.extend(missing(transfer, &label));
        let found = faults(transfer);
        let Some((_, first)) = found.first() else {
            diagnosis.not_judged.push(unjudged(transfer, label));
            continue;
        };
        diagnosis.judged += 1;
        diagnosis.symptoms.push(symptom(transfer, first, label.clone()));
        for (named, verdict) in &found {
            let key = (verdict.cause as usize, place(named.side, transfer));
            let problem = problems.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                problem(named, verdict, transfer, catalogue)
            });
            problem.explains.push(label.clone());
        }
    }
    diagnosis.problems = order.into_iter().filter_map(|key| problems.remove(&key)).collect();
    diagnosis.verdict = verdict::verdict(&diagnosis, verdict::Measured::Transfers);
    diagnosis
}

/// The verdicts that name a fault which had a part of the time or of the bytes, the most important first. What limits for most of
/// the time and is no fault comes before those that only had time: what they took was not to be had. What the events of a fault
/// cost is reckoned from the rate before them, so it counts beside any limit.
fn faults(transfer: &TransferReport) -> Vec<(&'static Named, &Verdict)> {
    let named = |verdict: &Verdict| NAMED.iter().find(|named| named.limit == verdict.cause);
    let first = transfer.verdicts.iter().find(|verdict| has_time(verdict));
    let is_fault = first.and_then(named).is_some();
    let counts = |verdict: &&Verdict| is_fault && has_time(verdict) || lost_share(verdict, transfer) >= LEAST_SHARE;
    let found = transfer.verdicts.iter().filter(counts).filter_map(|verdict| Some((named(verdict)?, verdict)));
    let (faults, signs): (Vec<_>, Vec<_>) = found.partition(|(named, _)| named.rank == Rank::Fault);
    if faults.is_empty() { signs } else { faults }
}

fn has_time(verdict: &Verdict) -> bool {
    verdict.time_share.is_some_and(|share| share >= LEAST_SHARE)
}

/// What a fault's events cost, of what would have been delivered without them.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn lost_share(verdict: &Verdict, transfer: &TransferReport) -> f64 {
    verdict.cost_bytes as f64 / (transfer.delivered_bytes + verdict.cost_bytes).max(1) as f64
}

fn place(side: Side, transfer: &TransferReport) -> FaultLocation {
    let (from, to) = (transfer.from.ip().to_string(), transfer.to.ip().to_string());
    match side {
        Side::Sender => FaultLocation::Host { name: from },
        Side::Receiver => FaultLocation::Host { name: to },
        Side::Path => FaultLocation::Path { from, to },
    }
}

fn problem(named: &Named, verdict: &Verdict, transfer: &TransferReport, catalogue: &Catalogue) -> Problem {
    let probability = match named.rank {
        Rank::Fault => verdict.confidence,
        Rank::Sign(likeliest) => verdict.confidence * likeliest,
    };
    let left = 1.0 - probability;
    #[expect(clippy::cast_precision_loss, reason = "two or three causes")]
    let each = left * ALIKE / named.alike.len().max(1) as f64;
    let mut best = ranked(named.cause, place(named.side, transfer), probability, catalogue);
    best.speaks_for = vec![evidence(verdict)];
    best.speaks_against = verdict.rivals.iter().map(|rival| format!("the same would show with {rival}")).collect();
    if let Some(test) = &verdict.next_test {
        best.test.clone_from(test);
    }
    let alike = named.alike.iter().map(|(cause, side)| ranked(cause, place(*side, transfer), each, catalogue));
    Problem {
        explains: Vec::new(),
        ranking: std::iter::once(best).chain(alike).collect(),
        unknown: left * (1.0 - ALIKE),
        alike: None,
    }
}

fn evidence(verdict: &Verdict) -> String {
    let frames: Vec<String> = verdict.frames.iter().map(u64::to_string).collect();
    if frames.is_empty() {
        verdict.evidence.clone()
    } else {
        format!("{} (frames {})", verdict.evidence, frames.join(", "))
    }
}

fn ranked(cause: &str, place: FaultLocation, probability: f64, catalogue: &Catalogue) -> Ranked {
    let known = catalogue.get(cause);
    let text = |of: fn(&crate::causes::Cause) -> &String| known.map(of).cloned().unwrap_or_default();
    Ranked {
        cause: cause.to_owned(),
        title: text(|cause| &cause.title),
        places: vec![LikelyPlace { place, probability: 1.0 }],
        probability,
        speaks_for: Vec::new(),
        speaks_against: Vec::new(),
        test: text(|cause| &cause.test),
        fix: known.map(|cause| cause.fix.clone()).unwrap_or_default(),
        remedy: text(|cause| &cause.remedy),
        verify: text(|cause| &cause.verify),
    }
}

fn symptom(transfer: &TransferReport, first: &Verdict, test: String) -> Symptom {
    let share = first.time_share.unwrap_or_default() * 100.0;
    let lost = lost_share(first, transfer) * 100.0;
    let cost =
        if lost < 1.0 { String::new() } else { format!(", which took {lost:.0} % of what could have been delivered") };
    Symptom {
        test,
        from: transfer.from.to_string(),
        to: transfer.to.to_string(),
        says: format!("{}, {share:.0} % of the time limited by {}{cost}", goodput(transfer), first.cause.name()),
        predicted: None,
        allowed: None,
        loss_allows: None,
    }
}

fn unjudged(transfer: &TransferReport, test: String) -> UnjudgedFlow {
    let reason = transfer.verdicts.first().map_or_else(
        || "nothing in the capture limits it for long".to_owned(),
        |first| {
            format!(
                "{} ({:.0} %): {}{}",
                first.cause.name(),
                first.confidence * 100.0,
                first.evidence,
                also(&transfer.verdicts)
            )
        },
    );
    let (from, to) = (transfer.from.to_string(), transfer.to.to_string());
    UnjudgedFlow { test, from, to, goodput: goodput(transfer), reason, loss_allows: None }
}

/// The verdicts beside the first.
fn also(verdicts: &[Verdict]) -> String {
    let others = verdicts.iter().skip(1).filter(|verdict| verdict.cause != Limit::CaptureLoss);
    let named = others.map(|verdict| match verdict.time_share {
        Some(share) if share >= 0.005 => format!("{} ({:.0} % of the time)", verdict.cause.name(), share * 100.0),
        _ => verdict.cause.name().to_owned(),
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { String::new() } else { format!("; also seen: {}", named.join(", ")) }
}

/// What the capture lacks, for which verdicts on losses may be withheld.
fn missing(transfer: &TransferReport, label: &str) -> Option<String> {
    let lacks = transfer.verdicts.iter().find(|verdict| verdict.cause == Limit::CaptureLoss)?;
    Some(format!("{label}: {}", lacks.evidence))
}

fn goodput(transfer: &TransferReport) -> DataRate {
    let ns = u128::from(transfer.duration_ns.max(1).unsigned_abs());
    let bps = u128::from(transfer.delivered_bytes) * 8_000_000_000 / ns;
    DataRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_that_a_capture_names_is_in_the_catalogue() {
        let catalogue = Catalogue::built_in();
        for named in &NAMED {
            for cause in std::iter::once(named.cause).chain(named.alike.iter().map(|alike| alike.0)) {
                assert!(catalogue.get(cause).is_some(), "{cause}");
            }
        }
    }

    #[test]
    fn a_capture_without_transfers_is_healthy_and_says_that_nothing_is_known() {
        let diagnosis = of_transfers(&[], Catalogue::built_in());
        assert!(diagnosis.is_healthy());
        assert_eq!(diagnosis.verdict, "Nothing is known: no test gave a rate");
    }
}
