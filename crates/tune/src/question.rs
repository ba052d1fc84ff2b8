//! What is asked: a path, what is not known of it beforehand, the settings as they are, and what they may become.

use std::collections::BTreeMap;
use std::time::Duration;

use path::Seed;
use path::random::SeededRng;
use serde::Deserialize;
use sweep::Case;
use sweep::case::CaseError;
use sweep::parameter::{ALL, Parameter, ParameterError, Settings};
use sweep::value::Value;

use crate::dial::{self, Dial, Extent};
use crate::distribution::Distribution;
use crate::wanted::Wanted;

/// A question about settings.
#[derive(Debug, Clone)]
pub struct Question {
    /// Name of the question; `tune` where the file gives none.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// All that is known and all that is set now; of what is drawn, one of the values.
    pub base: Settings,
    /// What is drawn for each transfer, by the number of its parameter.
    pub drawn: BTreeMap<usize, Distribution>,
    /// What may be changed.
    pub dials: Vec<Dial>,
    seed: Seed,
}

/// Why nothing can be asked like this.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QuestionError {
    /// The file is not TOML, or has what no question has.
    #[error("{0}")]
    Form(String),
    /// A parameter that is not known, or a value that it cannot have.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A parameter without which nothing can be asked.
    #[error("`{name}` is given nowhere: {why}")]
    Missing {
        /// Name of the parameter, such as `rate`.
        name: &'static str,
        /// What it is needed for.
        why: &'static str,
    },
    /// Nothing may be changed.
    #[error("there is no setting that may be changed")]
    Nothing,
    /// Settings that are no transfer.
    #[error("with {what} this is no transfer: {why}")]
    Case {
        /// What is set.
        what: String,
        /// Why not.
        why: CaseError,
    },
}

/// A question as it is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Written {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    about: String,
    #[serde(default = "first")]
    seed: u64,
    #[serde(default)]
    set: toml::Table,
    #[serde(default)]
    vary: Option<toml::Table>,
}

const fn first() -> u64 {
    1
}

/// The largest file that is read.
pub const LARGEST: usize = 1 << 20;

impl Question {
    /// Reads a question from a file, which may be empty, and what was typed besides, which holds in place of what the file
    /// says.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(text: &str, typed: &Wanted) -> Result<Self, QuestionError> {
        if text.len() > LARGEST {
            return Err(QuestionError::Form("it has more than a mebibyte; no question is as long".to_owned()));
        }
        let written: Written = toml::from_str(text).map_err(|error| QuestionError::Form(error.to_string()))?;
        let mut known: BTreeMap<usize, Distribution> = BTreeMap::new();
        for (place, set) in [("[set]", &written.set), ("what was typed", &typed.set)] {
            for (name, value) in set {
                let (number, parameter) = Parameter::named(place, name)?;
                known.insert(number, distribution(place, parameter, value)?);
            }
        }
        let base = base(&known)?;
        known.retain(|_, distribution| distribution.only().is_none());
        let mut question = Self {
            name: written.name.unwrap_or_else(|| "tune".to_owned()),
            about: written.about,
            base,
            drawn: known,
            dials: Vec::new(),
            seed: Seed(typed.seed.unwrap_or(written.seed)),
        };
        question.check(&question.base, "the settings as they are")?;
        let extent = question.extent()?;
        question.dials = question.dials(written.vary.as_ref(), typed, &extent)?;
        question.check_all()?;
        Ok(question)
    }

    /// What is drawn of a parameter for one transfer.
    pub(crate) fn draw(&self, place: usize, distribution: &Distribution, draw: u64) -> Value {
        // A part for each parameter, so that what is drawn of one does not depend on which others are.
        let seed = self.seed.part(draw).part(DRAWN + place as u64);
        distribution.draw(ALL[place].kind, SeededRng::new(seed).unit())
    }

    /// One transfer.
    #[must_use]
    pub fn case<'a>(&self, settings: &'a Settings, draw: u64) -> Case<'a> {
        Case { index: 0, cell: 0, repetition: 0, seed: self.seed.part(draw), settings }
    }

    /// The settings as they are, or as one of the candidates has them, with nothing drawn.
    #[must_use]
    pub fn with(&self, changes: &[(usize, Value)]) -> Settings {
        let mut values = self.base.values().to_vec();
        for (place, value) in changes {
            values[*place] = value.clone();
        }
        Settings::new(values)
    }

    fn check(&self, settings: &Settings, what: &str) -> Result<(), QuestionError> {
        let check = self.case(settings, 0).check();
        check.map_err(|why| QuestionError::Case { what: what.to_owned(), why })
    }

    /// Each value of each setting, and both ends of all that is drawn, with everything else as it is.
    fn check_all(&self) -> Result<(), QuestionError> {
        let of_dials = self.dials.iter().flat_map(|dial| dial.values.iter().map(|value| (dial.place, value.clone())));
        let of_draws = self.drawn.iter().flat_map(|(place, drawn)| drawn.ends().map(|value| (*place, value)));
        for (place, value) in of_dials.chain(of_draws) {
            let what = format!("`{}` = {value}", ALL[place].name);
            self.check(&self.with(&[(place, value)]), &what)?;
        }
        Ok(())
    }

    fn extent(&self) -> Result<Extent, QuestionError> {
        let missing = |name, why| QuestionError::Missing { name, why };
        let most = |name: &'static str| {
            let drawn = Parameter::find(name).and_then(|(place, _)| self.drawn.get(&place));
            drawn.map_or_else(|| self.base.get(name).clone(), |drawn| drawn.ends()[1].clone())
        };
        let Value::Time(deadline) = most("deadline") else {
            return Err(missing("deadline", "without one no transfer is late"));
        };
        let Value::Bytes(bytes) = most("bytes") else {
            return Err(missing("bytes", "what has a deadline has an end"));
        };
        let (Value::Rate(rate), Value::Time(rtt)) = (most("rate"), most("rtt")) else {
            return Err(missing("rate", "without a path nothing is simulated"));
        };
        Ok(Extent { rate, rtt, bytes, deadline })
    }

    fn dials(
        &self,
        in_file: Option<&toml::Table>,
        typed: &Wanted,
        extent: &Extent,
    ) -> Result<Vec<Dial>, QuestionError> {
        let usual = || toml::Value::String("usual".to_owned());
        let (place, mut vary) = match (typed.vary.is_empty(), in_file) {
            (false, _) => ("--vary", typed.vary.clone()),
            (true, Some(table)) => ("[vary]", table.clone()),
            (true, None) => ("[vary]", dial::usual().map(|name| (name.to_owned(), usual())).collect()),
        };
        for name in &typed.keep {
            Parameter::named("--keep", name)?;
            vary.remove(name);
        }
        let mut dials = Vec::new();
        // In the order of the table of all, whatever that of the file is.
        for (number, parameter) in ALL.iter().enumerate() {
            let Some(written) = vary.remove(parameter.name) else { continue };
            let wrong = |why| parameter.error(place, why);
            if dial::side(parameter).is_none() {
                return Err(wrong(format!("it is no setting; there are {}", list(dial::names()))).into());
            }
            let values = dial::read(parameter, &written, extent).map_err(wrong)?;
            let dial = Dial::new(number, parameter, values, &self.base.values()[number]);
            dials.extend((dial.values.len() > 1).then_some(dial));
        }
        if let Some(name) = vary.keys().next() {
            Parameter::named(place, name)?;
        }
        if dials.is_empty() { Err(QuestionError::Nothing) } else { Ok(dials) }
    }

    /// Where all chance comes from.
    #[must_use]
    pub const fn seed(&self) -> Seed {
        self.seed
    }

    /// The same path with a queue of their own for the bursts; [`None`] where they have one, may get one, or are none.
    #[must_use]
    pub fn with_own_queue(&self) -> Option<Self> {
        let (place, _) = Parameter::find("burst-queue")?;
        let is_shared = *self.base.get("burst-queue") == Value::Word("shared".to_owned());
        let is_drawn = |name| Parameter::find(name).is_some_and(|(place, _)| self.drawn.contains_key(&place));
        let comes = |name| is_drawn(name) || !self.base.get(name).is_none();
        let may_change = self.dials.iter().any(|dial| dial.place == place);
        let base = self.with(&[(place, Value::Word("own".to_owned()))]);
        (is_shared && !may_change && comes("burst-rate") && comes("burst-length"))
            .then(|| Self { base, ..self.clone() })
    }

    /// How long a transfer may take; the least that is drawn.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        if let Value::Time(deadline) = self.base.get("deadline") { *deadline } else { Duration::ZERO }
    }
}

/// The part of a seed that says what is drawn.
const DRAWN: u64 = 0x64_7261_776e_0000;

fn distribution(place: &str, parameter: &Parameter, value: &toml::Value) -> Result<Distribution, ParameterError> {
    let wrong = |why| parameter.error(place, why);
    let distribution = Distribution::read(parameter, value).map_err(wrong)?;
    if distribution.only().is_none() && dial::side(parameter).is_some() {
        let hint = "a setting has one value now; what it may become stands in [vary], or after --vary";
        return Err(wrong(hint.to_owned()));
    }
    Ok(distribution)
}

/// A value for each parameter.
fn base(known: &BTreeMap<usize, Distribution>) -> Result<Settings, QuestionError> {
    let of = |(place, parameter): (usize, &'static Parameter)| {
        let drawn = known.get(&place).map(|distribution| {
            let [least, _] = distribution.ends();
            distribution.only().cloned().unwrap_or(least)
        });
        let missing = QuestionError::Missing { name: parameter.name, why: "without a path nothing is simulated" };
        drawn.or_else(|| parameter.usual_value()).ok_or(missing)
    };
    ALL.iter().enumerate().map(of).collect::<Result<_, _>>().map(Settings::new)
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
