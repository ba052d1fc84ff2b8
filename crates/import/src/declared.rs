//! What the user declares.

use model::run::Declared;
use units::DataRate;

/// What the user declares for all runs of the files.
#[derive(Debug, Clone, Default)]
pub struct UserFacts {
    /// Facts of the path and of the sender.
    pub declared: Declared,
    /// The line rate of the path.
    pub line_rate: Option<DataRate>,
}
