//! How an experiment is drawn: what over what, with what was measured elsewhere beside it.

use serde::Deserialize;

use crate::expectation::{measure, number_of};
use crate::experiment::Experiment;
use crate::parameter::Parameter;
use crate::row::Measure;
use crate::selection::{Rows, Selection, Statistic};
use crate::value::{QuantityKind, Value};

/// A figure: panels with curves.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name, which is that of its file.
    pub name: String,
    /// What stands above it.
    pub title: String,
    /// What is drawn.
    pub what: Measure,
    /// What of it, a kind of line each.
    pub statistics: Vec<Statistic>,
    /// Over what.
    pub across: &'static Parameter,
    curves: Option<&'static Parameter>,
    panels: Option<&'static Parameter>,
    of: Selection,
    measured: Vec<Measured>,
}

/// What was measured elsewhere.
#[derive(Debug, Clone, PartialEq)]
struct Measured {
    of: Selection,
    statistic: Statistic,
    says: String,
    points: Vec<(f64, f64)>,
}

/// How a figure is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Written {
    pub(crate) name: String,
    title: String,
    #[serde(default = "took")]
    what: String,
    #[serde(default = "median")]
    statistics: Vec<Statistic>,
    across: String,
    curves: Option<String>,
    panels: Option<String>,
    #[serde(default, rename = "where")]
    of: toml::Table,
    #[serde(default)]
    measured: Vec<WrittenPoints>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WrittenPoints {
    says: String,
    #[serde(rename = "where")]
    of: toml::Table,
    statistic: Statistic,
    points: Vec<(toml::Value, toml::Value)>,
}

fn took() -> String {
    Measure::Took.name().to_owned()
}

fn median() -> Vec<Statistic> {
    vec![Statistic::Median]
}

/// A panel with its curves and points, as numbers of base units.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What is the same in all of it.
    pub title: String,
    /// One for each value of the curves' parameter and each statistic, and the points from elsewhere.
    pub curves: Vec<Curve>,
}

/// A curve, or single points.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What it is.
    pub title: String,
    /// Which statistic it shows.
    pub statistic: Statistic,
    /// Which of the values of the curves' parameter it belongs to.
    pub colour: usize,
    /// Whether it was simulated, and not measured elsewhere.
    pub is_simulated: bool,
    /// Where it goes through.
    pub points: Vec<(f64, f64)>,
}

impl Figure {
    pub(crate) fn read(written: Written, experiment: &Experiment) -> Result<Self, String> {
        let find = |name: &str| {
            Parameter::find(name).map(|(_, parameter)| parameter).ok_or_else(|| format!("`{name}` is no parameter"))
        };
        let (what, across) = (measure(&written.what)?, find(&written.across)?);
        if matches!(across.kind, QuantityKind::Word | QuantityKind::Flag) {
            return Err(format!("`{}` is no quantity; draw across one", across.name));
        }
        if written.name.is_empty() || !written.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err("its name becomes that of a file: letters, digits and hyphens".to_owned());
        }
        let of_points = |points: WrittenPoints| {
            let point = |(x, y): &(toml::Value, toml::Value)| {
                let x = across.read(x)?.number().ok_or("a point lies at a quantity")?;
                Ok((x, number_of(what, y)?))
            };
            let all = points.points.iter().map(point).collect::<Result<Vec<_>, String>>()?;
            Ok(Measured {
                of: Selection::read(&points.of, experiment)?,
                statistic: points.statistic,
                says: points.says,
                points: all,
            })
        };
        Ok(Self {
            what,
            across,
            statistics: written.statistics,
            curves: written.curves.as_deref().map(find).transpose()?,
            panels: written.panels.as_deref().map(find).transpose()?,
            of: Selection::read(&written.of, experiment)?,
            measured: written.measured.into_iter().map(of_points).collect::<Result<_, String>>()?,
            name: written.name,
            title: written.title,
        })
    }

    /// Its panels, with what the rows say.
    #[must_use]
    pub fn panels(&self, rows: &Rows<'_>) -> Vec<Panel> {
        let panel = |(title, part): (String, Selection)| Panel { title, curves: self.curves(rows, &part) };
        split(self.panels, &self.of, rows.experiment)
            .into_iter()
            .map(panel)
            .filter(|panel| !panel.curves.is_empty())
            .collect()
    }

    fn curves(&self, rows: &Rows<'_>, panel: &Selection) -> Vec<Curve> {
        let mut curves = Vec::new();
        for (colour, (title, part)) in split(self.curves, panel, rows.experiment).into_iter().enumerate() {
            // Where nothing else needs colours, each statistic has its own.
            let colour_of = |statistic: Statistic| {
                let place = self.statistics.iter().position(|one| *one == statistic).unwrap_or(0);
                if self.curves.is_none() { place } else { colour }
            };
            let simulated = self.statistics.iter().map(|statistic| {
                let title = if self.statistics.len() > 1 { with(&title, statistic.name()) } else { title.clone() };
                let colour = colour_of(*statistic);
                Curve {
                    title,
                    statistic: *statistic,
                    colour,
                    is_simulated: true,
                    points: self.points(rows, &part, *statistic),
                }
            });
            curves.extend(simulated.filter(|curve| !curve.points.is_empty()));
            let measured = self.measured.iter().filter(|measured| overlap(&measured.of, &part, rows.experiment));
            curves.extend(measured.map(|measured| Curve {
                title: with(&title, &measured.says),
                statistic: measured.statistic,
                colour: colour_of(measured.statistic),
                is_simulated: false,
                points: measured.points.clone(),
            }));
        }
        curves
    }

    fn points(&self, rows: &Rows<'_>, part: &Selection, statistic: Statistic) -> Vec<(f64, f64)> {
        let at =
            |value: &Value| Some((value.number()?, statistic.of(rows, &part.with(self.across, value), self.what)?));
        part.values(self.across, rows.experiment).iter().filter_map(at).collect()
    }
}

fn with(title: &str, more: &str) -> String {
    if title.is_empty() { more.to_owned() } else { format!("{title}, {more}") }
}

/// The parts of a selection in which a parameter has one value each, with that value.
fn split(by: Option<&'static Parameter>, of: &Selection, experiment: &Experiment) -> Vec<(String, Selection)> {
    let Some(parameter) = by else { return vec![(String::new(), of.clone())] };
    let values = of.values(parameter, experiment);
    values.iter().map(|value| (format!("{} {value}", parameter.name), of.with(parameter, value))).collect()
}

/// Whether what was measured belongs to what is drawn.
fn overlap(one: &Selection, two: &Selection, experiment: &Experiment) -> bool {
    experiment.cells.iter().any(|cell| one.has(cell) && two.has(cell))
}
