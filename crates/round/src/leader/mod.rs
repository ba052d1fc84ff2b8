//! A round: all tests of a plan, each in its turn.
//!
//! * [`lead`]: the whole, from what hosts say of themselves to what was found
//! * [`roster`]: how the hosts of a plan are reached
//! * [`besides`]: tests that the plan does not have
//! * `muster`: what they say before and after the tests
//! * `turns`: which test may begin
//! * `crew`: who carries it out
//! * [`journal`]: what was measured so far, on disk
//! * `repeat`: tests that a host's own load has disturbed, once more
//! * `pair`: one test of the plan between its two hosts
//!
//! The schedule says who comes before whom. Times follow from what happens: a test that ends early lets the next begin, one
//! that takes too long is ended. A host that fails leaves its reason in its cells, and the others go on.

pub mod besides;
mod crew;
mod gather;
pub mod journal;
mod pair;
mod repeat;
pub mod roster;
#[cfg(test)]
mod simulation;
mod turns;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use archive::rounds::has_result;
use archive::running::PlannedTest;
use measure::stop::Stop;
use model::played::Finding;
use model::round::{Round, Tested};
use model::run::RunId;
use plan::schedule::Slot;
use plan::{Plan, Schedule};
use units::{MonoTime, duration};

use crate::task::Side;
use crew::{Crew, Threads};
use journal::{Interrupted, Journal};
use roster::Roster;
use turns::Turns;

/// A round to lead.
#[derive(Debug, Clone, Copy)]
pub struct Lead<'a> {
    /// Which hosts test what.
    pub plan: &'a Plan,
    /// In which order.
    pub schedule: &'a Schedule,
    /// How they are reached.
    pub roster: &'a Roster,
    /// What the round is called in the archive.
    pub id: RunId,
    /// How long a host may take to answer, and a test longer than it should.
    pub patience: Duration,
    /// How much longer than planned the round may take.
    pub overtime: Duration,
    /// The time for tests that a host's own load has disturbed, and that are run once more.
    pub repeats: Duration,
    /// How many flows may run at a time: hosts that are namespaces of one machine share its processors.
    pub at_once: usize,
    /// The wish to end before the last test.
    pub stop: &'a Stop,
    /// Where each test is kept as it ends.
    pub journal: Option<&'a Journal>,
    /// The round that goes on, and the tests of it that are not run again.
    pub resumed: Option<&'a Interrupted>,
}

/// Who is told how it goes.
pub trait Audience {
    /// The hosts have said who they are; the tests begin.
    fn mustered(&mut self, round: &Round);

    /// A test begins.
    fn begins(&mut self, slot: &Slot, at: Duration);

    /// A test has ended, or will not begin.
    fn ended(&mut self, slot: &Slot, tested: &Tested);

    /// A host takes part no more.
    fn failed(&mut self, host: usize, why: &str);
}

/// Leads a round. Whatever fails is part of what comes back.
pub fn lead(lead: &Lead<'_>, audience: &mut dyn Audience) -> Round {
    thread::scope(|scope| conduct(lead, audience, &mut Threads::new(scope)))
}

/// The same, carried out by whom it may be.
fn conduct<'a>(lead: &'a Lead<'a>, audience: &mut dyn Audience, crew: &mut dyn Crew<'a>) -> Round {
    let (now, begun) = (crew.clock().wall_now(), crew.clock().now());
    let started = lead.resumed.map_or(now, |resumed| resumed.round.started.min(now));
    // Times of a round that goes on count from its first beginning.
    let begun =
        MonoTime::from_nanos(begun.as_nanos().saturating_sub(now.unix_nanos().saturating_sub(started.unix_nanos())));
    let plan = lead.plan;
    let mut round = Round {
        format: Round::FORMAT,
        id: lead.resumed.map_or(lead.id, |resumed| resumed.round.id),
        title: plan.title.clone(),
        started,
        elapsed: Duration::ZERO,
        members: (0..plan.hosts.len()).map(|host| plan.member(host)).collect(),
        segments: plan.round_segments(),
        tests: Vec::new(),
    };
    gather::before(lead, crew, &mut round.members);
    match lead.resumed {
        // What hosts were before the first test is what they were before the round.
        Some(resumed) => {
            for (member, then) in round.members.iter_mut().zip(&resumed.round.members) {
                member.before = then.before.clone().or(member.before.take());
            }
        }
        None => lead.journal.into_iter().for_each(|journal| journal.begins(&round, planned(lead))),
    }
    audience.mustered(&round);
    let mut leader = Leader::new(lead, Staff { audience, crew }, &round, begun);
    leader.run();
    let Leader { mut tests, failures, remarks, crew, .. } = leader;
    tests.sort_by_key(|(slot, tested)| (tested.began, *slot));
    round.tests = tests.into_iter().map(|(_, tested)| tested).collect();
    for (host, why) in failures {
        round.members[host].failure.get_or_insert(why);
    }
    for (host, remarks) in remarks {
        round.members[host].remarks.extend(remarks);
    }
    gather::after(lead, crew, &mut round.members);
    round.elapsed = crew.clock().now().since(begun);
    round
}

struct Leader<'a, 'c> {
    lead: &'a Lead<'a>,
    audience: &'c mut dyn Audience,
    crew: &'c mut dyn Crew<'a>,
    turns: Turns,
    begun: MonoTime,
    /// The wish to end what runs, whoever has it.
    halt: Stop,
    /// What was found, by the number of the slot.
    tests: Vec<(usize, Tested)>,
    /// Why hosts take part no more.
    failures: BTreeMap<usize, String>,
    /// What is odd about hosts that still take part.
    remarks: BTreeMap<usize, BTreeSet<String>>,
    /// How often a host could not take part, by whether it was to ask or to answer.
    strikes: BTreeMap<(usize, bool), usize>,
}

/// Who is told, and who carries out.
struct Staff<'a, 'c> {
    audience: &'c mut dyn Audience,
    crew: &'c mut dyn Crew<'a>,
}

/// What a test has to tell when it has ended.
struct Report {
    slot: usize,
    tested: Tested,
    /// The host that could not take part, whether it was to ask, and why; and whether it answers at all.
    trouble: Option<(usize, Side, String, gather::Answers)>,
}

impl<'a, 'c> Leader<'a, 'c> {
    fn new(lead: &'a Lead<'a>, Staff { audience, crew }: Staff<'a, 'c>, round: &Round, begun: MonoTime) -> Self {
        let missing = round.members.iter().enumerate();
        let failures = missing.filter_map(|(host, member)| Some((host, member.failure.clone()?))).collect();
        Self {
            lead,
            audience,
            crew,
            turns: Turns::new(lead.plan, lead.schedule, lead.at_once),
            begun,
            halt: Stop::default(),
            tests: Vec::new(),
            failures,
            remarks: BTreeMap::new(),
            strikes: BTreeMap::new(),
        }
    }

    /// Tests of a round that goes on are what they were.
    fn take_over(&mut self) {
        let Some(resumed) = self.lead.resumed else { return };
        for (&number, tested) in &resumed.tests {
            if self.turns.take_out(number) {
                self.audience.ended(&self.lead.schedule.slots[number], tested);
                self.tests.push((number, tested.clone()));
            }
        }
    }

    fn run(&mut self) {
        self.take_over();
        for (host, why) in self.failures.clone() {
            self.audience.failed(host, &why);
            self.leave_out(&why, |slot| slot.pair.from == host || slot.pair.to == host);
        }
        let last = self.now() + self.lead.schedule.length + self.lead.overtime;
        while !self.turns.is_over() {
            self.heed(last);
            self.begin();
            self.hear();
        }
        self.repeat_disturbed(last);
    }

    /// Ends the round early where somebody wants that, or time is over.
    fn heed(&mut self, last: MonoTime) {
        if self.halt.is_stopped() {
            return;
        }
        let why = if self.lead.stop.is_stopped() {
            "not run: the round was stopped".to_owned()
        } else if self.now() >= last {
            let over = duration::show(self.lead.overtime);
            format!("not run: the round had taken {over} more than planned")
        } else {
            return;
        };
        self.halt.stop();
        self.leave_out(&why, |_| true);
    }

    /// Begins all that may.
    fn begin(&mut self) {
        while let Some(number) = self.turns.next(self.now()) {
            let (lead, begun, halt) = (self.lead, self.begun, self.halt.clone());
            let slot = &lead.schedule.slots[number];
            let began = self.now().since(begun);
            self.audience.begins(slot, began);
            lead.journal.into_iter().for_each(|journal| journal.begun(number, began));
            if !self.crew.begin(number, Box::new(move || test(lead, number, began, &halt))) {
                let why = "not run: this host has no thread for it".to_owned();
                self.ended(Report { slot: number, tested: self.left_out(slot, &why), trouble: None });
            }
        }
    }

    /// Waits until something ends, or may begin.
    fn hear(&mut self) {
        /// How soon the wish to stop is seen.
        const GLANCE: Duration = Duration::from_millis(50);
        let now = self.now();
        let rest = self.turns.soonest(now).map_or(GLANCE, |at| at.since(now).min(GLANCE));
        if let Some(report) = self.crew.hear(rest) {
            self.ended(report);
        }
    }

    fn now(&self) -> MonoTime {
        self.crew.clock().now()
    }

    fn ended(&mut self, report: Report) {
        let Report { slot, tested, trouble } = report;
        let now = self.now();
        self.turns.ended(slot, now);
        self.keep(slot, &tested);
        self.audience.ended(&self.lead.schedule.slots[slot], &tested);
        self.tests.push((slot, tested));
        if let Some((host, side, why, answers)) = trouble.filter(|_| !self.halt.is_stopped()) {
            self.strike(host, side, &why, answers);
        }
    }

    /// Puts a test on disk before anybody is told of it, so that whoever has seen its end finds it again. What was broken off is
    /// run again where the round goes on.
    fn keep(&self, slot: usize, tested: &Tested) {
        let is_whole = !self.halt.is_stopped() || has_result(&tested.finding);
        if let Some(journal) = self.lead.journal.filter(|_| is_whole) {
            journal.ended(slot, tested);
        }
    }

    /// A host that does not answer any more is left out; one that does may fail once more.
    fn strike(&mut self, host: usize, side: Side, why: &str, answers: gather::Answers) {
        const MOST: usize = 2;
        let strikes = self.strikes.entry((host, side == Side::From)).or_default();
        *strikes += 1;
        let is_out = *strikes >= MOST;
        match answers {
            gather::Answers::No(why) => {
                self.fail(host, &why);
                self.leave_out(&why, |slot| slot.pair.from == host || slot.pair.to == host);
            }
            gather::Answers::Yes if is_out => {
                // It still takes part in what it can.
                self.remarks.entry(host).or_default().insert(why.to_owned());
                self.leave_out(why, |slot| match side {
                    Side::From => slot.pair.from == host,
                    Side::To => slot.pair.to == host,
                });
            }
            gather::Answers::Yes => {}
        }
    }

    fn fail(&mut self, host: usize, why: &str) {
        if let Entry::Vacant(place) = self.failures.entry(host) {
            place.insert(why.to_owned());
            self.audience.failed(host, why);
        }
    }

    /// Tests that will not begin, for this reason.
    fn leave_out(&mut self, why: &str, is_meant: impl Fn(&Slot) -> bool) {
        let left_out = self.turns.leave_out(|slot| is_meant(slot));
        if let Some(journal) = self.lead.journal.filter(|_| !left_out.is_empty()) {
            journal.left_out(left_out.clone());
        }
        for number in left_out {
            let slot = &self.lead.schedule.slots[number];
            let tested = self.left_out(slot, why);
            self.audience.ended(slot, &tested);
            self.tests.push((number, tested));
        }
    }

    fn left_out(&self, slot: &Slot, why: &str) -> Tested {
        let began = self.now().since(self.begun);
        pair::tested(self.lead.plan, slot, began, Side::From, Finding::Nothing { detail: why.to_owned() }, None)
    }
}

/// All tests, as those name them who look at the round while it runs.
fn planned(lead: &Lead<'_>) -> Vec<PlannedTest> {
    let host = |host: usize| lead.plan.hosts[host].name.clone();
    let planned = |slot: &Slot| PlannedTest {
        label: lead.plan.tests[slot.test].label.clone(),
        from: host(slot.pair.from),
        to: host(slot.pair.to),
    };
    lead.schedule.slots.iter().map(planned).collect()
}

/// Runs one test, and asks a host that could not take part whether it is there.
fn test(lead: &Lead<'_>, number: usize, began: Duration, halt: &Stop) -> Report {
    let slot = &lead.schedule.slots[number];
    let done = pair::run(lead, slot, halt);
    let trouble = done.trouble.map(|trouble| {
        let host = if trouble.side == Side::From { slot.pair.from } else { slot.pair.to };
        let answers = gather::answers(lead, host, halt);
        (host, trouble.side, trouble.why, answers)
    });
    let tested = pair::tested(lead.plan, slot, began, done.asked, done.finding, done.samples);
    Report { slot: number, tested, trouble }
}
