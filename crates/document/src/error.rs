//! What can be wrong with any file that a person writes.

use crate::complaint::Hint;
use crate::nearest;

/// A slip of somebody who writes a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DocumentError {
    /// A key, or a name where only a few may stand, that is not known there.
    #[error("unknown {what} `{name}`")]
    UnknownWord {
        /// A key, an element, a kind.
        what: &'static str,
        /// What stands there.
        name: String,
        /// What may stand there.
        known: Vec<String>,
    },
    /// Not TOML, or a value of the wrong kind.
    #[error("{0}")]
    Syntax(String),
    /// A host, link, overlay or anything else that is named but not defined.
    #[error("no {what} is called `{name}`")]
    Undefined {
        /// What it should be.
        what: &'static str,
        /// Name that the file refers to.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Two things of one name.
    #[error("there is another {what} called `{name}`")]
    Twice {
        /// What they are.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// Not a name that such a thing can have.
    #[error("`{name}` cannot be the name of {what}: {why}")]
    Name {
        /// What it should name.
        what: &'static str,
        /// Name that the file gives to it.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Keys that exclude each other, or of which one is needed.
    #[error("{0}")]
    Keys(&'static str),
    /// A key that things of this kind do not have.
    #[error("{of} has no `{key}`")]
    NotOfKind {
        /// What it is.
        of: String,
        /// Key as the file has it.
        key: String,
        /// The keys it has.
        known: Vec<String>,
    },
    /// A key that things of this kind need.
    #[error("{of} needs `{key}`")]
    Needs {
        /// What it is.
        of: String,
        /// Key that the file does not have.
        key: &'static str,
    },
    /// More than there is room for.
    #[error("{count} {what} are too many: there may be at most {limit}")]
    TooMany {
        /// Hosts, links.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A value outside its range.
    #[error("{value} is not between {from} and {to}")]
    Range {
        /// Number in the file.
        value: f64,
        /// Smallest number that is allowed.
        from: f64,
        /// Largest number that is allowed.
        to: f64,
    },
}

impl DocumentError {
    /// A complaint of the TOML reader in its own words: serde's for unknown keys and variants are taken apart again.
    #[must_use]
    pub fn of_reader(message: &str) -> Self {
        for (opening, what) in [("unknown field `", "key"), ("unknown variant `", "word")] {
            if let Some((name, rest)) = message.strip_prefix(opening).and_then(|rest| rest.split_once('`')) {
                let known = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
                return Self::UnknownWord { what, name: name.to_owned(), known };
            }
        }
        // The same as the reader itself puts it, inside the variant of an element.
        if let Some((name, known)) =
            message.strip_prefix("unexpected keys in table: ").and_then(|rest| rest.split_once(", available keys: "))
        {
            let known = known.split(", ").map(str::to_owned).collect();
            return Self::UnknownWord { what: "key", name: name.to_owned(), known };
        }
        Self::Syntax(message.to_owned())
    }
}

impl Hint for DocumentError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownWord { name, known, .. } | Self::NotOfKind { key: name, known, .. } => {
                suggestion(name, known, "known here")
            }
            Self::Undefined { name, known, .. } => suggestion(name, known, "defined"),
            Self::Name { .. } => Some("use letters, digits and hyphens: `dtn-01`".to_owned()),
            Self::Needs { of, key } => Some(format!("write `{key} = …` for {of}")),
            Self::Syntax(_) | Self::Twice { .. } | Self::Keys(_) | Self::TooMany { .. } | Self::Range { .. } => None,
        }
    }
}

/// The known word that is near to `name`; where none is, all of them behind `which`.
#[must_use]
pub fn suggestion(name: &str, known: &[String], which: &str) -> Option<String> {
    if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
        return Some(format!("did you mean `{near}`?"));
    }
    let listed = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    (!known.is_empty()).then(|| format!("{which}: {listed}"))
}
