//! The tests of a round, with the facts of its hosts.

use std::collections::BTreeMap;

use model::expectation::{Expectation, How, KnownValue};
use model::host::snapshot::Snapshot;
use model::measurement::Heading;
use model::played::Finding;
use model::round::{Endpoint, Round, Tested};
use model::run::{Role, Run};
use model::spec::Protocol;
use model::target::TargetSource;
use units::DataRate;

use crate::book::{Book, rounded};
use crate::case::{Case, Path};
use crate::target::Targets;

/// The facts of a round by the hosts they are of, and what was reckoned from them.
#[derive(Debug)]
pub struct Expectations<'a> {
    round: &'a Round,
    facts: BTreeMap<&'a str, &'a Snapshot>,
    targets: Targets,
    /// Datagrams sent and lost between two ends, at rates that no queue minds.
    counted: BTreeMap<(&'a Endpoint, &'a Endpoint), (u64, u64)>,
    book: Book,
}

impl<'a> Expectations<'a> {
    /// Those of a round; nothing is reckoned before it is asked for.
    #[must_use]
    pub fn of(round: &'a Round) -> Self {
        let facts = round.members.iter().filter_map(|member| {
            // Before the tests: what changed meanwhile is what is looked for.
            let facts = member.before.as_deref().or(member.after.as_deref())?;
            Some((member.name.as_str(), facts))
        });
        let (facts, targets, counted) = (facts.collect(), Targets::of(round), counted(round));
        Self { round, facts, targets, counted, book: Book::default() }
    }

    /// What each direction of a test should have reached; none of tests that are no transfer over TCP.
    pub fn of_test(&mut self, test: &'a Tested) -> Vec<Expectation> {
        let Finding::Run(run) = &test.finding else { return Vec::new() };
        let cases = self.cases(test, run);
        cases.iter().map(|case| self.book.expectation(case)).collect()
    }

    /// What one direction of it should have reached: that from one end to another.
    pub fn of_direction(&mut self, test: &'a Tested, from: &Endpoint, to: &Endpoint) -> Option<Expectation> {
        let Finding::Run(run) = &test.finding else { return None };
        let is_it = |case: &Case<'_>| ends(test, run, case.total.heading) == (from, to);
        let case = self.cases(test, run).into_iter().find(is_it)?;
        Some(self.book.expectation(&case))
    }

    /// The directions of a test with what the round knows of their ends and their way; none of tests that are no transfer
    /// over TCP.
    #[must_use]
    pub fn cases_of(&self, test: &'a Tested) -> Vec<Case<'a>> {
        if let Finding::Run(run) = &test.finding { self.cases(test, run) } else { Vec::new() }
    }

    fn cases(&self, test: &'a Tested, run: &'a Run) -> Vec<Case<'a>> {
        let cases = Case::all(run).into_iter();
        cases
            .map(|case| {
                let (from, to) = ends(test, run, case.total.heading);
                let facts = |end: &Endpoint| self.facts.get(end.host.as_str()).copied();
                let mut case = case.between(facts(from), facts(to));
                (case.sender.name, case.receiver.name) = (from.to_string(), to.to_string());
                case.path =
                    Path { rate: self.rate(test, case.total.heading), loss: self.loss(from, to), ..Path::default() };
                case
            })
            .collect()
    }

    /// The rate that a direction is judged against, unless the test alone limits it.
    fn rate(&self, test: &Tested, heading: Heading) -> Option<KnownValue<DataRate>> {
        // Tests of the round lie side by side.
        let number = self.round.tests.element_offset(test)?;
        let target = self.targets.get(number, heading).ok()?;
        let how = match target.source {
            TargetSource::Declared => How::Given,
            TargetSource::LinkSpeed => How::Host,
            TargetSource::Baseline
            | TargetSource::SamePair
            | TargetSource::SameHosts
            | TargetSource::ComparablePairs => How::Measured,
            TargetSource::Requested | TargetSource::Model => return None,
        };
        Some(KnownValue::new(target.rate, how, target.from.clone()))
    }

    /// What datagrams between two ends lost.
    fn loss(&self, from: &Endpoint, to: &Endpoint) -> Option<KnownValue<f64>> {
        let counted = self.counted.get(&(from, to)).copied();
        let (sent, lost) = counted.filter(|(sent, lost)| *lost > 0 && lost <= sent)?;
        #[expect(clippy::cast_precision_loss, reason = "counts of datagrams are below 2^53")]
        let part = rounded(lost as f64 / sent as f64, 1e9);
        Some(KnownValue::new(part, How::Measured, format!("{lost} of {sent} datagrams")))
    }
}

fn counted(round: &Round) -> BTreeMap<(&Endpoint, &Endpoint), (u64, u64)> {
    let mut counted: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for test in &round.tests {
        let Finding::Run(run) = &test.finding else { continue };
        let Some(measurement) = run.measurement.as_ref().filter(|_| run.spec.protocol == Protocol::Udp) else {
            continue;
        };
        for total in measurement.totals.iter().filter(|_| is_gentle(run)) {
            let Some(counts) = total.datagrams else { continue };
            let (sent, lost) = counted.entry(ends(test, run, total.heading)).or_default();
            *sent += counts.sent.get();
            *lost += counts.lost.get();
        }
    }
    counted
}

/// Who sent payload, and who received it.
fn ends<'a>(test: &'a Tested, run: &Run, heading: Heading) -> (&'a Endpoint, &'a Endpoint) {
    let outwards = (heading == Heading::Outbound) == (run.role == Role::Client);
    if outwards { (&test.from, &test.to) } else { (&test.to, &test.from) }
}

/// Whether datagrams came at no more than [`GENTLE`] hundredths of what is known of the path.
fn is_gentle(run: &Run) -> bool {
    let asked = run.spec.rate.map(|rate| rate.bps().saturating_mul(u64::from(run.spec.streams.max(1))));
    asked
        .zip(run.declared_line_rate)
        .is_none_or(|(asked, line)| u128::from(asked) * 100 <= u128::from(line.bps()) * GENTLE)
}

const GENTLE: u128 = 60;
