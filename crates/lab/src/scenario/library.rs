//! The scenarios that come with the program: the files of `scenarios/`.

use super::source::Source;
use super::{Scenario, ScenarioError, read};

/// A scenario of the library.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

impl Entry {
    /// Reads it.
    ///
    /// # Errors
    /// See [`ScenarioError`].
    pub fn load(&self) -> Result<Scenario, ScenarioError> {
        let file = format!("scenarios/{}.toml", self.name);
        read::scenario(self.name.to_owned(), Source { file, text: self.text.to_owned() })
    }
}

/// All of them, by name.
#[must_use]
pub fn library() -> &'static [Entry] {
    ENTRIES
}

macro_rules! entries {
    ($($name:literal,)*) => {
        &[$(Entry { name: $name, text: include_str!(concat!("../../../../scenarios/", $name, ".toml")) },)*]
    };
}

/// A test holds this list and the folder together.
const ENTRIES: &[Entry] = entries!["healthy-100ms", "healthy-lan", "random-loss-1e-4",];
