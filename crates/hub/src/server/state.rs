//! All that requests share.

use std::sync::Arc;

use linux::clock;
use units::WallTime;

use super::bells::Bells;
use super::counters::Counters;
use super::directory::Opened;
use super::log::Log;
use crate::store::Store;
use crate::trust::authority::Authority;
use crate::trust::pin::Identity;
use crate::trust::ticket::TicketKey;

/// A hub, without its sockets.
#[derive(Debug)]
pub struct Hub {
    /// Authority that signs certificates of agents.
    pub authority: Authority,
    /// The key that signs tickets.
    pub ticket_key: TicketKey,
    /// What it keeps.
    pub store: Box<dyn Store>,
    /// What has happened since its start.
    pub counters: Counters,
    /// What wakes requests that wait.
    pub bells: Bells,
    /// Where it says what a person should see.
    pub log: Log,
    /// The calendar, which tests may set.
    pub calendar: fn() -> WallTime,
}

impl Hub {
    /// A hub of what is in a directory and a database; the identity is what its listener shows.
    #[must_use]
    pub fn new(opened: Opened, store: Box<dyn Store>, log: Log) -> (Arc<Self>, Identity) {
        let Opened { authority, identity, ticket_key, .. } = opened;
        let hub = Self {
            authority,
            ticket_key,
            store,
            counters: Counters::default(),
            bells: Bells::default(),
            log,
            calendar: clock::wall_now,
        };
        (Arc::new(hub), identity)
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> WallTime {
        (self.calendar)()
    }
}
