//! What a series of results of a pair is made of.

use model::measurement::{DirectionTotal, Heading};
use model::played::Finding;
use model::round::{Round, Tested};
use model::run::{Outcome, Run, RunId};
use model::spec::Protocol;
use serde::{Deserialize, Serialize};
use units::{DataRate, PacketCount, WallTime};

use super::pair::Pair;

/// One result of one host sending to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairResult {
    /// When the run started.
    #[serde(rename = "started_unix_ns")]
    pub started: WallTime,
    /// Name of the run, by which its page is found; absent where the source has a result without its run at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// The round that it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<RunId>,
    /// The label of its test in a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// TCP or UDP.
    pub protocol: Protocol,
    /// Payload delivered per second; absent of a run that measured nothing.
    #[serde(rename = "goodput_bps", default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<DataRate>,
    /// TCP segments retransmitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<PacketCount>,
    /// Median RTT beside the flow, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_rtt_us: Option<u64>,
    /// Why the run failed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A result with the pair that it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct OfPair {
    /// Who sent to whom.
    pub pair: Pair,
    /// What came of it.
    pub result: PairResult,
}

/// The results of all runs of a round.
#[must_use]
pub fn of_round(round: &Round) -> Vec<OfPair> {
    round.tests.iter().flat_map(|tested| of_tested(round.id, tested)).collect()
}

fn of_tested(round: RunId, tested: &Tested) -> Vec<OfPair> {
    let Finding::Run(run) = &tested.finding else { return Vec::new() };
    let pair = Pair {
        from: tested.from.host.clone(),
        to: tested.to.host.clone(),
        network: tested.from.network.clone().or_else(|| tested.to.network.clone()),
    };
    let mut found = of_directions(run, &pair, Some(round));
    found.iter_mut().for_each(|one| one.result.test = Some(tested.label.clone()));
    found
}

/// The results of a run that is part of no round, by the names of its hosts.
#[must_use]
pub fn of_run(run: &Run) -> Vec<OfPair> {
    of_directions(run, &Pair { from: run.local_name(), to: run.peer_name(), network: None }, None)
}

/// `asked` is from the host that stores the run to its peer.
fn of_directions(run: &Run, asked: &Pair, round: Option<RunId>) -> Vec<OfPair> {
    let totals = run.measurement.as_ref().map(|found| found.totals.as_slice()).unwrap_or_default();
    if totals.is_empty() {
        return vec![OfPair { pair: asked.clone(), result: result(run, None, round) }];
    }
    let directed = |total: &DirectionTotal| match total.heading {
        Heading::Outbound => asked.clone(),
        Heading::Inbound => Pair { from: asked.to.clone(), to: asked.from.clone(), network: asked.network.clone() },
    };
    totals.iter().map(|total| OfPair { pair: directed(total), result: result(run, Some(total), round) }).collect()
}

fn result(run: &Run, total: Option<&DirectionTotal>, round: Option<RunId>) -> PairResult {
    let latency = run.measurement.as_ref().and_then(|found| found.latency.as_ref());
    let failure = match &run.outcome {
        Outcome::Complete => None,
        Outcome::Failed(failure) => Some(failure.detail.clone()),
    };
    PairResult {
        started: run.started,
        run: Some(run.id),
        round,
        test: None,
        protocol: run.spec.protocol,
        goodput: total.map(|total| total.goodput),
        retransmits: total.and_then(|total| total.retransmits),
        loaded_rtt_us: latency.and_then(|latency| latency.loaded?.median_us),
        failure,
    }
}
