//! What wakes requests that wait.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// Bells by which whoever has something for an agent wakes its request.
#[derive(Debug, Default)]
pub struct Bells(Mutex<BTreeMap<String, Arc<Notify>>>);

impl Bells {
    /// The bell of an agent.
    #[must_use]
    pub fn of(&self, agent: &str) -> Arc<Notify> {
        let mut bells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bells.entry(agent.to_owned()).or_default())
    }

    /// Wakes the request of an agent, now or when it comes.
    pub fn ring(&self, agent: &str) {
        self.of(agent).notify_one();
    }
}
