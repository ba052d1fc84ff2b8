//! What the audit says of each host of a round, with what the round itself tells of rates and round trips.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use audit::profile::Role;
use audit::report::Answer;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Profile, Rules};
use model::round::{Member, Round};
use units::DataRate;

use super::own;
use crate::signs::Flow;

/// Answers of rules, by host.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    hosts: BTreeMap<String, Answers>,
    /// Hosts that send or receive, which others of their kind are compared with. Routers have other settings.
    testing: BTreeSet<String>,
}

/// What rules say of one host.
#[derive(Debug, Clone, Default)]
struct Answers {
    fired: BTreeSet<String>,
    passed: BTreeSet<String>,
}

/// What is known of a host before it is audited.
struct Known<'a> {
    member: &'a Member,
    before: Option<HostFacts>,
    after: HostFacts,
}

impl Findings {
    /// Asks every rule about every host whose facts the round has.
    #[must_use]
    pub fn of(round: &Round, flows: &[Flow], rules: &Rules) -> Self {
        let known: Vec<Known<'_>> = round.members.iter().filter_map(known).collect();
        let hosts = known.iter().map(|host| {
            let profile = profile(&host.member.name, flows);
            (host.member.name.clone(), answers(host, &known, &profile, rules))
        });
        let testing = flows.iter().flat_map(|flow| [&flow.sender.host, &flow.receiver.host]).cloned().collect();
        Self { hosts: hosts.collect(), testing }
    }

    /// Whether a rule fired for a host; `None` where it could not be answered.
    #[must_use]
    pub fn fired(&self, host: &str, rule: &str) -> Option<bool> {
        let answers = self.hosts.get(host)?;
        if answers.fired.contains(rule) {
            return Some(true);
        }
        answers.passed.contains(rule).then_some(false)
    }

    /// How often a rule fires for the other hosts that are tested.
    #[must_use]
    pub fn usual(&self, host: &str, rule: &str) -> f64 {
        let others = self.testing.iter().filter(|other| *other != host).filter_map(|other| self.fired(other, rule));
        let (fired, all) = others.fold((0.0, 0.0), |(fired, all), one| (fired + f64::from(u8::from(one)), all + 1.0));
        // Before any host was seen a rule fires for one host in ten.
        (fired + 0.1) / (all + 1.0)
    }
}

fn known(member: &Member) -> Option<Known<'_>> {
    let after = member.after.as_deref().or(member.before.as_deref())?;
    Some(Known { member, before: member.before.as_deref().map(HostFacts::of), after: HostFacts::of(after) })
}

fn answers(host: &Known<'_>, all: &[Known<'_>], profile: &Profile, rules: &Rules) -> Answers {
    let mut inputs = Inputs::default();
    if let Some(before) = &host.before {
        inputs.add_baseline(&host.after, before);
        inputs.before = Some(before.clone());
    }
    let peers: Vec<HostFacts> = all
        .iter()
        .filter(|other| other.member.name != host.member.name && are_alike(other.member, host.member))
        .map(|other| other.after.clone())
        .collect();
    if !peers.is_empty() {
        inputs.add_peers(&host.after, &peers);
    }
    let case = Case { host: &host.after, profile, inputs: &inputs, keep: Keep::Everything };
    let report = audit::audit(rules, &case);
    let group: Vec<&Member> = all.iter().map(|other| other.member).filter(|other| are_alike(other, host.member)).collect();
    let passed = report.others.iter().filter(|other| other.answer == Answer::Pass).map(|other| other.rule.clone());
    let mut answers =
        Answers { fired: report.findings.iter().map(|finding| finding.rule.clone()).collect(), passed: passed.collect() };
    for (fact, holds) in own::facts(host.member, &group) {
        if holds { &mut answers.fired } else { &mut answers.passed }.insert(fact.to_owned());
    }
    answers
}

/// Hosts of one group should be alike.
fn are_alike(one: &Member, other: &Member) -> bool {
    one.attributes.contains_key("group") && one.attributes.get("group") == other.attributes.get("group")
}

/// What is wanted of a host, by what its flows should do.
fn profile(host: &str, flows: &[Flow]) -> Profile {
    let own = || flows.iter().filter(|flow| flow.sender.host == host || flow.receiver.host == host);
    let rate: Option<DataRate> = own().filter_map(|flow| flow.wanted).max();
    let rtt: Option<Duration> = own().filter_map(|flow| flow.rtt).max();
    let mut roles = Vec::new();
    if flows.iter().any(|flow| flow.sender.host == host) {
        roles.push(Role::Sender);
    }
    if flows.iter().any(|flow| flow.receiver.host == host) {
        roles.push(Role::Receiver);
    }
    Profile { roles, target_rate: rate, rtt, streams: Some(1), ..Profile::default() }
}
