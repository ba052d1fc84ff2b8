//! Rounds of tests in a network that lives: one after the other, with whatever is changed between them.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use linux::clock;
use model::played::Tested;
use model::quality::EmulatorConditions;
use model::round::Round;
use model::run::RunId;
use model::spec::Direction;
use round::task::Done;
use units::DataRate;

use super::evidence::{self, Measured, Seen};
use super::{Audience, PlayError, Setting, name, trial};
use crate::live::{LabNetwork, Live, LiveError};
use crate::relay::conditions::ConditionsBefore;
use crate::relay::log::Events;
use crate::relay::{Pace, Report};
use crate::scenario::{Scenario, Test, TestKind};

/// How the tests of a round follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One at a time, each at its time.
    InTurn,
    /// As many at a time as this machine has processors, of those that share no host, and no link in one direction.
    SideBySide,
}

/// A network that lives, and whoever is told what becomes of its tests.
pub struct Rounds<'a> {
    pub(super) setting: &'a Setting<'a>,
    live: Live<'a>,
    pub(super) audience: &'a mut dyn Audience,
    /// What was seen of the hosts before the network's clock began, for the first round.
    seen: Option<Vec<Seen>>,
}

/// One round.
#[derive(Debug)]
pub struct Ran {
    /// What a diagnosis may see.
    pub round: Round,
    /// The same for those who watch.
    pub tests: Vec<Tested>,
}

/// Has a network live for as long as `inside` takes. Returns what that returned, what the relay did, and what happened to
/// packets; nothing of the network is left.
///
/// # Errors
/// See [`PlayError`].
pub fn rounds<T>(
    setting: &Setting<'_>,
    audience: &mut dyn Audience,
    inside: impl FnOnce(&mut Rounds<'_>) -> T,
) -> Result<(T, Report, Events), PlayError> {
    let stage = LabNetwork::raise(setting.scenario, setting.seed, setting.program)?;
    let seen = setting.facts.then(|| evidence::look(stage.network(), setting));
    audience.raised(stage.network(), stage.took());
    let slip = Mutex::new(None);
    let note = |error: LiveError| {
        slip.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    };
    let lived = stage.live(setting.fit.pace, &note, |live| inside(&mut Rounds { setting, live, audience, seen }))?;
    match slip.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error.into()),
        None => Ok(lived),
    }
}

impl<'a> Rounds<'a> {
    /// The network as plays of tests see it.
    #[must_use]
    pub fn live(&self) -> Live<'a> {
        self.live
    }

    /// Runs tests of the scenario, and looks at the hosts before and after.
    ///
    /// # Errors
    /// See [`PlayError`].
    pub fn run(&mut self, id: RunId, tests: &[Test], order: Order) -> Result<Ran, PlayError> {
        let setting = self.setting;
        let tests: Vec<Test> = tests.iter().map(|test| at_pace(test, setting.fit.pace)).collect();
        let began = clock::now();
        let (since, before) = match self.seen.take() {
            Some(seen) => (Duration::ZERO, seen),
            None => (self.live.age(), self.look()),
        };
        let round = evidence::round(setting.scenario, setting.seed, id, clock::wall_now());
        let mut ran = Ran { round, tests: Vec::new() };
        self.audience.round_begins(tests.len());
        let mut done = match order {
            Order::InTurn => self.in_turn(&tests)?,
            Order::SideBySide => self.side_by_side(&tests)?,
        };
        self.repeat_disturbed(&mut done)?;
        self.audience.round_ended();
        done.into_iter().for_each(|measured| ran.enter(setting, measured, since));
        evidence::add_before(&mut ran.round, before);
        evidence::add_after(&mut ran.round, self.look());
        if self.examine(&mut ran, since)? == Went::On {
            evidence::add_after(&mut ran.round, self.look());
        }
        ran.round.elapsed = clock::now().since(began);
        Ok(ran)
    }

    /// Runs what whoever listens asks for besides, until nothing is asked for, or the wish to stop comes.
    fn examine(&mut self, ran: &mut Ran, since: Duration) -> Result<Went, PlayError> {
        let mut went = Went::Nowhere;
        while !self.setting.stop.is_stopped() {
            let Some(proposal) = self.audience.wants(&mut ran.round) else { break };
            let wanted = self.setting.scenario.tests_of(&proposal);
            if wanted.is_empty() {
                break;
            }
            let wanted: Vec<Test> = wanted.iter().map(|test| at_pace(test, self.setting.fit.pace)).collect();
            for measured in self.in_turn(&wanted)? {
                ran.enter(self.setting, measured, since);
            }
            went = Went::On;
        }
        Ok(went)
    }

    fn look(&self) -> Vec<Seen> {
        if self.setting.facts { evidence::look(self.live.network, self.setting) } else { Vec::new() }
    }

    pub(super) fn in_turn<'t>(&mut self, tests: &'t [Test]) -> Result<Vec<Measured<'t>>, PlayError> {
        let mut done = Vec::new();
        for test in tests {
            let due = self.live.start + test.start.unwrap_or_default();
            let stopped = || self.setting.stop.is_stopped();
            if stopped() || !self.live.relay.clock().sleep_unless(due, stopped).map_err(|error| failed(test, error))? {
                break;
            }
            let began = self.began(test);
            let found = measured(test, self.live, self.setting).map_err(|error| failed(test, error))?;
            done.push(self.ended(test, began, found));
        }
        Ok(done)
    }

    fn side_by_side<'t>(&mut self, tests: &'t [Test]) -> Result<Vec<Measured<'t>>, PlayError> {
        let scenario = self.setting.scenario;
        let mut queue = Queue::new(tests.iter().map(|test| needs(scenario, test)).collect());
        let mut done = Vec::new();
        let mut outcome = Ok(());
        let (setting, live) = (self.setting, self.live);
        let most = setting.fit.at_once.max(1);
        thread::scope(|scope| {
            let (tell, told) = channel();
            let mut running = 0;
            loop {
                while running < most && !setting.stop.is_stopped() && outcome.is_ok() {
                    let Some(number) = queue.next() else { break };
                    let (test, tell) = (&tests[number], tell.clone());
                    let began = self.began(test);
                    // The thread below listens until nothing runs any more.
                    scope.spawn(move || drop(tell.send((number, began, measured(test, live, setting)))));
                    running += 1;
                }
                if running == 0 {
                    break;
                }
                let Ok((number, began, found)) = told.recv() else { break };
                running -= 1;
                queue.ended(number);
                let test = &tests[number];
                match found {
                    Ok(found) => done.push(self.ended(test, began, found)),
                    Err(error) => outcome = Err(failed(test, error)),
                }
            }
        });
        outcome.map(|()| done)
    }

    fn began(&mut self, test: &Test) -> Duration {
        let began = self.live.age();
        self.audience.begins(test, began);
        began
    }

    fn ended<'t>(&mut self, test: &'t Test, began: Duration, (found, emulator): Found) -> Measured<'t> {
        let scenario = self.setting.scenario;
        let (from, to) = (name(scenario, test.from), name(scenario, test.to));
        let tested = Tested { label: test.label.clone(), from, to, began, finding: found.finding };
        self.audience.ended(test, &tested);
        Measured { test, tested, samples: found.samples, emulator, attempt: None }
    }
}

impl Ran {
    /// Adds a test; the round began so long after the network's clock.
    fn enter(&mut self, setting: &Setting<'_>, measured: Measured<'_>, since: Duration) {
        let tested = measured.tested.clone();
        let mut evidence = evidence::tested(setting, measured);
        evidence.began = evidence.began.saturating_sub(since);
        self.round.tests.push(evidence);
        self.tests.push(tested);
    }
}

/// Whether anything was asked for besides the tests of the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Went {
    /// Tests were run.
    On,
    /// None was.
    Nowhere,
}

/// What came of a test, and how well the emulator kept its times meanwhile.
type Found = (Done, EmulatorConditions);

fn measured(test: &Test, live: Live<'_>, setting: &Setting<'_>) -> io::Result<Found> {
    let before = ConditionsBefore::read(live.relay);
    let done = trial::run(test, live.network.hosts(), setting)?;
    Ok((done, before.until_now(live.relay)))
}

/// A test whose own rates, and the rate that it should reach, go with the pace of the paths.
fn at_pace(test: &Test, pace: Pace) -> Test {
    let mut test = test.clone();
    let of_pace = |rate: DataRate| DataRate::from_bps(rate.bps() / 100 * u64::from(pace.percent()));
    if let TestKind::Tcp(flow) | TestKind::Udp(flow) = &mut test.kind
        && pace < Pace::REAL
    {
        flow.spec.rate = flow.spec.rate.map(of_pace);
        flow.spec.pace = flow.spec.pace.map(of_pace);
        flow.expect = flow.expect.map(of_pace);
    }
    test
}

fn failed(test: &Test, source: io::Error) -> PlayError {
    PlayError::Test { label: test.label.clone(), source }
}

/// What a test has for itself while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Host(usize),
    /// From one host to the next.
    Way(usize, usize),
}

fn needs(scenario: &Scenario, test: &Test) -> BTreeSet<Need> {
    let (from, to) = (test.from.host, test.to.host);
    let way = |from, to| {
        let route = scenario.route(from, to);
        route.windows(2).map(|step| Need::Way(step[0], step[1])).collect::<Vec<_>>()
    };
    let (there, back) = match &test.kind {
        TestKind::Tcp(flow) | TestKind::Udp(flow) => match flow.spec.direction {
            Direction::Forward => (way(from, to), Vec::new()),
            Direction::Reverse => (Vec::new(), way(to, from)),
            Direction::Bidirectional => (way(from, to), way(to, from)),
        },
        TestKind::Ping(_) | TestKind::Mtu | TestKind::Hops | TestKind::Http(_) => (way(from, to), way(to, from)),
    };
    [Need::Host(from), Need::Host(to)].into_iter().chain(there).chain(back).collect()
}

/// Tests that wait, and what those that run have for themselves.
#[derive(Debug)]
struct Queue {
    needs: Vec<BTreeSet<Need>>,
    waiting: Vec<usize>,
    taken: BTreeSet<Need>,
}

impl Queue {
    fn new(needs: Vec<BTreeSet<Need>>) -> Self {
        Self { waiting: (0..needs.len()).collect(), needs, taken: BTreeSet::new() }
    }

    /// Of those that can run, one that needs what most others wait for: what they share sets the length of the round.
    fn next(&mut self) -> Option<usize> {
        let wanted = |need: &Need| self.waiting.iter().filter(|other| self.needs[**other].contains(need)).count();
        let free = |number: &&usize| self.needs[**number].is_disjoint(&self.taken);
        let pressing = |number: &usize| self.needs[*number].iter().map(wanted).max().unwrap_or(0);
        // The first of those that are alike.
        let found = self.waiting.iter().filter(free).rev().max_by_key(|number| pressing(number)).copied()?;
        self.waiting.retain(|number| *number != found);
        self.taken.extend(self.needs[found].iter().copied());
        Some(found)
    }

    fn ended(&mut self, number: usize) {
        self.taken.retain(|need| !self.needs[number].contains(need));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    #[test]
    fn tests_side_by_side_share_no_host_and_no_direction_of_a_link() {
        let scenario = load("nrao-overlay-offload").unwrap();
        let all: Vec<_> = scenario.tests.iter().map(|test| needs(&scenario, test)).collect();
        let mut queue = Queue::new(all.clone());
        let (mut turns, mut ran) = (0, Vec::new());
        while !queue.waiting.is_empty() {
            let together: Vec<usize> = std::iter::from_fn(|| queue.next()).collect();
            for (place, one) in together.iter().enumerate() {
                let others = &together[place + 1..];
                assert!(others.iter().all(|other| all[*one].is_disjoint(&all[*other])), "{together:?}");
            }
            together.iter().for_each(|number| queue.ended(*number));
            turns += 1;
            ran.extend(together);
        }
        ran.sort_unstable();
        assert_eq!(ran, (0..all.len()).collect::<Vec<_>>(), "each runs once");
        assert!(turns < all.len(), "some run side by side");
    }
}
