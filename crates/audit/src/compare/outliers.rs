//! What is set otherwise on some hosts of several, the most telling first.

use std::collections::BTreeMap;

use super::align::{Aligned, Cell};
use super::readers::Readers;
use super::roles::Match;
use super::{Comparison, Difference, MatchedDevice, NotKnown, ReadBy, SharedValue, Source};
use crate::rule::{Rules, Severity};
use crate::scope::HostFacts;
use crate::settings::{Key, Settings};

/// One of those that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// What it is called: the host's name, with the time where that is needed to tell it from another.
    pub name: &'a str,
    /// Facts of this host, for rules that explain a difference.
    pub facts: &'a HostFacts,
}

/// Compares hosts setting by setting, over all settings that any of them has: the telling one may exist on one kind of
/// hardware only.
#[must_use]
pub fn outliers(rules: &Rules, sides: &[Side<'_>], by: Match) -> Comparison {
    let settings: Vec<&Settings> = sides.iter().map(|side| &side.facts.settings).collect();
    let hosts: Vec<&HostFacts> = sides.iter().map(|side| side.facts).collect();
    let names: Vec<String> = sides.iter().map(|side| side.name.to_owned()).collect();
    let aligned = Aligned::of(&settings, by);
    let readers = Readers::new(rules, &hosts, &aligned, &names);
    let (mut found, mut alike) = (Vec::new(), 0);
    for (key, row) in aligned.rows() {
        match Parted::of(row) {
            None => alike += 1,
            Some(parted) => {
                let rules = readers.of(key, row);
                let score = parted.rarity() * weight(&rules) * parted.clearness();
                let sources = sources(key, &aligned, sides);
                let difference = Difference {
                    key: key.clone(),
                    score,
                    values: parted.held(&names),
                    has_majority: parted.has_majority(),
                    rules,
                    sources,
                };
                found.push((parted, difference));
            }
        }
    }
    lift_what_explains(&mut found);
    let mut differences: Vec<Difference> = found.into_iter().map(|(_, difference)| difference).collect();
    differences.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.key.cmp(&other.key)));
    let unknown = sides.iter().flat_map(not_known).collect();
    Comparison { devices: matched(&aligned, &names), sides: names, differences, unknown, alike }
}

/// For each host the number of a value; none where it is not known, or nothing there could have one.
type Numbers = Vec<Option<usize>>;

/// The hosts by the value they have.
struct Parted<'a> {
    of_host: Numbers,
    /// By number.
    values: Vec<Option<&'a crate::settings::Value>>,
    counts: Vec<usize>,
}

impl<'a> Parted<'a> {
    /// Nothing where all that is known is alike.
    fn of(row: &[Cell<'a>]) -> Option<Self> {
        let mut parted = Self { of_host: Vec::with_capacity(row.len()), values: Vec::new(), counts: Vec::new() };
        for cell in row {
            let value = match cell {
                Cell::Value(value) => Some(*value),
                Cell::Nothing => None,
                Cell::Unknown | Cell::NoPlace => {
                    parted.of_host.push(None);
                    continue;
                }
            };
            let text = |value: Option<&'a crate::settings::Value>| value.map(|value| value.text.as_str());
            let known = parted.values.iter().position(|known| text(*known) == text(value));
            let number = known.unwrap_or_else(|| {
                parted.values.push(value);
                parted.counts.push(0);
                parted.values.len() - 1
            });
            parted.counts[number] += 1;
            parted.of_host.push(Some(number));
        }
        (parted.values.len() > 1).then_some(parted)
    }

    /// How many hosts have the value that most of them have.
    fn most(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    fn has_majority(&self) -> bool {
        self.most() * 2 > self.counts.iter().sum()
    }

    /// How rare the odd values are: the share of the hosts that agree. Where no majority does nothing is odd, and it counts
    /// half.
    #[expect(clippy::cast_precision_loss, reason = "a share of few hosts")]
    fn rarity(&self) -> f64 {
        let share = self.most() as f64 / self.counts.iter().sum::<usize>() as f64;
        if self.has_majority() { share } else { share / 2.0 }
    }

    /// How clearly it parts the hosts: two values do, a value for each host says nothing.
    #[expect(clippy::cast_precision_loss, reason = "a count of few values")]
    fn clearness(&self) -> f64 {
        1.0 / (self.values.len() - 1) as f64
    }

    fn held(&self, names: &[String]) -> Vec<SharedValue> {
        let mut held: Vec<SharedValue> =
            self.values.iter().map(|value| SharedValue { value: value.cloned(), by: Vec::new() }).collect();
        for (number, name) in self.of_host.iter().zip(names) {
            if let Some(number) = number {
                held[*number].by.push(name.clone());
            }
        }
        // The rarest first; of two as rare, in the order of the hosts.
        held.sort_by_key(|held| held.by.len());
        held
    }

    /// Whether hosts that have the same value here have the same there.
    fn decides(&self, other: &[Option<usize>]) -> bool {
        let mut there: Vec<Option<usize>> = vec![None; self.values.len()];
        self.of_host.iter().zip(other).all(|(here, other)| match (here, other) {
            (Some(here), Some(other)) => *there[*here].get_or_insert(*other) == *other,
            // What is not known decides nothing.
            _ => true,
        })
    }
}

/// What a finding of the most severe rule costs, as a weight. What no rule looks at still counts a little.
fn weight(rules: &[ReadBy]) -> f64 {
    match rules.first().map(|rule| rule.severity) {
        Some(Severity::Critical) => 1.0,
        Some(Severity::High) => 0.6,
        Some(Severity::Medium) => 0.35,
        Some(Severity::Low) => 0.2,
        Some(Severity::Info) => 0.1,
        None => 0.05,
    }
}

/// A card of another make, or another kernel, explains what else differs between the same hosts. So it comes right after
/// the most telling of that.
fn lift_what_explains(found: &mut [(Parted<'_>, Difference)]) {
    let mut others: BTreeMap<Option<String>, Vec<(Numbers, f64)>> = BTreeMap::new();
    for (parted, difference) in found.iter().filter(|(_, difference)| explains(&difference.key).is_none()) {
        others.entry(difference.key.device.clone()).or_default().push((parted.of_host.clone(), difference.score));
    }
    for (parted, difference) in found.iter_mut() {
        let Some(share) = explains(&difference.key) else { continue };
        // A value for each host would explain everything.
        let says_something = parted.most() > 1 || parted.of_host.len() == 2;
        let on_device = others.get(&difference.key.device).into_iter().flatten().filter(|_| says_something);
        let explained = on_device.filter(|(other, _)| parted.decides(other)).map(|(_, score)| *score);
        difference.score = explained.fold(difference.score, |best, score| best.max(score * share));
    }
}

/// How near to the most telling difference that it explains a setting comes; none for one that explains nothing.
fn explains(key: &Key) -> Option<f64> {
    match key.name.as_str() {
        "bus.model" => Some(0.99),
        "driver.name" => Some(0.98),
        "machine.kernel" => Some(0.97),
        _ => None,
    }
}

/// The files that set a value, where they do not say the same everywhere.
fn sources(key: &Key, aligned: &Aligned<'_>, sides: &[Side<'_>]) -> Vec<Source> {
    let source = |(index, side): (usize, &Side<'_>)| {
        let device = aligned.device_of(key, index);
        let own = Key::of(&key.namespace, device, key.name.as_str());
        Source { at: side.name.to_owned(), origin: side.facts.settings.origin(&own).cloned() }
    };
    let sources: Vec<Source> = sides.iter().enumerate().map(source).collect();
    let differ = sources.windows(2).any(|pair| pair[0].origin != pair[1].origin);
    if differ { sources } else { Vec::new() }
}

fn matched(aligned: &Aligned<'_>, names: &[String]) -> Vec<MatchedDevice> {
    let mut matched: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        for (_, device, role) in aligned.roles(index).each().filter(|(_, device, role)| device != role) {
            matched.entry(role.to_owned()).or_default().insert(name.clone(), device.to_owned());
        }
    }
    matched.into_iter().map(|(role, names)| MatchedDevice { role, names }).collect()
}

fn not_known(side: &Side<'_>) -> Vec<NotKnown> {
    let settings = &side.facts.settings;
    let closed = settings.closed().map(|(namespace, why)| (Key::of(namespace, None, "namespace"), why));
    let all = settings.unknown().map(|(key, why)| (key.clone(), why)).chain(closed);
    all.map(|(key, why)| NotKnown { at: side.name.to_owned(), key, why: why.to_string() }).collect()
}

#[cfg(test)]
mod tests;
