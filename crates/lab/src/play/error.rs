//! Why a scenario cannot be played.

use std::io;

use crate::live::LiveError;

/// Why a scenario cannot be played, or not to its end. A test that fails is no such reason: it is a result.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// It does not come up, or not as it is written.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// A program that measures could not be run or understood.
    #[error("the test `{label}` could not be run")]
    Test {
        /// Which test.
        label: String,
        /// What happened.
        source: io::Error,
    },
}
