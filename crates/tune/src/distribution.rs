//! What is not known before a transfer begins, such as how long a burst will be.

use sweep::axis;
use sweep::parameter::Parameter;
use sweep::value::{QuantityKind, Value};

/// What a parameter may be, and how likely.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Each of these is as likely.
    Each(Vec<Value>),
    /// Anything in between.
    Between {
        /// Lower end, included.
        from: Value,
        /// Upper end.
        to: Value,
        /// How it spreads between them.
        spread: Spread,
    },
}

/// How values spread between two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Evenly.
    Even,
    /// So that as many lie between 1 and 10 as between 10 and 100.
    Log,
}

impl Distribution {
    /// Reads one value, a list, a range with steps, or `{ from, to }` with an optional `spread`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(parameter: &Parameter, written: &toml::Value) -> Result<Self, String> {
        let toml::Value::Table(table) = written else { return axis::values(parameter, written).map(Self::Each) };
        if table.contains_key("step") {
            return axis::values(parameter, written).map(Self::Each);
        }
        if let Some(other) = table.keys().find(|key| !["from", "to", "spread"].contains(&key.as_str())) {
            return Err(format!("what is drawn has `from`, `to` and perhaps `spread` or `step`, and not `{other}`"));
        }
        let end = |name: &str| {
            let value = parameter.read(table.get(name).ok_or_else(|| format!("it has no `{name}`"))?)?;
            let number = value.number().filter(|_| !matches!(parameter.kind, QuantityKind::Flag));
            number.map(|number| (value, number)).ok_or_else(|| "only quantities are drawn between two".to_owned())
        };
        let ((from, least), (to, most)) = (end("from")?, end("to")?);
        if most <= least {
            return Err(format!("{from} is not less than {to}"));
        }
        let spread = match table.get("spread").map(|spread| spread.as_str()) {
            None | Some(Some("even")) => Spread::Even,
            Some(Some("log")) if least > 0.0 => Spread::Log,
            Some(Some("log")) => return Err("a logarithm begins above zero".to_owned()),
            Some(_) => return Err("`spread` is \"even\" or \"log\"".to_owned()),
        };
        Ok(Self::Between { from, to, spread })
    }

    /// The value, where there is only one.
    #[must_use]
    pub fn only(&self) -> Option<&Value> {
        if let Self::Each(values) = self
            && let [value] = values.as_slice()
        {
            return Some(value);
        }
        None
    }

    /// The value for a number from 0 to below 1.
    #[must_use]
    pub fn draw(&self, kind: QuantityKind, unit: f64) -> Value {
        match self {
            Self::Each(values) => {
                #[expect(clippy::cast_precision_loss, reason = "lists are short")]
                let place = unit * values.len() as f64;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the length")]
                values.get(place as usize).or(values.last()).cloned().unwrap_or(Value::None)
            }
            Self::Between { from, to, spread } => {
                let [from, to] = [from, to].map(|end| end.number().unwrap_or(0.0));
                kind.of_number(match spread {
                    Spread::Even => from + unit * (to - from),
                    Spread::Log => from * (to / from).powf(unit),
                })
            }
        }
    }

    /// Its least and its most, for a check of both ends.
    #[must_use]
    pub fn ends(&self) -> [Value; 2] {
        match self {
            Self::Between { from, to, .. } => [from.clone(), to.clone()],
            Self::Each(values) => {
                let by_size = |one: &&Value, two: &&Value| one.order(two);
                [values.iter().min_by(by_size), values.iter().max_by(by_size)]
                    .map(|value| value.cloned().unwrap_or(Value::None))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, written: &str) -> Result<Distribution, String> {
        let table: toml::Table = toml::from_str(&format!("x = {written}")).unwrap();
        Distribution::read(Parameter::find(name).unwrap().1, &table["x"])
    }

    #[test]
    fn draws_lie_where_they_should() {
        let drawn = |name: &str, written: &str, unit| {
            let (_, parameter) = Parameter::find(name).unwrap();
            read(name, written).unwrap().draw(parameter.kind, unit).exact()
        };
        assert_eq!(drawn("burst-length", r#"["25ms", "2s"]"#, 0.49), "25000000ns");
        assert_eq!(drawn("burst-length", r#"["25ms", "2s"]"#, 0.99), "2000000000ns");
        assert_eq!(drawn("burst-length", r#"{ from = "1s", to = "3s" }"#, 0.25), "1500000000ns");
        assert_eq!(drawn("burst-length", r#"{ from = "10ms", to = "1s", spread = "log" }"#, 0.5), "100000000ns");
        assert_eq!(drawn("burst-start", r#"{ from = "1s", to = "3s", step = "1s" }"#, 0.5), "2000000000ns");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        for (name, written, part) in [
            ("burst-length", r#"{ from = "2s", to = "1s" }"#, "is not less"),
            ("burst-length", r#"{ from = "2s" }"#, "no `to`"),
            ("burst-length", r#"{ from = 2, to = 3 }"#, "write a text"),
            ("burst-start", r#"{ from = "0s", to = "3s", spread = "log" }"#, "above zero"),
            ("burst-start", r#"{ from = "0s", to = "3s", spread = 3 }"#, "even"),
            ("burst-start", r#"{ from = "0s", to = "3s", width = 3 }"#, "not `width`"),
            ("congestion", r#"{ from = "a", to = "b" }"#, "only quantities"),
        ] {
            let error = read(name, written).unwrap_err();
            assert!(error.contains(part), "{written}: {error}");
        }
    }
}
