//! From attributes of hosts to a ranking, and what to try.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::attribute::{Attribute, Standing};
use super::class::{Class, Classes, Effort};
use super::split::{self, Mark, Split};

/// Which attributes separate bad hosts from good ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contrast {
    /// The bad hosts.
    pub bad: Vec<String>,
    /// The good ones.
    pub good: Vec<String>,
    /// The attributes, the one to try first before all others. What can only be a sign of another follows that one.
    pub separators: Vec<Separator>,
    /// How many distinct ways of parting the hosts were looked at; each is a chance to be wrong.
    pub ways: usize,
    /// The least p that so many bad and good hosts can ever give; one bad host among n can give no less than 1/n.
    pub least_p: f64,
    /// What to do next; none where nothing separates them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Flip>,
}

/// An attribute that separates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Separator {
    /// Whole name, with the device where it has one: `fastest NIC: feature.rx-gro-hw`.
    pub name: String,
    /// What bad hosts have.
    pub mark: Mark,
    /// What most of the good hosts have; none where that is no such thing.
    pub usual: Option<String>,
    /// The kind of setting that it is.
    pub class: String,
    /// Why that kind has the prior that it has.
    pub because: String,
    /// Separation x rarity x prior, by which the attributes are ranked.
    pub score: f64,
    /// Share of the bad that have the mark, less the share of the good.
    pub separation: f64,
    /// How unusual the mark is among the others, and how much these agree.
    pub rarity: f64,
    /// How likely that kind of setting is to cost rate where it differs.
    pub prior: f64,
    /// The probability that chance separates these hosts at least as well (Fisher's exact test, one-sided).
    pub p: f64,
    /// Whether that is so improbable, after all ways of parting the hosts that were looked at, that it is no chance.
    pub is_significant: bool,
    /// Bad hosts without the mark and good hosts with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<String>,
    /// The attribute of which this one is a sign: it parts the hosts in the same way and nobody can turn it back and forth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_of: Option<String>,
    /// How many other attributes part the hosts in exactly this way. Measurements cannot tell these apart; a change can.
    pub ties: usize,
}

/// One change that decides: made, tested, undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flip {
    /// On which host.
    pub host: String,
    /// What is changed.
    pub attribute: String,
    /// From this; none where there is no such thing.
    pub from: Option<String>,
    /// To this.
    pub to: Option<String>,
    /// What it takes.
    pub effort: Effort,
}

/// Ranks the attributes by how well they separate bad hosts from good ones. Hosts that `standing` does not name are
/// unknown.
#[must_use]
pub fn contrast(attributes: &[Attribute], standing: &BTreeMap<String, Standing>, classes: &Classes) -> Contrast {
    let found: Vec<Found<'_>> =
        attributes.iter().filter_map(|attribute| Found::of(attribute, standing, classes)).collect();
    let ways = found.iter().map(|found| &found.split.marked).collect::<BTreeSet<_>>().len();
    let mut separators: Vec<(Separator, &Found<'_>)> =
        found.iter().map(|each| (each.separator(&found, standing, ways), each)).collect();
    separators.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
    let next = separators.iter().find(|(separator, _)| separator.proxy_of.is_none());
    let next = next.and_then(|(separator, found)| found.flip(separator, standing));
    let with = |wanted: Standing| {
        standing.iter().filter(|(_, standing)| **standing == wanted).map(|(host, _)| host.clone()).collect::<Vec<_>>()
    };
    let (bad, good) = (with(Standing::Bad), with(Standing::Good));
    let number = |hosts: &[String]| u32::try_from(hosts.len()).unwrap_or(u32::MAX);
    let perfect =
        stats::association::TwoByTwo { both: number(&bad), first: 0, second: 0, neither: number(&good) }.fisher_p();
    let separators = signs_after_what_they_show(separators.into_iter().map(|(separator, _)| separator).collect());
    Contrast { least_p: perfect, separators, ways, next, bad, good }
}

/// An attribute with the mark that parts the hosts best.
struct Found<'a> {
    attribute: &'a Attribute,
    class: &'a Class,
    split: Split,
    score: f64,
}

impl<'a> Found<'a> {
    fn of(attribute: &'a Attribute, standing: &BTreeMap<String, Standing>, classes: &'a Classes) -> Option<Self> {
        let split = split::best(attribute, standing)?;
        let class = classes.of(&attribute.setting)?;
        let score = split.separation * split.rarity * class.prior;
        (score > 0.0).then_some(Self { attribute, class, split, score })
    }

    fn separator(&self, all: &[Self], standing: &BTreeMap<String, Standing>, ways: usize) -> Separator {
        let alike = || all.iter().filter(|other| other.split.marked == self.split.marked);
        let p = self.split.table.fisher_p();
        let holds = |wanted: Standing, host: &String| standing.get(host) == Some(&wanted);
        let against = self.attribute.values.keys().filter(|host| {
            let marked = self.split.marked.contains(host);
            (marked && holds(Standing::Good, host)) || (!marked && holds(Standing::Bad, host))
        });
        let shown = alike().filter(|other| other.class.change != Effort::Hardware);
        let shown =
            shown.max_by(|a, b| a.score.total_cmp(&b.score).then_with(|| b.attribute.name.cmp(&a.attribute.name)));
        #[expect(clippy::cast_precision_loss, reason = "a count of attributes")]
        let is_significant = p * ways as f64 <= SIGNIFICANT;
        Separator {
            name: self.attribute.name.clone(),
            mark: self.split.mark.clone(),
            usual: self.usual(standing),
            class: self.class.name.clone(),
            because: self.class.because.clone(),
            score: self.score,
            separation: self.split.separation,
            rarity: self.split.rarity,
            prior: self.class.prior,
            p,
            is_significant,
            against: against.cloned().collect(),
            proxy_of: shown.filter(|_| self.class.change == Effort::Hardware).map(|other| other.attribute.name.clone()),
            ties: alike().count() - 1,
        }
    }

    /// What most good hosts have.
    fn usual(&self, standing: &BTreeMap<String, Standing>) -> Option<String> {
        let mut counts: BTreeMap<&Option<String>, usize> = BTreeMap::new();
        let unmarked = self.attribute.values.iter().filter(|(host, _)| !self.split.marked.contains(host));
        for (_, value) in unmarked.filter(|(host, _)| standing.get(*host) == Some(&Standing::Good)) {
            *counts.entry(value).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).and_then(|(value, _)| value.clone())
    }

    fn flip(&self, separator: &Separator, standing: &BTreeMap<String, Standing>) -> Option<Flip> {
        let host = self.split.marked.iter().find(|host| standing.get(*host) == Some(&Standing::Bad))?;
        Some(Flip {
            host: host.clone(),
            attribute: separator.name.clone(),
            from: self.attribute.values.get(host).cloned().flatten(),
            to: separator.usual.clone(),
            effort: self.class.change,
        })
    }
}

/// Each sign right after what it is a sign of.
fn signs_after_what_they_show(ranked: Vec<Separator>) -> Vec<Separator> {
    let (signs, own): (Vec<Separator>, Vec<Separator>) =
        ranked.into_iter().partition(|separator| separator.proxy_of.is_some());
    let mut ordered = Vec::with_capacity(signs.len() + own.len());
    for separator in own {
        let name = separator.name.clone();
        ordered.push(separator);
        ordered.extend(signs.iter().filter(|sign| sign.proxy_of.as_ref() == Some(&name)).cloned());
    }
    ordered
}

/// The probability of a chance that is taken for none.
const SIGNIFICANT: f64 = 0.05;
