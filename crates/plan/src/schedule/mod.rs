//! When each test of a round begins.
//!
//! Heavy tests (TCP, UDP, downloads) take turns: no machine and no segment that is used in turn carries two at once. Light
//! ones (echoes, hops, MTU) come first, several at a time, since a round trip beside a heavy test is another number than an
//! idle one.
//!
//! | file | what it has |
//! |---|---|
//! | `mod` | from a plan to a [`Schedule`] |
//! | `light` | the light tests |
//! | `job` | heavy tests as jobs that need resources |
//! | `bound` | what no schedule can be shorter than |
//! | `colour` | jobs of one length: an edge colouring, fixed by Kempe chains |
//! | `insert` | jobs of any length, one after the other into the earliest gap |
//! | `order` | in which order, and how to better it |
//! | `report` | the schedule with names, as programs read it |
//! | `chance` | numbers without a pattern, the same in every run |
//!
//! The same plan always has the same schedule.

mod bound;
mod colour;
mod insert;
mod job;
mod light;
mod order;
pub mod report;
mod rng;
mod slot;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::pairs::Pair;
use crate::plan::Plan;
use crate::task::Weight;
use crate::topology::{self, Tree};
use job::{Job, Problem};

pub use light::AT_ONCE as LIGHT_AT_ONCE;
pub use slot::Slot;

/// When each test of a round begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// All tests, in the order in which they begin.
    pub slots: Vec<Slot>,
    /// How long the light tests at its beginning take.
    pub light: Duration,
    /// How long it takes as a whole.
    pub length: Duration,
    /// No schedule of this plan's heavy tests behind its light ones is shorter than this.
    pub least: Duration,
    /// How long hosts rest between two heavy tests.
    pub gap: Duration,
}

impl Schedule {
    /// The schedule of a plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let needs = Demand::new(plan);
        let (light, heavy): (Vec<Slot>, Vec<Slot>) =
            needs.slots().into_iter().partition(|slot| slot.weight == Weight::Light);
        let (mut slots, light) = light::schedule(light, plan.hosts.len());
        let problem = needs.problem(&heavy);
        let (starts, least) = (order::best(&problem), bound::least(&problem));
        let placed = heavy.into_iter().zip(starts).map(|(slot, start)| Slot { begins: light + time(start), ..slot });
        slots.extend(placed);
        Self::of(slots, light, light + time(least), plan.times.gap)
    }

    /// The same after a host failed: its tests that have not begun by then are left out, and those of the others move up
    /// into the time that becomes free.
    #[must_use]
    pub fn without(&self, plan: &Plan, host: usize, failed: Duration) -> Self {
        let needs = Demand::new(plan);
        let (begun, left): (Vec<Slot>, Vec<Slot>) = self.slots.iter().partition(|slot| slot.begins <= failed);
        let left: Vec<Slot> = left.into_iter().filter(|slot| slot.pair.from != host && slot.pair.to != host).collect();
        // What has begun holds its resources until it ends.
        let (light, mut heavy): (Vec<Slot>, Vec<Slot>) =
            left.into_iter().partition(|slot| slot.weight == Weight::Light);
        let light_end = light.iter().map(|slot| slot.begins + slot.lasts).max().unwrap_or_default();
        let from = failed.max(light_end);
        let running: Vec<Slot> = begun.iter().filter(|slot| slot.weight == Weight::Heavy).copied().collect();
        let problem = needs.problem(&[running.as_slice(), heavy.as_slice()].concat());
        let mut place = insert::Board::new(&problem);
        for (job, slot) in running.iter().enumerate() {
            place.occupy(job, ticks(slot.begins));
        }
        for (number, slot) in heavy.iter_mut().enumerate() {
            slot.begins = time(place.put(running.len() + number, ticks(from)));
        }
        let least = self.least;
        Self::of([begun, light, heavy].concat(), self.light, least, self.gap)
    }

    /// How long each host is busy with heavy tests, by number.
    #[must_use]
    pub fn busy(&self) -> BTreeMap<usize, Duration> {
        let mut busy = BTreeMap::new();
        for slot in self.slots.iter().filter(|slot| slot.weight == Weight::Heavy) {
            for host in [slot.pair.from, slot.pair.to] {
                *busy.entry(host).or_default() += slot.lasts;
            }
        }
        busy
    }

    fn of(mut slots: Vec<Slot>, light: Duration, least: Duration, gap: Duration) -> Self {
        slots.sort_by_key(|slot| (slot.begins, slot.test, slot.pair));
        let rest = |slot: &Slot| if slot.weight == Weight::Heavy { gap } else { Duration::ZERO };
        let length = slots.iter().map(|slot| slot.begins + slot.lasts + rest(slot)).max().unwrap_or_default();
        Self { slots, light, length, least: least.min(length), gap }
    }
}

/// What the tests of a plan need: which of them, how long, and what of it alone.
#[derive(Debug)]
pub struct Demand<'a> {
    plan: &'a Plan,
    /// Of each host, the machine that it is.
    machines: Vec<usize>,
    trees: Vec<Option<Tree>>,
}

impl<'a> Demand<'a> {
    /// Of a plan.
    #[must_use]
    pub fn new(plan: &'a Plan) -> Self {
        let name =
            |host: &crate::plan::Host| host.machine.clone().map_or_else(|| (1, host.name.clone()), |name| (0, name));
        let mut numbers = BTreeMap::new();
        let mut machines = Vec::with_capacity(plan.hosts.len());
        for host in &plan.hosts {
            let next = numbers.len();
            machines.push(*numbers.entry(name(host)).or_insert(next));
        }
        // Ways matter only where somebody takes turns on them.
        let in_turn = plan.segments.iter().any(|segment| segment.use_ == crate::plan::Use::InTurn);
        let trees = (0..plan.hosts.len()).map(|host| in_turn.then(|| Tree::new(plan, host))).collect();
        Self { plan, machines, trees }
    }

    /// All tests of all pairs, not yet placed: all begin at 0.
    #[must_use]
    pub fn slots(&self) -> Vec<Slot> {
        let tests = 0..self.plan.tests.len();
        let of_test = |test: usize| {
            let task = &self.plan.tests[test].task;
            self.plan.pairs(test).into_iter().map(move |pair| {
                let rate =
                    self.plan.tests[test].expect.is_some().then(|| self.plan.expected_rate(test, pair.from, pair.to));
                let lasts = task.time_to_keep(rate.flatten()).min(LONGEST);
                Slot { test, pair, begins: Duration::ZERO, lasts, weight: task.weight() }
            })
        };
        tests.flat_map(of_test).collect()
    }

    fn problem(&self, slots: &[Slot]) -> Problem {
        let gap = self.plan.times.gap.min(LONGEST);
        let jobs = slots.iter().map(|slot| Job::new(self.resources(slot), ticks(slot.lasts + gap))).collect();
        let sets =
            self.plan.groups.iter().map(|group| group.hosts().into_iter().map(|host| self.machines[host]).collect());
        Problem {
            jobs,
            resources: self.plan.hosts.len() + self.plan.segments.len(),
            machines: self.plan.hosts.len(),
            sets: sets.collect(),
        }
    }

    /// Places heavy tests so that no two use a machine or a segment at once, in about the shortest time.
    #[must_use]
    pub fn schedule(&self, slots: Vec<Slot>) -> Vec<Slot> {
        let problem = self.problem(&slots);
        let starts = order::best(&problem);
        slots.into_iter().zip(starts).map(|(slot, start)| Slot { begins: time(start), ..slot }).collect()
    }

    /// No schedule of these heavy tests, with the rest behind each, is shorter than this.
    #[must_use]
    pub fn least(&self, slots: &[Slot]) -> Duration {
        time(bound::least(&self.problem(slots)))
    }

    /// What a test uses alone: machines by the name of the first host of each, and segments.
    #[must_use]
    pub fn alone(&self, slot: &Slot) -> Vec<Alone> {
        if slot.weight == Weight::Light {
            return Vec::new();
        }
        let mut needs = self.resources(slot);
        needs.sort_unstable();
        needs.dedup();
        let alone = |need: usize| match need.checked_sub(self.plan.hosts.len()) {
            Some(segment) => Alone::Segment(self.plan.segments[segment].name.clone()),
            None => {
                let host = self.machines.iter().position(|machine| *machine == need).unwrap_or(0);
                let host = &self.plan.hosts[host];
                Alone::Machine(host.machine.clone().unwrap_or_else(|| host.name.clone()))
            }
        };
        needs.into_iter().map(alone).collect()
    }

    /// The machines of a test, and the segments on its way that are used in turn.
    fn resources(&self, slot: &Slot) -> Vec<usize> {
        let Pair { from, to } = slot.pair;
        let mut needed = vec![self.machines[from], self.machines[to]];
        if let Some(tree) = &self.trees[from] {
            let network = self.plan.groups[self.plan.tests[slot.test].group].network;
            let over = topology::given(self.plan, [from, to], network).unwrap_or_else(|| tree.over(to));
            let in_turn =
                over.into_iter().filter(|segment| self.plan.segments[*segment].use_ == crate::plan::Use::InTurn);
            needed.extend(in_turn.map(|segment| self.plan.hosts.len() + segment));
        }
        needed
    }
}

/// What one test at a time uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alone {
    /// A machine, by its name, or that of the only host that it is.
    Machine(String),
    /// A segment that is used in turn.
    Segment(String),
}

/// Schedules count in milliseconds; a part of one is a whole one.
fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

fn time(ticks: u64) -> Duration {
    Duration::from_millis(ticks)
}

/// No test is thought to be longer, so that sums of a hundred thousand of them fit.
const LONGEST: Duration = Duration::from_secs(1_000_000);
