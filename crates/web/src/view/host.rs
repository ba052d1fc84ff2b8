//! Facts, findings and changes of a host.

use audit::profile::Role;
use audit::report::Report;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Profile, Rules, audit};
use model::host::change::LoggedChange;
use model::host::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

use crate::source::{Source, SourceError};

/// One host, as its page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostView {
    /// Name of the host, as the plan or its kernel has it.
    pub name: String,
    /// Its newest facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Snapshot>,
    /// What the rules of the audit say of them, for a host that moves bulk data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Report>,
    /// What changed on it, the oldest first.
    pub changes: Vec<LoggedChange>,
}

impl HostView {
    pub(crate) fn of(source: &dyn Source, name: &str, rules: &Rules) -> Result<Self, SourceError> {
        let snapshot = source.snapshot(name)?;
        let changes = source.changes(name, MOST_CHANGES)?;
        if snapshot.is_none() && changes.is_empty() && !source.hosts()?.iter().any(|host| host == name) {
            return Err(SourceError::unknown(&format!("host {name}")));
        }
        let audited = snapshot.as_deref().map(|snapshot| {
            let mut inputs = Inputs::default();
            inputs.add_log(&changes);
            let (host, profile) = (HostFacts::of(snapshot), profile(source, name));
            audit(rules, &Case { host: &host, profile: &profile, inputs: &inputs, keep: Keep::Findings })
        });
        Ok(Self { name: name.to_owned(), facts: snapshot.as_deref().cloned(), audit: audited, changes })
    }
}

/// What a host does, as far as the newest round tells: a machine in which others live is one of virtual machines, and what
/// they carry between them is not seen from it.
fn profile(source: &dyn Source, name: &str) -> Profile {
    let newest = source.rounds(1).ok().and_then(|rounds| source.round(rounds.first()?.id).ok());
    let has_guests = newest.is_some_and(|round| round.members.iter().any(|member| member.lives_in(name)));
    let roles = if has_guests { vec![Role::Dtn, Role::VmHost, Role::OverlayNode] } else { Vec::new() };
    Profile { roles, ..Profile::default() }
}

const MOST_CHANGES: u32 = 1_000;
