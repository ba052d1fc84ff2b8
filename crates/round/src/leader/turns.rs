//! Which test may begin.
//!
//! Of all tests that need one host, machine or shared segment, the first in the schedule begins first. So no test begins
//! after one that stands behind it and is in its way, and the round is never longer than the schedule unless tests are.

use std::collections::BTreeMap;
use std::time::Duration;

use plan::schedule::Slot;
use plan::task::Weight;
use plan::{Plan, Schedule};
use units::MonoTime;

/// The tests of a round, and what they wait for.
pub(super) struct Turns {
    slots: Vec<Slot>,
    /// What each needs: hosts of light ones; machines and segments used in turn of heavy ones.
    needs: Vec<Vec<usize>>,
    /// Those that have not begun, in the order of the schedule.
    waiting: Vec<usize>,
    running: usize,
    light_left: usize,
    /// Heavy tests that run, and how many may.
    heavy: usize,
    most_heavy: usize,
    loads: Vec<Load>,
    gap: Duration,
}

/// What goes on at a host, machine or segment.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    light: usize,
    heavy: usize,
    /// When it has rested.
    rested: Option<MonoTime>,
}

impl Turns {
    /// All of them, of which so many heavy ones may run at a time.
    pub(super) fn new(plan: &Plan, schedule: &Schedule, most_heavy: usize) -> Self {
        let slots = schedule.slots.clone();
        let resources = Resources::new(plan);
        let needs = slots.iter().map(|slot| resources.of(plan, slot)).collect();
        Self {
            waiting: (0..slots.len()).collect(),
            running: 0,
            heavy: 0,
            most_heavy,
            light_left: slots.iter().filter(|slot| slot.weight == Weight::Light).count(),
            needs,
            loads: vec![Load::default(); 2 * plan.hosts.len() + plan.segments.len()],
            slots,
            gap: schedule.gap,
        }
    }

    /// Whether nothing runs and nothing waits.
    pub(super) fn is_over(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

    /// The next test that may begin now, which has begun with that.
    pub(super) fn next(&mut self, now: MonoTime) -> Option<usize> {
        let place = self.first(|turns, slot| turns.is_free(slot, now))?;
        let number = self.waiting.remove(place);
        let is_light = self.slots[number].weight == Weight::Light;
        for &need in &self.needs[number] {
            let load = &mut self.loads[need];
            if is_light { load.light += 1 } else { load.heavy += 1 }
        }
        self.running += 1;
        self.heavy += usize::from(!is_light);
        Some(number)
    }

    /// When the next test may begin that waits for nothing but rest; [`None`] where all wait for others to end.
    pub(super) fn soonest(&self, now: MonoTime) -> Option<MonoTime> {
        let mut soonest: Option<MonoTime> = None;
        let _ = self.first(|turns, slot| {
            if turns.has_room(slot) {
                let rested = turns.needs[slot].iter().filter_map(|need| turns.loads[*need].rested).max();
                let at = rested.unwrap_or(now);
                soonest = Some(soonest.map_or(at, |soonest| soonest.min(at)));
            }
            false
        });
        soonest
    }

    /// A test has ended.
    pub(super) fn ended(&mut self, number: usize, now: MonoTime) {
        let is_light = self.slots[number].weight == Weight::Light;
        for &need in &self.needs[number] {
            let load = &mut self.loads[need];
            if is_light {
                load.light -= 1;
            } else {
                load.heavy -= 1;
                load.rested = Some(now + self.gap);
            }
        }
        self.running -= 1;
        self.heavy -= usize::from(!is_light);
        self.light_left -= usize::from(is_light);
    }

    /// Takes one out that has been run already. Returns whether it was still to begin.
    pub(super) fn take_out(&mut self, number: usize) -> bool {
        let Some(place) = self.waiting.iter().position(|waiting| *waiting == number) else { return false };
        self.waiting.remove(place);
        self.light_left -= usize::from(self.slots[number].weight == Weight::Light);
        true
    }

    /// Takes those out that will not begin.
    pub(super) fn leave_out(&mut self, is_meant: impl Fn(&Slot) -> bool) -> Vec<usize> {
        let waiting = std::mem::take(&mut self.waiting);
        let (out, left): (Vec<usize>, Vec<usize>) =
            waiting.into_iter().partition(|number| is_meant(&self.slots[*number]));
        self.waiting = left;
        self.light_left -= out.iter().filter(|number| self.slots[**number].weight == Weight::Light).count();
        out
    }

    /// The place of the first test for which `may` holds and that nobody waits before.
    fn first(&self, mut may: impl FnMut(&Self, usize) -> bool) -> Option<usize> {
        let mut taken = vec![false; self.loads.len()];
        let mut free = self.loads.len();
        for (place, &number) in self.waiting.iter().enumerate() {
            // A heavy test begins when all light ones are over, and they stand before it.
            if self.slots[number].weight == Weight::Heavy && self.light_left > 0 {
                return None;
            }
            let is_first = self.needs[number].iter().all(|need| !taken[*need]);
            if is_first && may(self, number) {
                return Some(place);
            }
            for &need in &self.needs[number] {
                free -= usize::from(!std::mem::replace(&mut taken[need], true));
            }
            if free == 0 {
                return None;
            }
        }
        None
    }

    fn is_free(&self, number: usize, now: MonoTime) -> bool {
        let has_rested = |need: &usize| self.loads[*need].rested.is_none_or(|at| at <= now);
        self.has_room(number) && self.needs[number].iter().all(has_rested)
    }

    fn has_room(&self, number: usize) -> bool {
        let is_light = self.slots[number].weight == Weight::Light;
        let may_run = is_light || self.heavy < self.most_heavy;
        may_run
            && self.needs[number].iter().all(|need| {
                let load = &self.loads[*need];
                load.heavy == 0 && if is_light { load.light < plan::schedule::LIGHT_AT_ONCE } else { load.light == 0 }
            })
    }
}

/// What tests need, by number: hosts, machines, then segments.
struct Resources {
    machines: Vec<usize>,
    hosts: usize,
}

impl Resources {
    fn new(plan: &Plan) -> Self {
        let mut numbers: BTreeMap<(bool, &str), usize> = BTreeMap::new();
        let machines = plan.hosts.iter().map(|host| {
            let name = host.machine.as_deref().map_or((false, host.name.as_str()), |machine| (true, machine));
            let next = numbers.len();
            *numbers.entry(name).or_insert(next)
        });
        Self { machines: machines.collect(), hosts: plan.hosts.len() }
    }

    fn of(&self, plan: &Plan, slot: &Slot) -> Vec<usize> {
        let (from, to) = (slot.pair.from, slot.pair.to);
        let mut needs = match slot.weight {
            Weight::Light => vec![from, to],
            Weight::Heavy => {
                let network = plan.groups[plan.tests[slot.test].group].network;
                let in_turn = plan.way(from, to, network).into_iter();
                let in_turn = in_turn.filter(|segment| plan.segments[*segment].use_ == plan::plan::Use::InTurn);
                let machines = [from, to].map(|host| self.hosts + self.machines[host]);
                machines.into_iter().chain(in_turn.map(|segment| 2 * self.hosts + segment)).collect()
            }
        };
        needs.sort_unstable();
        needs.dedup();
        needs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
title = "four"
[times]
gap = "2s"
[hosts.a]
address = "192.0.2.1"
[hosts.b]
address = "192.0.2.2"
[hosts.c]
address = "192.0.2.3"
machine = "m"
[hosts.d]
address = "192.0.2.4"
machine = "m"
[groups.all]
mesh = ["a", "b", "c", "d"]
[[tests]]
kind = "ping"
[[tests]]
kind = "tcp"
time = "10s"
"#;

    fn turns() -> (Plan, Schedule) {
        let plan = Plan::parse("four.toml", PLAN).unwrap();
        let schedule = Schedule::new(&plan);
        (plan, schedule)
    }

    fn at(seconds: u64) -> MonoTime {
        MonoTime::from_nanos(seconds * 1_000_000_000)
    }

    fn all(turns: &mut Turns, now: MonoTime) -> Vec<usize> {
        std::iter::from_fn(|| turns.next(now)).collect()
    }

    #[test]
    fn heavy_tests_begin_after_all_light_ones_and_never_two_at_a_host() {
        let (plan, schedule) = turns();
        let mut turns = Turns::new(&plan, &schedule, usize::MAX);
        let light = all(&mut turns, at(1));
        assert_eq!(light.len(), 12);
        assert!(light.iter().all(|slot| schedule.slots[*slot].weight == Weight::Light));
        for slot in &light[1..] {
            turns.ended(*slot, at(2));
        }
        assert_eq!(turns.next(at(2)), None, "one light test runs on");
        turns.ended(light[0], at(3));
        let (mut ended, mut now) = (0, 3);
        while !turns.is_over() {
            let begun = all(&mut turns, at(now));
            let mut hosts: Vec<usize> = begun
                .iter()
                .flat_map(|slot| [schedule.slots[*slot].pair.from, schedule.slots[*slot].pair.to])
                .map(|host| if host == 3 { 2 } else { host })
                .collect();
            hosts.sort_unstable();
            let count = hosts.len();
            hosts.dedup();
            // Only c and d, which are one machine, are both ends of one test.
            assert!(hosts.len() + 1 >= count, "{begun:?}");
            for slot in &begun {
                turns.ended(*slot, at(now + 1));
                ended += 1;
            }
            now += 1;
        }
        assert_eq!(ended, 12);
    }

    #[test]
    fn hosts_rest_between_heavy_tests_and_the_end_of_rest_is_known() {
        let (plan, schedule) = turns();
        let mut turns = Turns::new(&plan, &schedule, usize::MAX);
        let out = turns.leave_out(|slot| slot.weight == Weight::Light);
        assert_eq!(out.len(), 12);
        let begun = all(&mut turns, at(10));
        assert_eq!(turns.soonest(at(10)), None, "all wait for those that run");
        for slot in begun {
            turns.ended(slot, at(20));
        }
        assert_eq!((turns.next(at(21)), turns.soonest(at(21))), (None, Some(at(22))));
        assert!(turns.next(at(22)).is_some());
    }

    #[test]
    fn no_more_heavy_tests_run_than_may() {
        let (plan, schedule) = turns();
        let mut turns = Turns::new(&plan, &schedule, 1);
        turns.leave_out(|slot| slot.weight == Weight::Light);
        for turn in 1..=12 {
            let begun = all(&mut turns, at(10 * turn));
            assert_eq!(begun.len(), 1, "one after the other");
            turns.ended(begun[0], at(10 * turn));
        }
        assert!(turns.is_over());
    }

    #[test]
    fn tests_of_a_host_that_failed_are_left_out_and_all_others_run() {
        let (plan, schedule) = turns();
        let mut turns = Turns::new(&plan, &schedule, usize::MAX);
        let is_of = |slot: &Slot| slot.pair.from == 0 || slot.pair.to == 0;
        assert_eq!(turns.leave_out(is_of).len(), 12);
        let (mut now, mut ran) = (0, 0);
        while !turns.is_over() {
            let begun = all(&mut turns, at(now));
            assert!(begun.iter().all(|slot| !is_of(&schedule.slots[*slot])));
            ran += begun.len();
            begun.iter().for_each(|slot| turns.ended(*slot, at(now)));
            now += 10;
        }
        assert_eq!(ran, 12);
    }
}
