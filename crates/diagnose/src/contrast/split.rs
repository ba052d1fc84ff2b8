//! Which values of an attribute part bad hosts from good ones.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use stats::association::TwoByTwo;

use super::attribute::{Attribute, Standing};

/// What bad hosts have and good ones have not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Mark {
    /// This value; none where there is no such thing.
    Value {
        /// Value as text, as bad hosts report it.
        value: Option<String>,
    },
    /// A number that is not larger.
    AtMost {
        /// Threshold: bad hosts have this number or a smaller one.
        number: f64,
    },
    /// A number that is not smaller.
    AtLeast {
        /// Threshold: bad hosts have this number or a larger one.
        number: f64,
    },
}

/// How well a mark parts the hosts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Split {
    pub(super) mark: Mark,
    pub(super) table: TwoByTwo,
    /// Share of the bad that have the mark, less the share of the good.
    pub(super) separation: f64,
    /// How unusual the mark is among hosts that are not known to be bad, and how much these agree with each other.
    pub(super) rarity: f64,
    /// The hosts that have it.
    pub(super) marked: Vec<String>,
}

impl Mark {
    fn fits(&self, value: Option<&str>) -> bool {
        match self {
            Self::Value { value: own } => own.as_deref() == value,
            Self::AtMost { number } => value.and_then(number_of).is_some_and(|value| value <= *number),
            Self::AtLeast { number } => value.and_then(number_of).is_some_and(|value| value >= *number),
        }
    }
}

/// The mark that parts the hosts best; none where the attribute is not known of any bad or of any good host.
pub(super) fn best(attribute: &Attribute, standing: &BTreeMap<String, Standing>) -> Option<Split> {
    let bad = attribute.values.iter().filter(|(host, _)| standing.get(*host) == Some(&Standing::Bad));
    let values: Vec<Option<&str>> = bad.map(|(_, value)| value.as_deref()).collect();
    let mut marks: Vec<Mark> = values.iter().map(|value| Mark::Value { value: value.map(str::to_owned) }).collect();
    let numbers = attribute.values.values().all(|value| value.as_deref().and_then(number_of).is_some());
    if numbers && values.len() > 1 {
        let of_bad = || values.iter().filter_map(|value| value.and_then(number_of));
        marks.extend(of_bad().map(|number| Mark::AtMost { number }));
        marks.extend(of_bad().map(|number| Mark::AtLeast { number }));
    }
    let splits = marks.into_iter().filter_map(|mark| split(attribute, standing, mark));
    // Of marks that part alike the first is taken: a value says more than a limit.
    splits.fold(None, |best: Option<Split>, other| match best {
        Some(best) if other.separation * other.rarity <= best.separation * best.rarity + 1e-9 => Some(best),
        _ => Some(other),
    })
}

fn split(attribute: &Attribute, standing: &BTreeMap<String, Standing>, mark: Mark) -> Option<Split> {
    let mut table = TwoByTwo { both: 0, first: 0, second: 0, neither: 0 };
    let (mut marked, mut usual) = (Vec::new(), Vec::new());
    for (host, value) in &attribute.values {
        let value = value.as_deref();
        let fits = mark.fits(value);
        if fits {
            marked.push(host.clone());
        }
        let of = standing.get(host).copied().unwrap_or(Standing::Unknown);
        if of != Standing::Bad {
            usual.push((value, fits));
        }
        match (fits, of) {
            (true, Standing::Bad) => table.both += 1,
            (true, Standing::Good) => table.first += 1,
            (false, Standing::Bad) => table.second += 1,
            (false, Standing::Good) => table.neither += 1,
            (_, Standing::Unknown) => {}
        }
    }
    let (bad, good) = (table.both + table.second, table.first + table.neither);
    if bad == 0 || good == 0 {
        return None;
    }
    let separation = f64::from(table.both) / f64::from(bad) - f64::from(table.first) / f64::from(good);
    Some(Split { mark, table, separation, rarity: rarity(&usual), marked })
}

/// One less the share of the others that have the mark, times the chance that two of the others have the same value: who
/// has a value of his own each time, such as a serial number, separates everybody from everybody.
#[expect(clippy::cast_precision_loss, reason = "counts of hosts")]
fn rarity(usual: &[(Option<&str>, bool)]) -> f64 {
    let all = usual.len() as f64;
    let marked = usual.iter().filter(|(_, fits)| *fits).count() as f64;
    let mut counts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for (value, _) in usual {
        *counts.entry(*value).or_default() += 1;
    }
    let alike: f64 = counts.values().map(|count| (*count as f64 / all).powi(2)).sum();
    (1.0 - marked / all) * alike
}

/// The number that a value is; of several the last and largest limit, as in `4096 131072 6291456`.
fn number_of(value: &str) -> Option<f64> {
    value.split_whitespace().map(|word| word.parse::<f64>().ok()).collect::<Option<Vec<f64>>>()?.last().copied()
}

/// `on`, `at most 512`, `no such thing`.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { value: Some(value) } => f.write_str(value),
            Self::Value { value: None } => f.write_str("no such thing"),
            Self::AtMost { number } => write!(f, "at most {number}"),
            Self::AtLeast { number } => write!(f, "at least {number}"),
        }
    }
}
