//! Why there is no page.

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It is not there.
    #[error("there is no {what}")]
    Unknown {
        /// What was asked for.
        what: String,
    },
    /// What was asked for cannot be, as it was asked.
    #[error("{what}")]
    Wrong {
        /// What is wrong.
        what: String,
        /// What can be.
        hint: String,
    },
    /// As much is being worked out as may be at a time.
    #[error("other simulations are being worked out")]
    Busy,
    /// It is being read for the first time.
    #[error("what was measured is being read")]
    Reading,
    /// It is there and cannot be read.
    #[error("{what} cannot be read: {cause}")]
    Broken {
        /// What was asked for.
        what: String,
        /// Why, with all causes.
        cause: String,
    },
}

impl SourceError {
    /// Nothing of that name.
    #[must_use]
    pub fn unknown(what: &str) -> Self {
        Self::Unknown { what: what.to_owned() }
    }

    /// An error of whoever has the data.
    #[must_use]
    pub fn broken(what: &str, error: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(error.source(), |cause| cause.source());
        let cause = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
        Self::Broken { what: what.to_owned(), cause }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { .. } => Some("the list of rounds and runs is at /".to_owned()),
            Self::Wrong { hint, .. } => Some(hint.clone()),
            Self::Busy | Self::Reading => Some("ask again in some seconds".to_owned()),
            Self::Broken { .. } => Some("`linerate runs check` looks for damage in an archive".to_owned()),
        }
    }
}
