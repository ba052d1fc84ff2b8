//! What a series should have, whatever it usually has: a fault that is as old as the series is nothing that changed.

/// What a series should have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expectation {
    /// It, in the unit of the series.
    pub value: f64,
    /// Where results begin to fall short of it: below, or above where higher is worse.
    pub limit: f64,
}

/// An expectation, and how results compare with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared {
    pub(crate) expectation: Expectation,
    /// What the next result had once it had started, where that is another value.
    pub(crate) settled: Option<f64>,
    /// The latest one.
    pub(crate) latest: f64,
    /// Results in a row that fall short, and that do not.
    pub(crate) short: usize,
    pub(crate) good: usize,
}

/// What results are worse than.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Yardstick {
    /// Those before them.
    History,
    /// What the series should have.
    Expectation,
}

/// An incident of before, as far as it is about one series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenIncident {
    /// When the first bad result was measured.
    pub since_s: i64,
    /// The shift on the scale of the series.
    pub shift: f64,
    /// What results were worse than.
    pub against: Yardstick,
}

/// Results in a row that show that a series is what was expected, or is not.
pub(crate) const SEVERAL: usize = 3;
/// Results in a row that fall short whatever other series say: by then a fault that they have in common has been found, or is as
/// old as they are.
pub(crate) const MANY: usize = 6;
