//! What a lab says of policies, as a document.

use serde::{Deserialize, Serialize};

use super::agreement::{Agreement, Contest, Pair, PolicyRuns, Values};
use super::beside::Beside;
use super::evenness::Evenness;

/// One run of a policy on a real cluster, and of the model on the same files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrialRun {
    /// Name of the policy, as the table of policies has it.
    pub policy: String,
    /// From 1.
    pub repetition: u32,
    /// Of the real cluster.
    pub cluster: Evenness,
    /// Of the model.
    pub model: Evenness,
    /// The share of requests that a gateway got after it had been left out, of the real cluster and of the model.
    pub catch_up: Option<Values>,
    /// Memory and deletions of the real cluster.
    pub beside: Beside,
    /// Files that were fetched.
    pub fetched: u64,
    /// Clients that failed.
    pub failed: u64,
    /// What failed clients said, and why the emulated links were late.
    pub anomalies: Vec<String>,
}

/// What a lab says of policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabReport {
    /// The version of this format.
    pub format: u32,
    /// The name of the experiment.
    pub name: String,
    /// The version of cmsd.
    pub cmsd: String,
    /// By what rates and sizes are divided.
    pub scale: f64,
    /// Time of a run that is not counted, and that which is, seconds.
    pub warm_up_s: f64,
    /// Time of a run that is counted, seconds.
    pub time_s: f64,
    /// Cluster and model, policy by policy.
    pub policies: Vec<Agreement>,
    /// Ours against each other policy, on the real cluster.
    pub contests: Vec<Contest>,
    /// All runs.
    pub runs: Vec<TrialRun>,
}

/// The version of [`LabReport`].
pub const FORMAT: u32 = 1;

/// The policy that is judged against all others: what a configuration of cmsd can do of ours.
pub const OURS: &str = "inflight-cmsd";

/// Runs of each policy, in the order in which policies came first.
#[must_use]
pub fn by_policy(runs: &[TrialRun]) -> Vec<PolicyRuns<'_>> {
    let mut policies: Vec<PolicyRuns<'_>> = Vec::new();
    for run in runs {
        let pair = Pair { cluster: run.cluster.clone(), model: run.model.clone(), catch_up: run.catch_up };
        match policies.iter_mut().find(|known| known.policy == run.policy) {
            Some(known) => known.pairs.push(pair),
            None => policies.push(PolicyRuns { policy: &run.policy, pairs: vec![pair] }),
        }
    }
    policies
}

/// What all runs say: model against cluster for each policy, and ours against each other on the cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Cluster and model, policy by policy.
    pub policies: Vec<Agreement>,
    /// Ours against each other.
    pub contests: Vec<Contest>,
}

impl Judged {
    /// Of all runs.
    #[must_use]
    pub fn new(runs: &[TrialRun]) -> Self {
        let policies = by_policy(runs);
        let ours = policies.iter().find(|known| known.policy == OURS);
        let others = || policies.iter().filter(|known| known.policy != OURS);
        let contests = ours.into_iter().flat_map(|ours| others().filter_map(|other| Contest::of(ours, other)));
        Self { contests: contests.collect(), policies: policies.iter().map(Agreement::of).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::agreement::{Agrees, Verdict};

    fn run(policy: &str, spreads: Values) -> TrialRun {
        let even = |spread| Evenness {
            begun: 10,
            shares: vec![0.5, 0.5],
            spread_in_flight: Some(spread),
            herd: None,
            largest_in_flight: 1.0,
            goodput_gbit_s: 1.0,
        };
        TrialRun {
            policy: policy.to_owned(),
            repetition: 1,
            cluster: even(spreads.cluster),
            model: even(spreads.model),
            catch_up: None,
            beside: Beside::default(),
            fetched: 10,
            failed: 0,
            anomalies: Vec::new(),
        }
    }

    #[test]
    fn ours_is_more_even_only_where_all_of_the_interval_says_so() {
        let of = |policy: &str, spreads: [f64; 3]| {
            spreads.map(|cluster| run(policy, Values { cluster, model: 0.15 })).to_vec()
        };
        let runs =
            [of(OURS, [0.14, 0.15, 0.16]), of("worse", [0.30, 0.29, 0.31]), of("unclear", [0.1, 0.2, 0.3])].concat();
        let judged = Judged::new(&runs);
        let verdicts: Vec<Verdict> = judged.contests.iter().map(|contest| contest.verdict).collect();
        assert_eq!(verdicts, [Verdict::MoreEven, Verdict::NotSeparated]);
        let agrees = |at: usize| judged.policies[at].measure("spread_in_flight").unwrap().agrees;
        assert_eq!([agrees(0), agrees(1), agrees(2)], [Agrees::Within, Agrees::No, Agrees::Interval]);
        assert_eq!(judged.policies[0].measure("herd"), None, "what nobody measured is not compared");
    }
}
