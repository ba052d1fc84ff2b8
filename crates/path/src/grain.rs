//! How exact a path has to be.

use std::time::Duration;

/// How coarsely packets come out of a queue, where whoever drives the path can do with less than exact.
///
/// Model: packets of one train come out together if they share less than this time of the link, or less than a sixteenth of the
/// time for which the last that waits will have waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grain {
    /// Time that packets may share, whatever waits.
    pub together: Duration,
}
