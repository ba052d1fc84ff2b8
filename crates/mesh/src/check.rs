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
}

impl Checked {
    /// Checks a plan, and runs it from a moment on virtual time.
    #[must_use]
    pub fn new(plan: &Plan, seed: Seed, from: WallTime, length: Duration) -> Self {
        let (fit, day) = match Timetable::new(plan, &agents_of(plan), seed) {
            Ok(timetable) => (Fit::of(plan), Some(Day::new(&timetable, &Rules::of(plan), from, length))),
            Err(unfit) => (unfit.fit, None),
        };
        Self { title: plan.title.clone(), fit, day }
    }

    /// Whether it can be run as it is.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.fit.problems.is_empty()
    }
}

/// The schemas of what this crate writes, for `docs/formats/`.
#[cfg(feature = "schema")]
#[must_use]
pub fn schemas() -> [(&'static str, schemars::Schema); 2] {
    [
        ("incident.schema.json", schemars::schema_for!(crate::incident::Incident)),
        ("plan-check.schema.json", schemars::schema_for!(Checked)),
    ]
}
