//! Which rows a statement is about, and what number it makes of them.

use std::collections::BTreeMap;

use stats::summary::Ordered;

use crate::axis;
use crate::experiment::{Cell, Experiment};
use crate::parameter::{ALL, Parameter};
use crate::row::{Measure, Row};
use crate::value::Value;

/// A part of the combinations: those whose settings are among the given ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    variants: Option<Vec<String>>,
    settings: BTreeMap<usize, Vec<Value>>,
}

impl Selection {
    /// Reads `{ rtt = "209ms", burst-start = { from = "3.5s", to = "7s", step = "500ms" } }`. `variant` is a name or a list
    /// of names.
    ///
    /// # Errors
    /// A name or value that is not known, or no combination that has all of them.
    pub fn read(written: &toml::Table, experiment: &Experiment) -> Result<Self, String> {
        let mut selection = Self::default();
        for (name, value) in written {
            if name == "variant" {
                let names: Option<Vec<String>> = match value {
                    toml::Value::String(name) => Some(vec![name.clone()]),
                    toml::Value::Array(names) => names.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
                    _ => None,
                };
                selection.variants = Some(names.ok_or("`variant` is a name or a list of names")?);
                continue;
            }
            let (place, parameter) = Parameter::find(name).ok_or_else(|| format!("`{name}` is no parameter"))?;
            let values = axis::values(parameter, value).map_err(|why| format!("`{name}`: {why}"))?;
            selection.settings.insert(place, values);
        }
        if experiment.cells.iter().any(|cell| selection.has(cell)) {
            Ok(selection)
        } else {
            Err("no transfer of this experiment has all that `where` asks for".to_owned())
        }
    }

    /// Whether a combination belongs to it.
    #[must_use]
    pub fn has(&self, cell: &Cell) -> bool {
        let named =
            self.variants.as_ref().is_none_or(|names| cell.variant.as_ref().is_some_and(|name| names.contains(name)));
        named && self.settings.iter().all(|(place, values)| values.contains(&cell.settings.values()[*place]))
    }

    /// The same with one parameter held to one value.
    #[must_use]
    pub fn with(&self, parameter: &Parameter, value: &Value) -> Self {
        let mut other = self.clone();
        if let Some((place, _)) = Parameter::find(parameter.name) {
            other.settings.insert(place, vec![value.clone()]);
        }
        other
    }

    /// Its parts that have one variant each.
    #[must_use]
    pub fn by_variant(&self, experiment: &Experiment) -> Vec<Self> {
        let mut names: Vec<String> = Vec::new();
        for cell in experiment.cells.iter().filter(|cell| self.has(cell)) {
            names.extend(cell.variant.clone().filter(|name| !names.contains(name)));
        }
        names.into_iter().map(|name| Self { variants: Some(vec![name]), settings: self.settings.clone() }).collect()
    }

    /// The name of its variant, where it has one.
    #[must_use]
    pub fn only_variant(&self) -> Option<&str> {
        if let Some([name]) = self.variants.as_deref() { Some(name) } else { None }
    }

    /// The values that a parameter has in it, by size.
    #[must_use]
    pub fn values(&self, parameter: &Parameter, experiment: &Experiment) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        for cell in experiment.cells.iter().filter(|cell| self.has(cell)) {
            let value = cell.settings.get(parameter.name);
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        values.sort_by(Value::order);
        values
    }

    /// The parameters that have more than one value in it.
    #[must_use]
    pub fn varied(&self, experiment: &Experiment) -> Vec<&'static Parameter> {
        ALL.iter().filter(|parameter| self.values(parameter, experiment).len() > 1).collect()
    }
}

/// All rows of an experiment, by their combination.
#[derive(Debug)]
pub struct Rows<'a> {
    /// Experiment whose combinations the rows belong to.
    pub experiment: &'a Experiment,
    by_cell: Vec<Vec<&'a Row>>,
}

impl<'a> Rows<'a> {
    /// Sorts rows by their combination.
    #[must_use]
    pub fn new(experiment: &'a Experiment, rows: &'a [Row]) -> Self {
        let mut by_cell: Vec<Vec<&Row>> = vec![Vec::new(); experiment.cells.len()];
        for row in rows {
            let cell = experiment.case(row.index).and_then(|case| by_cell.get_mut(case.cell));
            if let Some(rows) = cell {
                rows.push(row);
            }
        }
        Self { experiment, by_cell }
    }

    /// How often a combination was done: the fewest times and the most, of those that were done at all.
    #[must_use]
    pub fn repetitions(&self) -> Option<(usize, usize)> {
        let times = || self.by_cell.iter().map(Vec::len).filter(|times| *times > 0);
        times().min().zip(times().max())
    }

    /// The numbers of a part of the combinations, all together.
    #[must_use]
    pub fn pooled(&self, selection: &Selection, measure: Measure) -> Ordered {
        self.cells(selection).flatten().map(|row| row.get(measure)).collect()
    }

    /// The numbers of each combination of a part, by itself; those without rows are left out.
    #[must_use]
    pub fn each(&self, selection: &Selection, measure: Measure) -> Vec<Ordered> {
        let numbers = self.cells(selection).map(|rows| rows.iter().map(|row| row.get(measure)).collect::<Ordered>());
        numbers.filter(|numbers| !numbers.values().is_empty()).collect()
    }

    fn cells(&self, selection: &Selection) -> impl Iterator<Item = &Vec<&'a Row>> {
        let with_rows = self.experiment.cells.iter().zip(&self.by_cell);
        with_rows.filter(|(cell, _)| selection.has(cell)).map(|(_, rows)| rows)
    }
}

/// What number is made of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The value that half of all rows are at most.
    Median,
    /// The value that 95 of 100 rows are at most.
    P95,
    /// The mean of all rows; of flags the share.
    Mean,
    /// The least of all rows.
    Least,
    /// The most of all rows.
    Most,
    /// The highest of the medians of the combinations.
    HighestMedian,
    /// The lowest of the medians of the combinations.
    LowestMedian,
    /// The mean of the medians of the combinations.
    MeanMedian,
}

impl Statistic {
    /// The number; [`None`] where there are no rows.
    #[must_use]
    pub fn of(self, rows: &Rows<'_>, selection: &Selection, measure: Measure) -> Option<f64> {
        let pooled = || rows.pooled(selection, measure);
        let medians = || rows.each(selection, measure).iter().filter_map(Ordered::median).collect::<Ordered>();
        match self {
            Self::Median => pooled().median(),
            Self::P95 => pooled().quantile(0.95),
            Self::Mean => mean(&pooled()),
            Self::Least => pooled().min(),
            Self::Most => pooled().max(),
            Self::HighestMedian => medians().max(),
            Self::LowestMedian => medians().min(),
            Self::MeanMedian => mean(&medians()),
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::P95 => "95th percentile",
            Self::Mean => "mean",
            Self::Least => "least",
            Self::Most => "most",
            Self::HighestMedian => "highest median",
            Self::LowestMedian => "lowest median",
            Self::MeanMedian => "mean of the medians",
        }
    }
}

/// The mean of a set.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "no experiment has 2^53 rows")]
pub fn mean(numbers: &Ordered) -> Option<f64> {
    let count = numbers.values().len();
    (count > 0).then(|| numbers.values().iter().sum::<f64>() / count as f64)
}
