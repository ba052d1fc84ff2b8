//! What is seen of gateways, as answers to the questions of [`sign`](super::sign).

use super::history::History;
pub use super::sign::*;
use super::{occupancy, requests};

/// All that is seen. A question whose numbers nobody reported has no answer.
#[must_use]
pub fn of(histories: &[History]) -> Vec<Observed> {
    let mut observed = requests::observed(histories);
    observed.extend(occupancy::observed(histories));
    observed
}
