//! One sentence of what a piece of evidence says.

/// A sentence with numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Whether a person would look for its cause.
    pub kind: StatementKind,
    /// The sentence, without a full stop.
    pub says: String,
}

/// What a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatementKind {
    /// Something that was seen outright, or that one change brought and took away: no inference says more.
    Decisive,
    /// Something that should not be.
    Fault,
    /// Something that is as good as it gets, where nothing else is known that it could be held against.
    Well,
    /// A number that helps to judge.
    Fact,
}

impl StatementKind {
    /// Whether a person would look for its cause.
    #[must_use]
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Decisive | Self::Fault)
    }
}

impl Statement {
    pub(super) fn decisive(says: String) -> Self {
        Self { kind: StatementKind::Decisive, says }
    }

    pub(super) fn fault(says: String) -> Self {
        Self { kind: StatementKind::Fault, says }
    }

    pub(super) fn well(says: String) -> Self {
        Self { kind: StatementKind::Well, says }
    }

    pub(super) fn fact(says: String) -> Self {
        Self { kind: StatementKind::Fact, says }
    }
}

/// `3.2 %`, `0.02 %`.
pub(super) fn percent(part: f64) -> String {
    crate::signs::percent(part)
}

#[expect(clippy::cast_precision_loss, reason = "counts of packets are below 2^53")]
pub(super) fn ratio([part, whole]: [u64; 2]) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
