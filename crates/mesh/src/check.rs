//! Whether a plan fits, and a day of it.

use std::time::Duration;

use path::Seed;
use plan::Plan;
use serde::{Deserialize, Serialize};
use units::WallTime;

use crate::day::Day;
use crate::fit::Fit;
use crate::rules::Rules;
use crate::timetable::{Timetable, agents_of};

/// What `linerate plan check` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checked {
    /// What the plan is called.
    pub title: String,
    /// What it needs.
    pub fit: Fit,
    /// A day of it; none where it does not fit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub day: Option<Day>,
    /// How long that day is: shorter where it has more runs than anybody looks at.
    #[serde(rename = "length_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub length: Duration,
}

impl Checked {
    /// Checks a plan, and runs it from a moment on virtual time.
    #[must_use]
    pub fn new(plan: &Plan, seed: Seed, from: WallTime, length: Duration) -> Self {
        let (fit, timetable) = match Timetable::new(plan, &agents_of(plan), seed) {
            Ok(timetable) => (Fit::of(plan), Some(timetable)),
            Err(unfit) => (unfit.fit, None),
        };
        let length = length.min(time_of_most(fit.heavy_runs));
        let day = timetable.map(|timetable| Day::new(&timetable, &Rules::of(plan), from, length));
        Self { title: plan.title.clone(), fit, day, length }
    }

    /// Whether it can be run as it is.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.fit.problems.is_empty()
    }
}

/// How long [`MOST_RUNS`] take of so many a day.
fn time_of_most(runs_a_day: u64) -> Duration {
    const DAY_MS: u64 = 86_400_000;
    Duration::from_millis(DAY_MS.saturating_mul(MOST_RUNS) / runs_a_day.max(1))
}

/// More runs than this are not played.
const MOST_RUNS: u64 = 20_000;

/// The schemas of what this crate writes, for `docs/formats/`.
#[cfg(feature = "schema")]
#[must_use]
pub fn schemas() -> [(&'static str, schemars::Schema); 2] {
    [
        ("incident.schema.json", schemars::schema_for!(crate::incident::Incident)),
        ("plan-check.schema.json", schemars::schema_for!(Checked)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_millions_of_runs_is_played_in_part() {
        let pairs = 0..200;
        let hosts: String = pairs
            .clone()
            .map(|n| format!("[hosts.a{n}]\naddress = \"192.0.2.1\"\n[hosts.b{n}]\naddress = \"192.0.2.1\"\n"))
            .collect();
        let groups: String = pairs.map(|n| format!("[groups.g{n}]\nmesh = [\"a{n}\", \"b{n}\"]\n[[tests]]\nkind = \"tcp\"\ntime = \"1s\"\ngroup = \"g{n}\"\n")).collect();
        let text =
            format!("title = \"pairs\"\n[times]\nevery = \"16s\"\ngap = \"0s\"\nlight-every = \"1h\"\n{hosts}{groups}");
        let plan = Plan::parse("pairs", &text).unwrap();
        let day = Duration::from_secs(86_400);
        let checked = Checked::new(&plan, Seed(1), WallTime::from_unix_nanos(1 << 60), day);
        let runs = checked.day.unwrap().runs.len();
        assert_eq!(checked.fit.heavy_runs, 400 * 86_400 / 16);
        assert!(checked.length < day && (19_000..=20_400).contains(&runs), "{runs} runs in {:?}", checked.length);
    }
}
