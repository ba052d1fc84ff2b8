//! How much of a contest is run.

/// How much care is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Less than a minute in all.
    Quick,
    /// Less than five.
    Full,
}

impl Effort {
    /// One of two numbers.
    pub(crate) fn choose<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// Which transfers of a contest: those of which the name holds one of these texts, or all where there are none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cases(pub(crate) Vec<String>);

impl Cases {
    pub(crate) fn have(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|text| name.contains(text.as_str()))
    }
}
