//! From a plan to runs, each at a moment of its slot.
//!
//! Heavy tests of one period share a schedule ([`plan::Schedule`]) in which no two use a host or a shared segment at once. It is
//! stretched over the period, so that each test has a slot longer than itself, and begins at a random moment of it. From one
//! period to the next the schedule is cut at another place, so that no pair is always tested at the same time of the day.
//! Tests of several periods meet; there the board has one wait for the other.
//!
//! Light tests need no lease: they are standing orders of their agents.

mod asking;
mod spread;
mod standing;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use path::Seed;
use plan::Plan;
use plan::operation::Trigger;
use plan::schedule::{Demand, Slot};
use plan::task::Weight;
use units::{WallTime, duration};

use crate::clock;
use crate::crossing::{expected_bytes, passes};
use crate::fit::{Fit, Unfit};
use crate::run::{Priority, Resource, RunId, RunRow, RunState};
use asking::asking;
use spread::Spread;

pub use standing::StandingTest;

/// When the tests of a plan run.
#[derive(Debug, Clone)]
pub struct Timetable {
    seed: Seed,
    /// Heavy tests, of each period.
    periods: Vec<Period>,
    standing: Vec<StandingTest>,
    /// Heavy tests by label, group, from and to: what is asked for on demand.
    orders: BTreeMap<OrderKey, Order>,
}

#[derive(Debug, Clone)]
struct Period {
    length: Duration,
    spread: Spread,
    /// Of each slot of the spread.
    orders: Vec<Order>,
}

/// A test of one pair: all of a run but its time.
#[derive(Debug, Clone)]
struct Order {
    row: RunRow,
    period: Duration,
}

impl Timetable {
    /// The timetable of a plan whose agents are at these hosts ([`agents_of`] where nobody knows better).
    ///
    /// # Errors
    /// [`Unfit`] where a host or segment would need more time or bytes than a day has.
    pub fn new(plan: &Plan, agents: &BTreeSet<String>, seed: Seed) -> Result<Self, Unfit> {
        let fit = Fit::of(plan);
        if !fit.problems.is_empty() {
            return Err(Unfit { fit });
        }
        let demand = Demand::new(plan);
        let maker = OrderMaker { plan, demand: &demand, agents };
        let mut by_period: BTreeMap<Duration, Vec<Slot>> = BTreeMap::new();
        let mut orders = BTreeMap::new();
        for slot in demand.slots().into_iter().filter(|slot| slot.weight == Weight::Heavy) {
            let Some(order) = maker.order(&slot) else { continue };
            if plan.tests[slot.test].trigger != Trigger::Change {
                by_period.entry(order.period).or_default().push(slot);
            }
            orders.insert(key(&order.row), order);
        }
        let of_period = |(length, slots): (Duration, Vec<Slot>)| {
            let placed = demand.schedule(slots);
            let (slots, orders): (Vec<Slot>, Vec<Order>) =
                placed.into_iter().filter_map(|slot| maker.order(&slot).map(|order| (slot, order))).unzip();
            Period { length, spread: Spread::new(&slots, length, plan.times.gap), orders }
        };
        let periods = by_period.into_iter().map(of_period).collect();
        Ok(Self { seed, periods, standing: standing::of(plan, agents), orders })
    }

    /// The heavy runs that become due from one moment to before another: the same on every hub.
    #[must_use]
    pub fn between(&self, from: WallTime, until: WallTime) -> Vec<RunRow> {
        in_order(self.due(from, until).map(Due::run).collect())
    }

    /// As [`Timetable::between`], but at most `most` runs, the first ones; where more than those are due at the first moment, all of that moment.
    #[must_use]
    pub fn first(&self, from: WallTime, until: WallTime, most: usize) -> FirstRuns {
        let mut due: Vec<Due<'_>> = self.due(from, until).collect();
        due.sort_by_key(|run| run.at);
        let cut = match (due.first(), due.get(most)) {
            (Some(first), Some(cut)) if first.at < cut.at => cut.at,
            (Some(_), Some(cut)) => clock::later(cut.at, Duration::from_nanos(1)),
            _ => until,
        };
        let kept = due.iter().take_while(|run| run.at < cut);
        FirstRuns { runs: in_order(kept.copied().map(Due::run).collect()), until: cut }
    }

    /// In the order of periods and their slots.
    fn due(&self, from: WallTime, until: WallTime) -> impl Iterator<Item = Due<'_>> {
        self.periods
            .iter()
            .enumerate()
            .flat_map(move |(number, period)| {
                let length = duration::nanos(period.length).max(1);
                // A slot that begins in one period lies in it.
                let cycles = from.unix_nanos() / length..=until.unix_nanos().saturating_sub(1) / length;
                cycles.flat_map(move |cycle| {
                    let starts = period.spread.starts(self.seed.part(number as u64).part(cycle));
                    let begins = WallTime::from_unix_nanos(cycle * length);
                    let due = period.orders.iter().zip(starts);
                    due.map(move |(order, start)| Due { order, begins, at: clock::later(begins, start) })
                })
            })
            .filter(move |run| from <= run.at && run.at < until)
    }

    /// The light tests that an agent runs by itself.
    pub fn standing<'a>(&'a self, agent: &'a str) -> impl Iterator<Item = &'a StandingTest> {
        self.standing.iter().filter(move |test| test.agent == agent)
    }

    /// The light tests of all agents.
    pub fn all_standing(&self) -> impl Iterator<Item = &StandingTest> {
        self.standing.iter()
    }

    /// A heavy run out of turn; [`None`] where the plan has no such test. The name has the moment at which it was asked for.
    #[must_use]
    pub fn out_of_turn(&self, wish: &Wish, now: WallTime) -> Option<RunRow> {
        let order = self.orders.get(&wish.order)?;
        let id = RunId(format!("{}/asked-{}", order.row.id.0, now.unix_nanos() / 1_000_000));
        let deadline = clock::later(now, order.period.max(order.row.keep * 10));
        Some(RunRow { id, priority: wish.priority, not_before: now, deadline, ..order.row.clone() })
    }

    /// The tests that a change in the light tests of a pair asks for.
    #[must_use]
    pub fn asked_by_change(&self, plan: &Plan, pair: &HostPair) -> Vec<Wish> {
        let asks = |key: &OrderKey| {
            plan.tests.iter().any(|test| {
                test.label == key.test && plan.groups[test.group].name == key.group && test.trigger != Trigger::Time
            })
        };
        let of_pair = self.orders.keys().filter(|key| key.pair == *pair && asks(key));
        let wish = |key: &OrderKey| Wish { order: key.clone(), priority: Priority::Triggered };
        of_pair.map(wish).collect()
    }
}

/// The first runs of a time.
#[derive(Debug, Clone)]
pub struct FirstRuns {
    /// The runs by when they are due.
    pub runs: Vec<RunRow>,
    /// Before this moment they are all there are.
    pub until: WallTime,
}

/// A run that is due, not yet written out.
#[derive(Debug, Clone, Copy)]
struct Due<'a> {
    order: &'a Order,
    /// When its period begins.
    begins: WallTime,
    at: WallTime,
}

impl Due<'_> {
    fn run(self) -> RunRow {
        self.order.run(self.begins, self.at)
    }
}

fn in_order(mut runs: Vec<RunRow>) -> Vec<RunRow> {
    runs.sort_by(|a, b| (a.not_before, &a.id).cmp(&(b.not_before, &b.id)));
    runs
}

/// A heavy run that somebody, or a light test, asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Of what.
    pub order: OrderKey,
    /// Who is served first.
    pub priority: Priority,
}

/// A test of one pair, by names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    /// The label of the test.
    pub test: String,
    /// The group of hosts whose test it is.
    pub group: String,
    /// From the one that asks to the one that answers.
    pub pair: HostPair,
}

/// A directed pair of hosts, by names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPair {
    /// The host that asks.
    pub from: String,
    /// The host that answers.
    pub to: String,
}

/// The hosts of a plan that would have an agent: those that test, and are not servers of others.
#[must_use]
pub fn agents_of(plan: &Plan) -> BTreeSet<String> {
    let testing: BTreeSet<usize> = plan.groups.iter().flat_map(plan::plan::Group::hosts).collect();
    testing
        .into_iter()
        .map(|host| &plan.hosts[host])
        .filter(|host| !host.serves)
        .map(|host| host.name.clone())
        .collect()
}

impl Order {
    fn run(&self, begins: WallTime, due: WallTime) -> RunRow {
        let id = RunId(format!("{}/{}", self.row.id.0, begins.unix_seconds()));
        // What waits for longer than half its period is near the next one.
        let deadline = clock::later(due, (self.period / 2).max(self.row.keep * 4));
        RunRow { id, not_before: due, deadline, ..self.row.clone() }
    }
}

/// What orders are made from.
struct OrderMaker<'a> {
    plan: &'a Plan,
    demand: &'a Demand<'a>,
    agents: &'a BTreeSet<String>,
}

impl OrderMaker<'_> {
    /// The order of a slot; none where no agent can ask.
    fn order(&self, slot: &Slot) -> Option<Order> {
        let plan = self.plan;
        let test = &plan.tests[slot.test];
        let group = plan.groups[test.group].name.clone();
        let [from, to] = [slot.pair.from, slot.pair.to].map(|host| plan.hosts[host].name.clone());
        let agent = asking(&test.task, [&from, &to], self.agents)?;
        let row = RunRow {
            id: RunId(format!("{}@{group}/{from}/{to}", test.label)),
            test: test.label.clone(),
            group,
            from,
            to,
            agent,
            priority: Priority::Periodic,
            weight: slot.weight,
            not_before: WallTime::default(),
            deadline: WallTime::default(),
            keep: slot.lasts + plan.times.gap,
            needs: self.demand.alone(slot).into_iter().map(Resource::from).collect(),
            passes: passes(plan, slot),
            bytes: expected_bytes(plan, slot),
            attempts: 0,
            state: RunState::Waiting,
        };
        Some(Order { row, period: plan.period(slot.test) })
    }
}

fn key(row: &RunRow) -> OrderKey {
    let pair = HostPair { from: row.from.clone(), to: row.to.clone() };
    OrderKey { test: row.test.clone(), group: row.group.clone(), pair }
}

impl From<plan::schedule::Alone> for Resource {
    fn from(alone: plan::schedule::Alone) -> Self {
        match alone {
            plan::schedule::Alone::Machine(name) => Self::Host(name),
            plan::schedule::Alone::Segment(name) => Self::Segment(name),
        }
    }
}
