//! What an experiment is expected to say, and whether it does.

use serde::Deserialize;

use crate::experiment::Experiment;
use crate::parameter::Parameter;
use crate::row::Measure;
use crate::selection::{Rows, Selection, Statistic};
use crate::value::{QuantityKind, Value};

/// A statement about the rows of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// Name by which the report lists the expectation.
    pub name: String,
    /// The statement in words.
    pub says: String,
    number: Number,
    claim: Claim,
}

/// A number that is made of some rows.
#[derive(Debug, Clone, PartialEq)]
struct Number {
    what: Measure,
    statistic: Statistic,
    of: Selection,
}

#[derive(Debug, Clone, PartialEq)]
enum Claim {
    /// The number lies between two others.
    Lies(Bounds),
    /// So many times another number.
    Ratio(Box<Number>, Bounds),
    /// So much more than another number.
    Difference(Box<Number>, Bounds),
    /// It does not fall while a parameter grows, all others being equal.
    Rises {
        with: &'static Parameter,
        /// The share by which it may fall from one value to the next.
        slack: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Bounds {
    least: Option<f64>,
    most: Option<f64>,
}

/// How an expectation is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Written {
    pub(crate) name: String,
    says: String,
    #[serde(default = "took")]
    what: String,
    #[serde(default = "median")]
    statistic: Statistic,
    #[serde(default, rename = "where")]
    of: toml::Table,
    at_least: Option<toml::Value>,
    at_most: Option<toml::Value>,
    is: Option<toml::Value>,
    within: Option<f64>,
    factor: Option<f64>,
    than: Option<WrittenNumber>,
    ratio_at_least: Option<f64>,
    ratio_at_most: Option<f64>,
    more_at_least: Option<toml::Value>,
    more_at_most: Option<toml::Value>,
    rises_with: Option<String>,
    slack: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WrittenNumber {
    what: Option<String>,
    statistic: Option<Statistic>,
    #[serde(default, rename = "where")]
    of: toml::Table,
}

fn took() -> String {
    Measure::Took.name().to_owned()
}

const fn median() -> Statistic {
    Statistic::Median
}

/// Whether a statement holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Met,
    /// It does not.
    NotMet,
    /// There are no rows that would tell.
    Unknown,
}

/// A statement with what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Whether it holds.
    pub verdict: Verdict,
    /// What should be.
    pub wanted: String,
    /// What is.
    pub found: String,
}

impl Expectation {
    pub(crate) fn read(written: Written, experiment: &Experiment) -> Result<Self, String> {
        let what = measure(&written.what)?;
        let number = Number { what, statistic: written.statistic, of: Selection::read(&written.of, experiment)? };
        let claim = claim(&written, &number, experiment)?;
        Ok(Self { name: written.name, says: written.says, number, claim })
    }

    /// Holds it against rows.
    #[must_use]
    pub fn judge(&self, rows: &Rows<'_>) -> Judged {
        let kind = self.number.what.kind();
        match &self.claim {
            Claim::Rises { with, slack } => self.rises(rows, with, *slack),
            Claim::Lies(bounds) => {
                let found = self.number.in_rows(rows);
                judged(found, bounds, |number| kind.of_number(number).to_string(), "")
            }
            Claim::Ratio(than, bounds) => {
                let (one, two) = (self.number.in_rows(rows), than.in_rows(rows));
                let ratio = one.zip(two).map(|(one, two)| if two == 0.0 { f64::INFINITY } else { one / two });
                judged(ratio, bounds, |number| format!("x{number:.2}"), &of_two(kind, one, two))
            }
            Claim::Difference(than, bounds) => {
                let (one, two) = (self.number.in_rows(rows), than.in_rows(rows));
                let more = one.zip(two).map(|(one, two)| one - two);
                judged(more, bounds, |number| signed(kind, number), &of_two(kind, one, two))
            }
        }
    }

    fn rises(&self, rows: &Rows<'_>, with: &'static Parameter, slack: f64) -> Judged {
        let wanted = format!("rises with {}", with.name);
        let (mut steps, mut falls) = (0_u32, 0_u32);
        let mut worst: Option<(f64, f64, f64, String, String)> = None;
        for series in series(rows, &self.number.of, with) {
            let at = |value| self.number.statistic.of(rows, &series.with(with, value), self.number.what);
            let values = series.values(with, rows.experiment);
            for pair in values.windows(2) {
                let Some((before, after)) = at(&pair[0]).zip(at(&pair[1])) else { continue };
                steps += 1;
                let fall = (before - after) / before.max(f64::MIN_POSITIVE);
                if fall > slack {
                    falls += 1;
                    if worst.as_ref().is_none_or(|(deepest, ..)| fall > *deepest) {
                        worst = Some((fall, before, after, pair[0].to_string(), pair[1].to_string()));
                    }
                }
            }
        }
        let show = |number| self.number.what.kind().of_number(number).to_string();
        let found = match worst {
            None => format!("{steps} of {steps} steps"),
            Some((_, before, after, from, to)) => {
                let (before, after) = (show(before), show(after));
                format!("{} of {steps} steps; falls from {before} at {from} to {after} at {to}", steps - falls)
            }
        };
        let verdict = if steps == 0 {
            Verdict::Unknown
        } else if falls == 0 {
            Verdict::Met
        } else {
            Verdict::NotMet
        };
        Judged { verdict, wanted, found }
    }
}

impl Number {
    fn in_rows(&self, rows: &Rows<'_>) -> Option<f64> {
        self.statistic.of(rows, &self.of, self.what)
    }
}

/// The parts of a selection in which only one parameter is varied.
fn series(rows: &Rows<'_>, of: &Selection, with: &Parameter) -> Vec<Selection> {
    let mut all = if rows.experiment.has_variants() { of.by_variant(rows.experiment) } else { vec![of.clone()] };
    for parameter in of.varied(rows.experiment).into_iter().filter(|parameter| parameter.name != with.name) {
        let split = |part: &Selection| {
            let values = part.values(parameter, rows.experiment);
            values.iter().map(|value| part.with(parameter, value)).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(split).collect();
    }
    all
}

fn judged(found: Option<f64>, bounds: &Bounds, show: impl Fn(f64) -> String, beside: &str) -> Judged {
    let wanted = match (bounds.least, bounds.most) {
        (Some(least), Some(most)) => format!("{} to {}", show(least), show(most)),
        (Some(least), None) => format!("at least {}", show(least)),
        (None, Some(most)) => format!("at most {}", show(most)),
        (None, None) => String::new(),
    };
    let Some(number) = found else {
        return Judged { verdict: Verdict::Unknown, wanted, found: "no rows".to_owned() };
    };
    let within = bounds.least.is_none_or(|least| number >= least) && bounds.most.is_none_or(|most| number <= most);
    let verdict = if within { Verdict::Met } else { Verdict::NotMet };
    Judged { verdict, wanted, found: format!("{}{beside}", show(number)) }
}

fn of_two(kind: QuantityKind, one: Option<f64>, two: Option<f64>) -> String {
    let show =
        |number: Option<f64>| number.map_or_else(|| "nothing".to_owned(), |number| kind.of_number(number).to_string());
    format!(" ({} and {})", show(one), show(two))
}

fn signed(kind: QuantityKind, number: f64) -> String {
    let amount = kind.of_number(number.abs());
    if number < 0.0 { format!("-{amount}") } else { format!("+{amount}") }
}

pub(crate) fn measure(name: &str) -> Result<Measure, String> {
    Measure::find(name).ok_or_else(|| {
        let known = Measure::ALL.map(Measure::name).join(", ");
        format!("`{name}` is no result of a transfer; there are {known}")
    })
}

/// A number of a measure, as it is written.
pub(crate) fn number_of(measure: Measure, written: &toml::Value) -> Result<f64, String> {
    let value = match (measure.kind(), written) {
        (QuantityKind::Share, toml::Value::Float(number)) => Value::Share(*number),
        (kind, written) => kind.read(written)?,
    };
    value.number().ok_or_else(|| format!("`{written}` is no amount"))
}

fn claim(written: &Written, number: &Number, experiment: &Experiment) -> Result<Claim, String> {
    let read = |value: &Option<toml::Value>| value.as_ref().map(|value| number_of(number.what, value)).transpose();
    let than = match &written.than {
        None => None,
        Some(than) => Some(Box::new(Number {
            what: than.what.as_deref().map_or(Ok(number.what), measure)?,
            statistic: than.statistic.unwrap_or(number.statistic),
            of: Selection::read(&than.of, experiment)?,
        })),
    };
    let lies = Bounds { least: read(&written.at_least)?, most: read(&written.at_most)? };
    let ratio = Bounds { least: written.ratio_at_least, most: written.ratio_at_most };
    let more = Bounds { least: read(&written.more_at_least)?, most: read(&written.more_at_most)? };
    let around = around(written, read(&written.is)?)?;
    let mut claims = Vec::new();
    if let Some(bounds) = around {
        claims.push(Claim::Lies(bounds));
    }
    if !lies.is_open() {
        claims.push(Claim::Lies(lies));
    }
    match than {
        Some(than) if !ratio.is_open() => claims.push(Claim::Ratio(than, ratio)),
        Some(than) if !more.is_open() => claims.push(Claim::Difference(than, more)),
        Some(_) => {
            return Err(
                "`than` goes with `ratio-at-least`, `ratio-at-most`, `more-at-least` or `more-at-most`".to_owned()
            );
        }
        None if !(ratio.is_open() && more.is_open()) => {
            return Err("a ratio or a difference is one to `than`".to_owned());
        }
        None => {}
    }
    if let Some(name) = &written.rises_with {
        let (_, with) = Parameter::find(name).ok_or_else(|| format!("`{name}` is no parameter"))?;
        claims.push(Claim::Rises { with, slack: written.slack.unwrap_or(0.0) });
    }
    match <[Claim; 1]>::try_from(claims) {
        Ok([claim]) => Ok(claim),
        Err(claims) if claims.is_empty() => {
            Err("it expects nothing: write `at-least`, `at-most`, `is`, `than` or `rises-with`".to_owned())
        }
        Err(_) => Err("it expects several things; write an [[expect]] for each".to_owned()),
    }
}

fn around(written: &Written, is: Option<f64>) -> Result<Option<Bounds>, String> {
    let bounds = |least, most| Some(Bounds { least: Some(least), most: Some(most) });
    match (is, written.within, written.factor) {
        (None, None, None) => Ok(None),
        (Some(is), Some(share), None) => Ok(bounds(is * (1.0 - share), is * (1.0 + share))),
        (Some(is), None, Some(factor)) if factor >= 1.0 => Ok(bounds(is / factor, is * factor)),
        _ => Err("`is` goes with `within`, a share such as 0.05, or with `factor`, a number of at least 1".to_owned()),
    }
}

impl Bounds {
    const fn is_open(&self) -> bool {
        self.least.is_none() && self.most.is_none()
    }
}
