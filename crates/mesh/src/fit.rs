//! Whether a plan fits into its days, and what would.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use plan::Plan;
use plan::operation::Trigger;
use plan::schedule::{Demand, Slot};
use plan::task::Weight;
use serde::{Deserialize, Serialize};
use units::{ByteCount, duration};

use crate::crossing::{expected_bytes, passes};
use crate::rules::Rules;
use crate::run::Resource;

/// What a plan needs of a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fit {
    /// Machines and segments that heavy tests use, the busiest first.
    pub loads: Vec<Load>,
    /// Heavy runs a day.
    pub heavy_runs: u64,
    /// Light runs a day.
    pub light_runs: u64,
    /// Why it cannot be.
    pub problems: Vec<Problem>,
    /// What nobody can know before.
    pub warnings: Vec<String>,
}

/// What a resource is needed for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Load {
    /// Which.
    pub resource: Resource,
    /// Heavy runs a day.
    pub runs: u64,
    /// How long they take together, with the rest behind each.
    #[serde(rename = "busy_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub busy: Duration,
    /// What they move a day, as far as rates are known.
    pub bytes: ByteCount,
    /// What they may.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub budget: Option<ByteCount>,
}

/// Why a plan cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Problem {
    /// Tests of one period need more time than it has.
    PeriodTooShort {
        /// What the plan asks for.
        #[serde(rename = "every_us", with = "units::duration::as_us")]
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        every: Duration,
        /// What no schedule of them can be shorter than.
        #[serde(rename = "needed_us", with = "units::duration::as_us")]
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        needed: Duration,
        /// A period that is long enough.
        #[serde(rename = "fits_us", with = "units::duration::as_us")]
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        fits: Duration,
    },
    /// Tests of several periods together need a resource for longer than a day.
    DayTooShort {
        /// Which.
        resource: Resource,
        /// How long it is needed of 24 h.
        #[serde(rename = "needed_us", with = "units::duration::as_us")]
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        needed: Duration,
    },
    /// A budget is too small.
    OverBudget {
        /// Of what.
        resource: Resource,
        /// What the runs of a day move.
        needed: ByteCount,
        /// What they may.
        budget: ByteCount,
        /// The shortest period of all its tests that would fit, were it the same for all.
        #[serde(rename = "fits_us", with = "units::duration::as_us")]
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        fits: Duration,
    },
}

/// A plan does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plan does not fit: {}", shown(&.fit.problems))]
pub struct Unfit {
    /// What it needs.
    pub fit: Fit,
}

impl Fit {
    /// Of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let demand = Demand::new(plan);
        let slots = demand.slots();
        let (heavy, light): (Vec<Slot>, Vec<Slot>) = slots.into_iter().partition(|slot| slot.weight == Weight::Heavy);
        let heavy: Vec<Slot> =
            heavy.into_iter().filter(|slot| plan.tests[slot.test].trigger != Trigger::Change).collect();
        let mut sums = Sums { plan, loads: BTreeMap::new(), unknown: BTreeSet::new() };
        heavy.iter().for_each(|slot| sums.add(&demand, slot));
        let rules = Rules::of(plan);
        let mut problems = periods(plan, &demand, &heavy);
        // What does not fit into a period does not fit into a day either: it is said once.
        if problems.is_empty() {
            problems.extend(sums.days());
        }
        problems.extend(sums.budgets(&rules));
        let a_day = |slots: &[Slot]| slots.iter().map(|slot| runs_a_day(plan, slot)).sum();
        let (heavy_runs, light_runs) = (a_day(&heavy), a_day(&light));
        Self { heavy_runs, light_runs, problems, warnings: sums.warnings(&rules), loads: sums.sorted(&rules) }
    }
}

struct Sums<'a> {
    plan: &'a Plan,
    loads: BTreeMap<Resource, Load>,
    /// Tests of which nobody knows how much they move, by what they pass.
    unknown: BTreeSet<Resource>,
}

impl Sums<'_> {
    fn add(&mut self, demand: &Demand<'_>, slot: &Slot) {
        let runs = runs_a_day(self.plan, slot);
        let alone: BTreeSet<Resource> = demand.alone(slot).into_iter().map(Resource::from).collect();
        let passed: BTreeSet<Resource> = passes(self.plan, slot).into_iter().collect();
        let bytes = expected_bytes(self.plan, slot);
        if bytes.is_none() {
            self.unknown.extend(passed.iter().cloned());
        }
        for resource in alone.union(&passed) {
            let new = || Load {
                resource: resource.clone(),
                runs: 0,
                busy: Duration::ZERO,
                bytes: ByteCount::new(0),
                budget: None,
            };
            let load = self.loads.entry(resource.clone()).or_insert_with(new);
            load.runs += runs;
            if alone.contains(resource) {
                let keep = slot.lasts + self.plan.times.gap;
                load.busy = load.busy.saturating_add(keep.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX)));
            }
            let more = bytes.map_or(0, ByteCount::get).saturating_mul(runs);
            load.bytes = ByteCount::new(load.bytes.get().saturating_add(more));
        }
    }

    fn days(&self) -> Vec<Problem> {
        let over = self.loads.values().filter(|load| load.busy > DAY);
        over.map(|load| Problem::DayTooShort { resource: load.resource.clone(), needed: load.busy }).collect()
    }

    fn budgets(&self, rules: &Rules) -> Vec<Problem> {
        let over = rules.budgets.iter().filter_map(|(resource, budget)| {
            let load = self.loads.get(resource).filter(|load| load.bytes.get() > *budget)?;
            let shortest = (0..self.plan.tests.len()).map(|test| self.plan.period(test)).max().unwrap_or(DAY);
            let factor = u128::from(load.bytes.get()).div_ceil(u128::from((*budget).max(1)));
            let fits = shortest.saturating_mul(u32::try_from(factor).unwrap_or(u32::MAX));
            let (needed, budget) = (load.bytes, ByteCount::new(*budget));
            Some(Problem::OverBudget { resource: resource.clone(), needed, budget, fits })
        });
        over.collect()
    }

    fn warnings(&self, rules: &Rules) -> Vec<String> {
        let blind = rules.budgets.keys().filter(|resource| self.unknown.contains(*resource));
        let mut warnings: Vec<String> = blind
            .map(|resource| {
                format!(
                    "{resource} has a budget, and of some of its tests nobody knows what they move: give hosts a `rate`"
                )
            })
            .collect();
        let busy = self.loads.values().filter(|load| load.busy * 100 > DAY * NEARLY_FULL && load.busy <= DAY);
        warnings.extend(busy.map(|load| {
            let percent = load.busy.as_secs() * 100 / DAY.as_secs();
            format!(
                "{} is busy for {percent} % of the day: what goes wrong there delays all that follows",
                load.resource
            )
        }));
        warnings
    }

    fn sorted(self, rules: &Rules) -> Vec<Load> {
        let budget = |resource: &Resource| rules.budgets.get(resource).map(|bytes| ByteCount::new(*bytes));
        let with_budget = |load: Load| Load { budget: budget(&load.resource), ..load };
        let mut loads: Vec<Load> = self.loads.into_values().map(with_budget).collect();
        loads.sort_by(|a, b| (b.busy, b.bytes, &a.resource).cmp(&(a.busy, a.bytes, &b.resource)));
        loads
    }
}

/// Periods that are shorter than any schedule of their tests.
fn periods(plan: &Plan, demand: &Demand<'_>, heavy: &[Slot]) -> Vec<Problem> {
    let mut by_period: BTreeMap<Duration, Vec<Slot>> = BTreeMap::new();
    for slot in heavy {
        by_period.entry(plan.period(slot.test)).or_default().push(*slot);
    }
    let too_short = |(every, slots): (Duration, Vec<Slot>)| {
        let needed = demand.least(&slots);
        let fits = || {
            let end = demand.schedule(slots).iter().map(|slot| slot.begins + slot.lasts + plan.times.gap).max();
            rounded_up(end.unwrap_or(needed))
        };
        (needed > every).then(|| Problem::PeriodTooShort { every, needed, fits: fits() })
    };
    by_period.into_iter().filter_map(too_short).collect()
}

fn runs_a_day(plan: &Plan, slot: &Slot) -> u64 {
    duration::nanos(DAY).div_ceil(duration::nanos(plan.period(slot.test)).max(1))
}

/// To whole minutes, and above two hours to whole quarters of an hour.
fn rounded_up(time: Duration) -> Duration {
    let unit = if time > Duration::from_secs(7_200) { 900 } else { 60 };
    Duration::from_secs(time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).div_ceil(unit) * unit)
}

fn shown(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A time as people say it: `7 h 15 min`.
#[must_use]
pub fn hours(time: Duration) -> String {
    let minutes = time.as_secs().div_ceil(60);
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PeriodTooShort { every, needed, fits } => write!(
                f,
                "one round every {} needs at least {}: every {} would fit",
                hours(*every),
                hours(*needed),
                hours(*fits)
            ),
            Self::DayTooShort { resource, needed } => {
                write!(
                    f,
                    "{resource} would be busy for {} of a day of 24 h: fewer tests, or less often",
                    hours(*needed)
                )
            }
            Self::OverBudget { resource, needed, budget, fits } => write!(
                f,
                "{resource} would move {needed} a day, and its budget is {budget}: every {} would fit",
                hours(*fits)
            ),
        }
    }
}

const DAY: Duration = Duration::from_secs(86_400);
/// From this share of a day on, in hundredths, a delay is not made up for.
const NEARLY_FULL: u32 = 85;
