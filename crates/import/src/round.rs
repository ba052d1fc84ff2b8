//! From files to runs, and to a round that a diagnosis can work on.
//!
//! * `known`: what a file says of its tests beside their output
//! * `names`: what hosts are called
//! * `watched`: what was watched in many intervals, as one

mod known;
mod names;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::archived::RunExport;
use model::counters::CounterReadings;
use model::measurement::Heading;
use model::played::Finding;
use model::probe::Subject;
use model::round::{Endpoint, Member, Round, Tested};
use model::run::{FailureKind, Outcome, Run, RunId};
use model::series::RunSamples;
use units::{DataRate, WallTime};

pub use super::declared::UserFacts;
use super::evidence::{DeviceCounters, Evidence, HostFact, Shown, Socket, SocketBetween};
use super::merge;
pub use super::merge::Stored;
use super::readings::{CounterOwner, readings_of};
use super::so_far::facts_of;
use super::{Import, Imported, one_way, router_test, rtt, sizes, sockets, summed_test, transfers};
use names::{Names, same_host, without_port};

/// A file that was read.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name, as the user gave it.
    pub name: String,
    /// What it holds.
    pub import: Import,
    /// When it was last written: it stands for the time of a test that prints none.
    pub written: WallTime,
    /// Tells this file from others, so that reading it twice names its runs the same.
    pub digest: u128,
}

impl Source {
    /// The runs of the file, in its order.
    #[must_use]
    pub fn runs(&self, facts: &UserFacts) -> Vec<(Run, RunSamples)> {
        let tests = self.import.tests.iter().enumerate();
        tests.map(|(index, test)| (self.run(index, test, facts), test.samples.clone())).collect()
    }

    /// One test as a run.
    #[must_use]
    pub fn run(&self, index: usize, test: &Imported, facts: &UserFacts) -> Run {
        let started = test.started.unwrap_or(self.written);
        let mut measurement = test.measurement.clone();
        let facts = self.facts_of(test, facts);
        let mut declared = facts.declared.clone();
        let mut note = |text: String| {
            if let Some(found) = &mut measurement {
                found.anomalies.push(text);
            }
        };
        if test.started.is_none() {
            note("the time of the test is not printed, assumed: the date of the file".to_owned());
        }
        let has_rtt = test.measurement.as_ref().is_some_and(|found| found.latency.is_some());
        if declared.rtt.is_none() && !has_rtt {
            // What was measured goes before what people say, which may be of another day.
            if let Some((line, rtt)) = self.pinged(test) {
                declared.rtt = Some(rtt);
                note(format!("echoes to the same host, line {line}, have an RTT of {}", units::duration::show(rtt)));
            } else if let Some(stated) = rtt::of_test(&self.import.stated_rtts, test.line) {
                declared.rtt = Some(stated.rtt);
                note(format!("line {} states the RTT: {}", stated.line, units::duration::show(stated.rtt)));
            }
        }
        Run {
            format: Run::FORMAT,
            id: self.id(index, test),
            started,
            role: test.role,
            command: test.command.clone(),
            spec: test.spec.clone(),
            declared_line_rate: facts.line_rate,
            declared,
            batch: None,
            local: test.local.clone(),
            peer: test.peer.clone(),
            outcome: test.outcome.clone(),
            measurement,
        }
    }
}

impl Source {
    /// What was printed of a transfer, and is none of a test that is known.
    fn runs_of(&self, item: &Evidence, facts: &UserFacts) -> Vec<Run> {
        let id = |index: usize| {
            let place = u128::try_from(item.line + index * MAX_LINES).unwrap_or(u128::MAX);
            RunId::new(self.written, self.digest.wrapping_add(place))
        };
        match &item.shows {
            Shown::Transfer(one) => {
                let mut facts = facts.with_stated(self.stated(), one.heading);
                let stated = rtt::of_test(&self.import.stated_rtts, item.line).map(|stated| stated.rtt);
                facts.declared.rtt = facts.declared.rtt.or(stated).or_else(|| self.only_echoed());
                vec![transfers::run(one, id(0), self.written, &facts)]
            }
            Shown::OneWay(one) => vec![one_way::run(one, id(0), self.written, facts)],
            Shown::Summed(one) => vec![summed_test::run(one, item, id(0), self.written, facts)],
            Shown::RouterTest(one) => router_test::runs(one, [id(0), id(1)], self.written, facts),
            _ => Vec::new(),
        }
    }

    /// Runs of linerate, with what the user declares where they do not say it.
    #[must_use]
    pub fn own_runs(&self, facts: &UserFacts) -> Vec<Stored> {
        let exports = self.import.evidence.iter().filter_map(|item| match &item.shows {
            Shown::Run(export) => Some(export.as_ref().clone()),
            _ => None,
        });
        exports.map(|RunExport { run, samples }| (facts.complete(run), samples)).collect()
    }

    /// The same test of the same file always has the same name.
    fn id(&self, index: usize, test: &Imported) -> RunId {
        let place = u128::try_from(index).unwrap_or(u128::MAX);
        RunId::new(test.started.unwrap_or(self.written), self.digest.wrapping_add(place))
    }
}

/// What files show together.
#[derive(Debug, Clone, Default)]
pub struct Together {
    /// Tests and probes; `None` where there are none.
    pub round: Option<Round>,
    /// Counters of hosts, by the host's name where it is known, that belong to no test.
    pub counters: Vec<(Option<String>, CounterReadings)>,
    /// What else was said of hosts, by name where it is known, in the order of the files.
    pub facts: Vec<(Option<String>, HostFact)>,
}

/// All that files show together.
#[must_use]
pub fn of_files(sources: &[Source], facts: &UserFacts) -> Together {
    beside_runs(Vec::new(), sources, facts)
}

/// All that files show together with runs that are kept elsewhere.
#[must_use]
pub fn beside_runs(kept: Vec<Stored>, sources: &[Source], facts: &UserFacts) -> Together {
    let own = sources.iter().flat_map(|source| source.own_runs(facts));
    let printed = sources.iter().flat_map(|source| source.runs(facts));
    let mut runs: Vec<Stored> = merge::ends(kept.into_iter().chain(own).chain(printed).collect());
    runs.iter_mut().for_each(|(run, _)| judge_what_was_reached(run));
    let mut gathered = Gathered { probes: Vec::new(), facts: Vec::new(), names: Names::of(&runs) };
    let mut counters: BTreeMap<CounterOwner, Vec<&DeviceCounters>> = BTreeMap::new();
    for source in sources {
        // Of a file without transfers it says what hosts and paths have.
        gathered.facts.extend(source.stated().all().map(|rate| (None, HostFact::Stated(rate))));
        if !source.import.figures.is_empty() {
            gathered.facts.push((None, HostFact::Figures(source.import.figures.clone())));
        }
        let searches = sizes::searches(&source.import.evidence);
        let own = source.import.evidence.iter().enumerate();
        let kept = own.filter(|(index, _)| !searches.replaced.contains(index)).map(|(_, item)| item);
        searches.found.iter().for_each(|item| gathered.probe(source, item, facts));
        for item in kept {
            match &item.shows {
                Shown::Sockets(list) => gathered.sockets(list, &mut runs, source, item, facts),
                Shown::Counters(one) => {
                    let owner = CounterOwner { host: item.host.clone(), kind: one.kind, device: one.device.clone() };
                    counters.entry(owner).or_default().push(one);
                }
                Shown::Host(fact) => watched::keep(&mut gathered.facts, item.host.as_deref(), fact),
                Shown::OneWay(series) => {
                    let shows = Shown::OneWay(gathered.names.rename(series));
                    let all = source.runs_of(&Evidence { shows, ..item.clone() }, facts);
                    runs.extend(all.into_iter().map(|run| (run, RunSamples::default())));
                }
                Shown::Transfer(_) | Shown::RouterTest(_) | Shown::Summed(_) => {
                    let all = source.runs_of(item, facts);
                    runs.extend(all.into_iter().map(|run| (run, RunSamples::default())));
                }
                _ => gathered.probe(source, item, facts),
            }
        }
    }
    let mut loose = Vec::new();
    for (owner, readings) in counters {
        gathered.facts.extend(facts_of(&readings).into_iter().map(|fact| (owner.host.clone(), fact)));
        let readings = readings_of(&owner, &readings);
        if !attach(&mut runs, owner.host.as_deref(), &readings, sources) {
            loose.push((owner.host, readings));
        }
    }
    let facts = std::mem::take(&mut gathered.facts);
    Together { round: gathered.round(runs, sources), counters: loose, facts }
}

/// More lines than a file of the most bytes has.
const MAX_LINES: usize = 100_000_000;

/// More sockets beside tests than anybody reads of.
const MAX_FACTS: usize = 1_000;

/// A test before the round is put together: when, who asked whom, and what was found.
struct Probe {
    at: WallTime,
    expected: Option<DataRate>,
    host: Option<String>,
    subject: Subject,
    label: &'static str,
    finding: Finding,
}

struct Gathered {
    probes: Vec<Probe>,
    facts: Vec<(Option<String>, HostFact)>,
    /// Of the hosts of tests.
    names: Names,
}

impl Gathered {
    fn probe(&mut self, source: &Source, item: &Evidence, facts: &UserFacts) {
        let dated = |subject: &Subject| {
            let known = subject.started > WallTime::from_unix_nanos(0);
            Subject { started: if known { subject.started } else { source.written }, ..subject.clone() }
        };
        let (label, subject, finding) = match &item.shows {
            Shown::Echo(found) => {
                let subject = dated(&found.subject);
                let found = model::probe::echo::EchoSeries { subject: subject.clone(), ..found.clone() };
                ("echoes", subject, Finding::Echo(found))
            }
            Shown::Hops(found) => {
                let subject = dated(&found.subject);
                let found = model::probe::hops::Trace { subject: subject.clone(), ..found.clone() };
                ("hops", subject, Finding::Hops(found))
            }
            Shown::PathMtu(found) => {
                let subject = dated(&found.subject);
                let found = model::probe::path_mtu::PathMtu { subject: subject.clone(), ..found.clone() };
                ("path MTU", subject, Finding::PathMtu(found))
            }
            Shown::Download(found) => {
                let subject = dated(&found.subject);
                let found = model::probe::download::Download { subject: subject.clone(), ..found.clone() };
                ("download", subject, Finding::Downloads(vec![found]))
            }
            Shown::Sockets(_)
            | Shown::Counters(_)
            | Shown::Transfer(_)
            | Shown::OneWay(_)
            | Shown::RouterTest(_)
            | Shown::Summed(_)
            | Shown::Run(_)
            | Shown::Host(_) => return,
        };
        let expected = matches!(finding, Finding::Downloads(_)).then(|| {
            let facts = facts.with_stated(source.stated(), Heading::Inbound);
            facts.declared.expected.or(facts.line_rate)
        });
        let expected = expected.flatten();
        self.probes.push(Probe { at: subject.started, expected, host: item.host.clone(), subject, label, finding });
    }

    /// Sockets of a test that is there as well complete it; any other that has moved data is a run of its own.
    fn sockets(
        &mut self,
        list: &[Socket],
        runs: &mut Vec<Stored>,
        source: &Source,
        item: &Evidence,
        facts: &UserFacts,
    ) {
        let facts = facts.with_stated(source.stated(), Heading::Outbound);
        for (index, socket) in list.iter().enumerate() {
            let completed = runs
                .iter_mut()
                .find_map(|(run, _)| sockets::complete(run.measurement.as_mut()?, socket).then_some(run));
            if let Some(run) = completed {
                let is_local = run
                    .measurement
                    .iter()
                    .flat_map(|found| &found.flows)
                    .any(|flow| flow.local_address == socket.local);
                let (local, peer) = (self.names.local(run), self.names.peer(run));
                let (local, peer) = if is_local { (local, peer) } else { (peer, local) };
                self.socket(item, SocketBetween { local, peer, socket: socket.clone() });
                continue;
            }
            let place = u128::try_from(item.line * 1000 + index).unwrap_or(u128::MAX);
            let id = RunId::new(source.written, source.digest.wrapping_add(place));
            let own = sockets::run(socket, id, source.written, item.host.as_deref(), &facts);
            if own.is_none() {
                let host = |address: &str| {
                    if address.is_empty() { "the other host" } else { without_port(address) }.to_owned()
                };
                let local = item.host.clone().unwrap_or_else(|| self.names.client.clone());
                self.socket(item, SocketBetween { local, peer: host(&socket.peer), socket: socket.clone() });
            }
            runs.extend(own);
        }
    }

    fn socket(&mut self, item: &Evidence, between: SocketBetween) {
        if self.facts.len() < MAX_FACTS {
            self.facts.push((item.host.clone(), HostFact::Socket(between)));
        }
    }

    fn round(self, runs: Vec<Stored>, sources: &[Source]) -> Option<Round> {
        let times = runs.iter().map(|(run, _)| run.started).chain(self.probes.iter().map(|probe| probe.at));
        let started = times.min()?;
        let after = |time: WallTime| Duration::from_nanos(time.unix_nanos().saturating_sub(started.unix_nanos()));
        let names = Names::of(&runs);
        let labels = labels_of(sources);
        let mut tests: Vec<Tested> = Vec::new();
        for probe in self.probes {
            let here = probe.host.clone().unwrap_or_else(|| names.client.clone());
            let there = names.known(&probe.subject);
            let test = tested(probe.label, (here, there), after(probe.at), probe.finding);
            tests.push(Tested { expected: probe.expected, ..test });
        }
        for (run, samples) in runs {
            let label = labels.get(&run.id).cloned().unwrap_or_else(|| beside(&run));
            let (local, peer) = (names.local(&run), names.peer(&run));
            // The directions of a run are seen from the host that printed it, which so stands first.
            let ends = (local, peer);
            let expected = run.declared.expected;
            let began = after(run.started);
            let mut test = tested(&label, ends, began, Finding::Run(Box::new(run)));
            (test.expected, test.samples) = (expected, Some(Box::new(samples)));
            tests.push(test);
        }
        tests.sort_by_key(|test| test.began);
        follow(&mut tests);
        let mut members: Vec<Member> = Vec::new();
        for name in tests.iter().flat_map(|test| [&test.from.host, &test.to.host]) {
            if members.iter().all(|member| member.name != *name) {
                members.push(Member::named(name));
            }
        }
        let title = sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ");
        let id = RunId::new(started, sources.iter().fold(0, |sum, source| sum ^ source.digest));
        let elapsed = tests.last().map_or(Duration::ZERO, |last| last.began);
        (!tests.is_empty()).then_some(Round {
            format: Round::FORMAT,
            id,
            title,
            started,
            elapsed,
            members,
            segments: Vec::new(),
            tests,
        })
    }
}

/// Tests of one text, which names no time, were run in its order, one after the other.
fn follow(tests: &mut [Tested]) {
    let mut last: Option<(Duration, Duration)> = None;
    for test in tests {
        let began = test.began;
        if let Some((instant, end)) = last
            && instant == began
        {
            test.began = end;
        }
        last = Some((began, test.began + length(test)));
    }
}

fn length(test: &Tested) -> Duration {
    let Finding::Run(run) = &test.finding else { return Duration::ZERO };
    let totals = run.measurement.iter().flat_map(|found| &found.totals);
    totals.map(|total| total.elapsed).max().unwrap_or_default()
}

fn tested(label: &str, (from, to): (String, String), began: Duration, finding: Finding) -> Tested {
    let endpoint = |host: String| Endpoint { host, network: None };
    Tested {
        label: label.to_owned(),
        from: endpoint(from),
        to: endpoint(to),
        began,
        expected: None,
        way: Vec::new(),
        way_back: Vec::new(),
        emulator: None,
        attempt: None,
        finding,
        samples: None,
    }
}

/// What a person calls each test: its command where one was printed, and else where it stands.
fn labels_of(sources: &[Source]) -> BTreeMap<RunId, String> {
    let mut labels = BTreeMap::new();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for source in sources {
        for (index, test) in source.import.tests.iter().enumerate() {
            let place = format!("{} line {}", source.name, test.line);
            let command = test.command.join(" ");
            let label = match command.as_str() {
                "" => place,
                _ if used.contains(&command) => format!("{command} ({place})"),
                _ => command,
            };
            used.insert(label.clone());
            labels.insert(source.id(index, test), label);
        }
    }
    labels
}

/// What a person calls a run that is no test: a transfer of a program, or a socket.
fn beside(run: &Run) -> String {
    match &run.local.software {
        Some(tool) => format!("{tool} with {}", run.peer.target),
        None => format!("socket of {}", run.peer.target),
    }
}

/// A test that was stopped by hand, or lost its control connection, is judged by what it had reached until then.
fn judge_what_was_reached(run: &mut Run) {
    let Outcome::Failed(failure) = &run.outcome else { return };
    let Some(found) = &mut run.measurement else { return };
    let ran = found.totals.iter().map(|total| total.elapsed).max().unwrap_or_default();
    if matches!(failure.kind, FailureKind::Interrupted | FailureKind::Lost) && ran >= LONG_ENOUGH {
        found.anomalies.push(format!("judged by the {} that it ran: {}", units::duration::show(ran), failure.detail));
        run.outcome = Outcome::Complete;
    }
}

/// A shorter test has hardly left slow start, and the losses that end it.
const LONG_ENOUGH: Duration = Duration::from_secs(3);

/// Gives counters to the runs of their host, without a name to those of the host that printed them; whether there is one.
fn attach(runs: &mut [Stored], host: Option<&str>, readings: &CounterReadings, sources: &[Source]) -> bool {
    let mut is_attached = false;
    for (run, _) in runs {
        // In one text a prompt names the host of a test as well; where it does not, the test is another host's.
        if host.is_some() && run.local.name.is_none() && sources.len() == 1 {
            continue;
        }
        let peer = run.peer.host.name.as_deref().unwrap_or(&run.peer.target);
        let is_peer = host.is_some_and(|host| same_host([host, peer]) && run.local.name.as_deref() != Some(host));
        let Some(found) = &mut run.measurement else { continue };
        let place = if is_peer { &mut found.peer_counters } else { &mut found.local_counters };
        let all = place.get_or_insert_with(CounterReadings::default);
        all.values.extend(readings.values.clone());
        all.unreadable.extend(readings.unreadable.clone());
        is_attached = true;
    }
    is_attached
}
