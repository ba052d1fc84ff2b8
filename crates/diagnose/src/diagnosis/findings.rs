//! What the audit says of each host of a round, with what the round itself tells of rates and round trips.

use std::collections::{BTreeMap, BTreeSet};

use audit::profile::Role;
use audit::report::Answer;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Profile, Rules};
use model::played::Finding;
use model::round::{Endpoint, Member, Round};

use super::own::{self, Beside};
use crate::signs::Flow;

/// Answers of rules, by host.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    hosts: BTreeMap<String, Answers>,
    /// Hosts that send or receive, which others of their kind are compared with. Routers have other settings.
    testing: BTreeSet<String>,
    /// Of these, by rule: for how many it fires, and for how many it could be answered.
    counts: BTreeMap<String, (u32, u32)>,
    /// Hosts whose tests left by devices of software alone.
    without_nic: BTreeSet<String>,
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
        let profiles = profiles(flows);
        let testing: BTreeSet<&str> = profiles.keys().copied().collect();
        let passed: BTreeSet<&str> = passed(flows).chain(profiles.keys().copied()).collect();
        let hosts: BTreeMap<String, Answers> = known
            .iter()
            .map(|host| {
                let name = &host.member.name;
                let mut profile = profiles.get(name.as_str()).cloned().unwrap_or_else(some_profile);
                let carries = carrying(name, round, flows);
                let is_asked = passed.contains(name.as_str()) || !carries.is_empty();
                profile.roles.extend(carries);
                let peers = if is_asked { peers(host, &known) } else { Vec::new() };
                (
                    name.clone(),
                    answers(
                        host,
                        &known,
                        &Measure { profile: &profile, peers: &peers, testing: &testing, flows },
                        rules,
                    ),
                )
            })
            .collect();
        let testing: BTreeSet<String> = testing.into_iter().map(str::to_owned).collect();
        let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        for answers in testing.iter().filter_map(|host| hosts.get(host)) {
            for (rule, fires) in answers.all() {
                let (fired, known) = counts.entry(rule.clone()).or_default();
                (*fired, *known) = (*fired + u32::from(fires), *known + 1);
            }
        }
        Self { hosts, testing, counts, without_nic: without_nic(round) }
    }

    /// Whether all tests of a host left by devices that are no card: those of a namespace or a container.
    #[must_use]
    pub fn has_no_nic(&self, host: &str) -> bool {
        self.without_nic.contains(host)
    }

    /// Whether facts of a host are known.
    #[must_use]
    pub fn knows(&self, host: &str) -> bool {
        self.hosts.contains_key(host)
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

    /// Whether a rule fires for this host alone, of three or more that are tested and could be asked.
    #[must_use]
    pub fn is_only(&self, host: &str, rule: &str) -> bool {
        let (fired, known) = self.counts.get(rule).copied().unwrap_or_default();
        fired == 1 && known >= 3 && self.testing.contains(host) && self.fired(host, rule) == Some(true)
    }

    /// How often a rule fires for the other hosts that are tested.
    #[must_use]
    pub fn usual(&self, host: &str, rule: &str) -> f64 {
        let (mut fired, mut known) = self.counts.get(rule).copied().unwrap_or_default();
        if let Some(own) = self.fired(host, rule).filter(|_| self.testing.contains(host)) {
            (fired, known) = (fired - u32::from(own), known - 1);
        }
        // Before any host was seen a rule fires for one host in ten.
        (f64::from(fired) + 0.1) / (f64::from(known) + 1.0)
    }
}

fn without_nic(round: &Round) -> BTreeSet<String> {
    let runs = round.tests.iter().filter_map(|tested| match &tested.finding {
        Finding::Run(run) => Some((tested, run)),
        _ => None,
    });
    let ends = runs.flat_map(|(tested, run)| [(&tested.from.host, &run.local), (&tested.to.host, &run.peer.host)]);
    let (mut without, mut with) = (BTreeSet::new(), BTreeSet::new());
    for (host, device) in ends.filter_map(|(host, identity)| Some((host, identity.device.as_ref()?))) {
        if device.has_no_nic() { &mut without } else { &mut with }.insert(host.clone());
    }
    without.difference(&with).cloned().collect()
}

fn known(member: &Member) -> Option<Known<'_>> {
    let after = member.after.as_deref().or(member.before.as_deref())?;
    Some(Known { member, before: member.before.as_deref().map(HostFacts::of), after: HostFacts::of(after) })
}

/// What a host is held against.
struct Measure<'a> {
    /// What is wanted of it.
    profile: &'a Profile,
    /// Facts of hosts that should be like it.
    peers: &'a [HostFacts],
    /// Hosts that send or receive.
    testing: &'a BTreeSet<&'a str>,
    /// All of the round.
    flows: &'a [Flow],
}

/// Hosts that flows pass.
fn passed(flows: &[Flow]) -> impl Iterator<Item = &str> {
    flows.iter().flat_map(|flow| flow.way.iter().map(|passage| passage.towards.as_str()))
}

/// Facts of hosts that should be like this one: a few of them say what is usual.
fn peers(host: &Known<'_>, all: &[Known<'_>]) -> Vec<HostFacts> {
    let is_peer = |other: &&Known<'_>| other.member.name != host.member.name && are_alike(other.member, host.member);
    all.iter().filter(is_peer).take(MOST_PEERS).map(|other| other.after.clone()).collect()
}

fn answers(host: &Known<'_>, all: &[Known<'_>], measure: &Measure<'_>, rules: &Rules) -> Answers {
    let Measure { profile, peers, .. } = measure;
    let mut inputs = Inputs::default();
    if let Some(before) = &host.before {
        inputs.add_baseline(&host.after, before);
        inputs.before = Some(before.clone());
    }
    if !peers.is_empty() {
        inputs.add_peers(&host.after, peers);
    }
    let case = Case { host: &host.after, profile, inputs: &inputs, keep: Keep::Everything };
    let report = audit::audit(rules, &case);
    let members = || all.iter().map(|other| other.member);
    let group: Vec<&Member> = members().filter(|other| are_alike(other, host.member)).collect();
    let testing: Vec<&Member> = members().filter(|other| measure.testing.contains(other.name.as_str())).collect();
    let passed = report.others.iter().filter(|other| other.answer == Answer::Pass).map(|other| other.rule.clone());
    let mut answers = Answers {
        fired: report.findings.iter().map(|finding| finding.rule.clone()).collect(),
        passed: passed.collect(),
    };
    let affected = measure.flows.iter().filter(|flow| flow.is_bad());
    let sends: Vec<&Flow> = affected.filter(|flow| flow.sender.host == host.member.name).collect();
    let beside = Beside { group: &group, testing: &testing, sends: &sends };
    for (fact, holds) in own::facts(host.member, &beside) {
        if holds { &mut answers.fired } else { &mut answers.passed }.insert(fact.to_owned());
    }
    answers
}

/// Hosts of one group should be alike.
fn are_alike(one: &Member, other: &Member) -> bool {
    one.attributes.contains_key("group") && one.attributes.get("group") == other.attributes.get("group")
}

impl Answers {
    fn all(&self) -> impl Iterator<Item = (&String, bool)> {
        self.fired.iter().map(|rule| (rule, true)).chain(self.passed.iter().map(|rule| (rule, false)))
    }
}

/// What is wanted of each host that sends or receives, by what its flows should do.
fn profiles(flows: &[Flow]) -> BTreeMap<&str, Profile> {
    let mut profiles: BTreeMap<&str, Profile> = BTreeMap::new();
    for flow in flows {
        for (host, role) in [(&flow.sender.host, Role::Sender), (&flow.receiver.host, Role::Receiver)] {
            let profile = profiles.entry(host).or_insert_with(some_profile);
            profile.target_rate = profile.target_rate.max(flow.wanted());
            profile.rtt = profile.rtt.max(flow.rtt);
            if !profile.roles.contains(&role) {
                profile.roles.push(role);
            }
        }
    }
    profiles
}

/// The roles of a machine in which others live: its own settings decide over what they receive.
fn carrying(name: &str, round: &Round, flows: &[Flow]) -> Vec<Role> {
    let guests = round.members.iter().filter(|member| member.lives_in(name));
    let guests: BTreeSet<&str> = guests.map(|guest| guest.name.as_str()).collect();
    if guests.is_empty() {
        return Vec::new();
    }
    let is_tunnel = |end: &Endpoint| end.network.is_some() && guests.contains(end.host.as_str());
    let has_tunnel = flows.iter().any(|flow| is_tunnel(&flow.sender) || is_tunnel(&flow.receiver));
    if has_tunnel { vec![Role::VmHost, Role::OverlayNode] } else { vec![Role::VmHost] }
}

/// More peers than this are compared with nobody: two of them that are wrong are outvoted still.
const MOST_PEERS: usize = 6;

fn some_profile() -> Profile {
    Profile { streams: Some(1), ..Profile::default() }
}
