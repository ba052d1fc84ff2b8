//! Transfers that were seen and not tested: what `ss` shows of a socket, what a program prints of the files it moved.

use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::Measurement;
use model::run::{Outcome, Peer, Role, Run, RunId};
use model::spec::{Limit, TestSpec};
use units::WallTime;

use super::declared::UserFacts;

/// What is known of one; the rest of a run is what a test would have asked for, and nobody asked.
pub(crate) struct Seen {
    pub(crate) id: RunId,
    pub(crate) at: WallTime,
    /// What ended it.
    pub(crate) limit: Limit,
    pub(crate) local: HostIdentity,
    pub(crate) peer: Peer,
    pub(crate) outcome: Outcome,
    pub(crate) measurement: Measurement,
}

impl Seen {
    /// As a run, with what the user says of the path.
    pub(crate) fn into_run(self, facts: &UserFacts) -> Run {
        Run {
            format: Run::FORMAT,
            id: self.id,
            started: self.at,
            role: Role::Client,
            command: Vec::new(),
            spec: TestSpec {
                limit: self.limit,
                sample_every: Duration::ZERO,
                probe_every: Duration::ZERO,
                ..TestSpec::default()
            },
            declared_line_rate: facts.line_rate,
            declared: facts.declared.clone(),
            batch: None,
            local: self.local,
            peer: self.peer,
            outcome: self.outcome,
            measurement: Some(self.measurement),
        }
    }
}
