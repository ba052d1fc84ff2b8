//! A schedule with names instead of numbers, as programs read it.

use std::time::Duration;

use model::round::Endpoint;
use serde::{Deserialize, Serialize};

use super::Schedule;
use crate::plan::Plan;
use crate::task::Weight;

/// What a round would do, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// What the plan is called.
    pub title: String,
    /// How long the round takes.
    #[serde(rename = "length_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub length: Duration,
    /// No schedule of its heavy tests behind its light ones is shorter than this.
    #[serde(rename = "least_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub least: Duration,
    /// How long the light tests at its beginning take.
    #[serde(rename = "light_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub light: Duration,
    /// The hosts that test.
    pub hosts: Vec<Busy>,
    /// All tests of all pairs, in the order in which they begin.
    pub tests: Vec<Planned>,
}

/// How much a host has to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Busy {
    /// Name of the host in the plan.
    pub host: String,
    /// How many heavy tests it takes part in.
    pub tests: usize,
    /// How long they take together.
    #[serde(rename = "busy_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub busy: Duration,
}

/// A test of one pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Planned {
    /// What it is called.
    pub label: String,
    /// The end that asks.
    pub from: Endpoint,
    /// The end that answers.
    pub to: Endpoint,
    /// When it begins, after the start of the round.
    #[serde(rename = "begins_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub begins: Duration,
    /// How much time is kept for it.
    #[serde(rename = "lasts_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub lasts: Duration,
    /// Whether nothing else may run on its hosts meanwhile.
    pub alone: bool,
}

impl Schedule {
    /// The schedule with names instead of numbers.
    #[must_use]
    pub fn report(&self, plan: &Plan) -> Report {
        let busy = self.busy().into_iter().map(|(host, busy)| {
            let heavy = self.slots.iter().filter(|slot| slot.weight == Weight::Heavy);
            let tests = heavy.filter(|slot| slot.pair.from == host || slot.pair.to == host).count();
            Busy { host: plan.hosts[host].name.clone(), tests, busy }
        });
        let planned = self.slots.iter().map(|slot| {
            let test = &plan.tests[slot.test];
            let end = |host| plan.endpoint(host, plan.groups[test.group].network);
            Planned {
                label: test.label.clone(),
                from: end(slot.pair.from),
                to: end(slot.pair.to),
                begins: slot.begins,
                lasts: slot.lasts,
                alone: slot.weight == Weight::Heavy,
            }
        });
        Report {
            title: plan.title.clone(),
            length: self.length,
            least: self.least,
            light: self.light,
            hosts: busy.collect(),
            tests: planned.collect(),
        }
    }
}

/// The schema of a report, for `docs/formats/`.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Report)
}
