//! When agents delivered the facts of their hosts last: asked of the database once, since each request for work asks for it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use units::WallTime;

use crate::store::{Store, StoreError};

/// What the database has said of each agent.
#[derive(Debug, Default)]
pub struct NewestFacts(Mutex<BTreeMap<String, WallTime>>);

impl NewestFacts {
    /// Whether an agent has delivered facts that are new enough. Those that have come through another hub since are newer still.
    ///
    /// # Errors
    /// Where the database refuses.
    pub fn are_known(
        &self,
        store: &dyn Store,
        agent: &str,
        is_new: impl Fn(WallTime) -> bool,
    ) -> Result<bool, StoreError> {
        if self.map().get(agent).is_some_and(|newest| is_new(*newest)) {
            return Ok(true);
        }
        let Some(newest) = store.newest_snapshot(agent)? else { return Ok(false) };
        self.map().insert(agent.to_owned(), newest);
        Ok(is_new(newest))
    }

    fn map(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, WallTime>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
