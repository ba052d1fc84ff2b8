//! Incidents that wait for their explanation.

use std::collections::BTreeSet;
use std::time::Duration;

use mesh::clock;
use mesh::incident::IncidentId;
use units::WallTime;

/// An incident that waits for its explanation.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// Which.
    pub id: IncidentId,
    pub(super) hosts: BTreeSet<String>,
    pub(super) since: WallTime,
    /// When it is looked at next, whatever has come by then.
    pub(super) until: WallTime,
    pub(super) attempts: u32,
}

impl Waiting {
    pub(super) fn new(id: IncidentId, hosts: BTreeSet<String>, now: WallTime) -> Self {
        Self { id, hosts, since: now, until: clock::later(now, PATIENCE), attempts: 0 }
    }
}

/// How long facts of hosts are waited for.
const PATIENCE: Duration = Duration::from_secs(45);
