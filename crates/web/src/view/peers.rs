//! A host beside those of its kind: what is set otherwise on it.

use audit::Rules;
use audit::compare::{Difference, Match, SharedValue, Side, outliers};
use audit::scope::HostFacts;
use serde::{Deserialize, Serialize};

use crate::source::{Source, SourceError};
use crate::view::round::HostLine;

/// One host beside its peers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeersView {
    /// Name of the host.
    pub name: String,
    /// What its peers have in common with it: `role dtn`, `site west`; absent where all hosts are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The hosts that it is compared with: those whose facts are known.
    pub peers: Vec<String>,
    /// What is set otherwise on it than on most of them, the most telling first.
    pub differences: Vec<OddSetting>,
    /// How many settings are alike on all of them.
    pub alike: usize,
}

/// A setting of a host that its peers have otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OddSetting {
    /// The setting: `net.ipv4.tcp_rmem`, `eth0: ring.rx`.
    pub setting: String,
    /// Its value on this host.
    pub here: String,
    /// The values of the others, each with its hosts.
    pub elsewhere: Vec<PeerValue>,
    /// Rules of the audit that look at it, the most severe first.
    pub rules: Vec<String>,
}

/// A value and the peers that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerValue {
    /// The value, `none` where they have no such thing.
    pub value: String,
    /// The hosts that have it.
    pub hosts: Vec<String>,
}

impl PeersView {
    /// Compares a host with those that have its role, else its site, else with all.
    pub(crate) fn of(name: &str, lines: &[HostLine], known: &KnownHosts<'_>) -> Result<Self, SourceError> {
        let KnownHosts { source, rules } = known;
        let own = source.snapshot(name)?;
        let (group, others) = match kind_of(name, lines) {
            Some(Kind { group, others }) => (Some(group), others),
            None => (None, source.hosts()?.into_iter().filter(|host| host != name).collect()),
        };
        let mut facts = Vec::new();
        for other in others.into_iter().take(MOST_PEERS).filter(|_| own.is_some()) {
            facts.extend(source.snapshot(&other)?.map(|snapshot| (other, HostFacts::of(&snapshot))));
        }
        let peers = facts.iter().map(|(other, _)| other.clone()).collect();
        let none = Self { name: name.to_owned(), group, peers, differences: Vec::new(), alike: 0 };
        let Some(own) = own.filter(|_| !facts.is_empty()) else { return Ok(none) };
        let own = HostFacts::of(&own);
        let sides = facts.iter().map(|(name, facts)| Side { name, facts });
        let sides: Vec<Side<'_>> = std::iter::once(Side { name, facts: &own }).chain(sides).collect();
        let found = outliers(rules, &sides, Match::Role);
        let odd = found.differences.iter().filter_map(|difference| odd_here(name, difference));
        Ok(Self { differences: odd.take(MOST_DIFFERENCES).collect(), alike: found.alike, ..none })
    }
}

/// Where facts of hosts come from, and the rules that look at them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownHosts<'a> {
    pub(crate) source: &'a dyn Source,
    pub(crate) rules: &'a Rules,
}

/// Hosts that are alike, and in what.
struct Kind {
    group: String,
    others: Vec<String>,
}

fn kind_of(name: &str, lines: &[HostLine]) -> Option<Kind> {
    let own = lines.iter().find(|line| line.name == name)?;
    KINDS.into_iter().find_map(|kind| {
        let value = own.attributes.get(kind)?;
        let is_like = |line: &&HostLine| line.name != name && line.attributes.get(kind) == Some(value);
        let others: Vec<String> = lines.iter().filter(is_like).map(|line| line.name.clone()).collect();
        (!others.is_empty()).then(|| Kind { group: format!("{kind} {value}"), others })
    })
}

/// What a host has that is not what most have; [`None`] where it is like most.
fn odd_here(name: &str, difference: &Difference) -> Option<OddSetting> {
    let is_here = |value: &&SharedValue| value.by.iter().any(|host| host == name);
    let here = difference.odd().iter().find(is_here)?;
    let elsewhere = difference.values.iter().rev().filter(|value| *value != here);
    Some(OddSetting {
        setting: difference.key.to_string().replace("feature.", ""),
        here: text(here),
        elsewhere: elsewhere.map(|value| PeerValue { value: text(value), hosts: value.by.clone() }).collect(),
        rules: difference.rules.iter().map(|read| read.rule.clone()).collect(),
    })
}

fn text(value: &SharedValue) -> String {
    value.value.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}

/// What makes hosts alike, in this order.
const KINDS: [&str; 2] = ["role", "site"];
/// Facts of a host are half a megabyte to read.
const MOST_PEERS: usize = 16;
const MOST_DIFFERENCES: usize = 40;
