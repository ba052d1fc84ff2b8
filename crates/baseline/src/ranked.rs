//! A result, or several, against the history of their series.

/// Where a result lies in the history of its own series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rank {
    /// As a standard normal variable, were it one of the history: negative where it is lower than usual.
    pub z: f64,
    /// Its distance from the median of the history, on the scale of the series.
    pub shift: f64,
}
