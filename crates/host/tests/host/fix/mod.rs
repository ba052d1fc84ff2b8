//! Fixes on real settings, in namespaces of the tests' own.

mod kinds;
mod transaction;

use std::path::Path;

use host::fix::Engine;
use model::host::fix::Step;
use model::host::fix::talk::Order;

/// Steps as they are written.
pub fn steps(written: &str) -> Vec<Step> {
    serde_json::from_str(written).unwrap_or_else(|error| panic!("{written}: {error}"))
}

/// A fix that needs no confirmation.
pub fn order(written: &str) -> Order {
    Order { steps: steps(written), reason: "a test".to_owned(), confirm_within_s: None }
}

/// An engine whose journal is in `directory`.
pub fn engine(directory: &Path) -> Engine {
    Engine::open(directory).unwrap().0
}
