//! Model against cluster, and policies against each other, over repetitions.

use serde::{Deserialize, Serialize};

use super::evenness::Evenness;
use crate::experiment::report::Interval;

/// What a cluster and the model of it show under one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agreement {
    /// Name of the policy, as the table of policies has it.
    pub policy: String,
    /// Pairs of a real and a modelled run of the same files.
    pub repetitions: usize,
    /// What was compared.
    pub measures: Vec<Compared>,
}

/// One measure of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Compared {
    /// Which measure.
    pub name: String,
    /// Of the real cluster.
    pub cluster: Interval,
    /// Of the model.
    pub model: Interval,
    /// Model less cluster, of the cluster: 0.1 is 10 % more in the model.
    pub difference: f64,
    /// Whether that is within [`TOLERANCE`], or the cluster's own interval holds the model's mean.
    pub agrees: Agrees,
}

/// Whether model and cluster agree on a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Agrees {
    /// Within 10 %.
    Within,
    /// Not within 10 %, but the model's mean is in the 95 % interval of the cluster's.
    Interval,
    /// Neither.
    No,
}

/// The largest relative difference at which model and cluster agree.
pub const TOLERANCE: f64 = 0.1;

/// A real and a modelled run of the same files.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Of the real cluster.
    pub cluster: Evenness,
    /// Of the model.
    pub model: Evenness,
    /// Share of the requests that a gateway got just after it had been left out, where one was.
    pub catch_up: Option<Values>,
}

/// One number of both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Values {
    /// Of the real cluster.
    pub cluster: f64,
    /// Of the model.
    pub model: f64,
}

/// All runs of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyRuns<'a> {
    /// Name of the policy, as the table of policies has it.
    pub policy: &'a str,
    /// A pair for each repetition.
    pub pairs: Vec<Pair>,
}

impl Agreement {
    /// Of all pairs of a policy.
    #[must_use]
    pub fn of(runs: &PolicyRuns<'_>) -> Self {
        let PolicyRuns { policy, pairs } = runs;
        let gateways = pairs.first().map_or(0, |pair| pair.cluster.shares.len());
        let mut measures = Vec::new();
        let mut compare = |name: String, value: &dyn Fn(&Evenness) -> Option<f64>| {
            let both = |pair: &Pair| Some(Values { cluster: value(&pair.cluster)?, model: value(&pair.model)? });
            measures.extend(Compared::of(name, &pairs.iter().filter_map(both).collect::<Vec<_>>()));
        };
        for gateway in 0..gateways {
            compare(format!("share_{}", gateway + 1), &|run| run.shares.get(gateway).copied());
        }
        compare("spread_in_flight".to_owned(), &|run| run.spread_in_flight);
        compare("herd".to_owned(), &|run| run.herd);
        compare("largest_in_flight".to_owned(), &|run| Some(run.largest_in_flight));
        compare("goodput_gbit_s".to_owned(), &|run| Some(run.goodput_gbit_s));
        let catch_up: Vec<Values> = pairs.iter().filter_map(|pair| pair.catch_up).collect();
        measures.extend(Compared::of("catch_up_share".to_owned(), &catch_up));
        Self { policy: (*policy).to_owned(), repetitions: pairs.len(), measures }
    }

    /// A measure by its name.
    #[must_use]
    pub fn measure(&self, name: &str) -> Option<&Compared> {
        self.measures.iter().find(|measure| measure.name == name)
    }
}

impl Compared {
    fn of(name: String, values: &[Values]) -> Option<Self> {
        let cluster = Interval::of(&values.iter().map(|value| value.cluster).collect::<Vec<_>>())?;
        let model = Interval::of(&values.iter().map(|value| value.model).collect::<Vec<_>>())?;
        let difference = if cluster.mean == 0.0 { 0.0 } else { (model.mean - cluster.mean) / cluster.mean };
        let holds = cluster.low.zip(cluster.high).is_some_and(|(low, high)| (low..=high).contains(&model.mean));
        let agrees = match difference.abs() <= TOLERANCE {
            true => Agrees::Within,
            false if holds => Agrees::Interval,
            false => Agrees::No,
        };
        Some(Self { name, cluster, model, difference, agrees })
    }
}

/// How much more even one policy was than another on the real cluster: the mean of the differences of spread, repetition by
/// repetition, and whether all of its 95 % interval is on one side.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contest {
    /// The policy that is judged.
    pub policy: String,
    /// The other one.
    pub other: String,
    /// Spread of the other less spread of this one: positive where this one is more even.
    pub gain: Interval,
    /// What that says.
    pub verdict: Verdict,
}

/// What a contest says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval is above 0.
    MoreEven,
    /// The interval holds 0, or there is none: too few repetitions, or no difference.
    NotSeparated,
    /// The interval is below 0.
    LessEven,
}

impl Contest {
    /// Of two policies on the same files; [`None`] where nothing was measured of both.
    #[must_use]
    pub fn of(policy: &PolicyRuns<'_>, other: &PolicyRuns<'_>) -> Option<Self> {
        let spread = |pair: &Pair| pair.cluster.spread_in_flight;
        let both = policy.pairs.iter().zip(&other.pairs).filter_map(|(one, other)| Some(spread(other)? - spread(one)?));
        let gain = Interval::of(&both.collect::<Vec<_>>())?;
        let verdict = match (gain.low, gain.high) {
            (Some(low), _) if low > 0.0 => Verdict::MoreEven,
            (_, Some(high)) if high < 0.0 => Verdict::LessEven,
            _ => Verdict::NotSeparated,
        };
        Some(Self { policy: policy.policy.to_owned(), other: other.policy.to_owned(), gain, verdict })
    }
}

/// Half the width of an interval, for people.
#[must_use]
pub fn half_width(interval: &Interval) -> Option<f64> {
    Some((interval.high? - interval.low?) / 2.0)
}
