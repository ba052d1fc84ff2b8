//! Change logs of hosts, on the time line of incidents.

use mesh::incident::{Action, ConfigurationChange, IncidentId, Incidents, Occurrence};
use model::host::change::{Actor, ChangeEntry, ChangeSource};

use crate::api::record::content;
use crate::store::rows::StoredRecord;

/// The entry of a record.
pub(super) fn entry(record: &StoredRecord) -> Option<ChangeEntry> {
    content(&record.content).ok()
}

/// An entry as incidents have it.
pub(super) fn configuration(host: &str, entry: &ChangeEntry) -> ConfigurationChange {
    let (what, by) = line(entry);
    ConfigurationChange { host: host.to_owned(), at: entry.time, what, by }
}

/// What was changed, and by whom, in a line each.
#[must_use]
pub fn line(entry: &ChangeEntry) -> (String, Option<String>) {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let what = format!("{}: {} -> {}", setting(entry), value(&entry.old), value(&entry.new));
    let by = match &entry.actor {
        Actor::Process(process) => {
            let command = match (process.command_line.as_slice(), &process.program) {
                ([], Some(program)) => program.clone(),
                ([], None) => "a process".to_owned(),
                (words, _) => words.join(" "),
            };
            Some(format!("{}, pid {}", command.chars().take(LONGEST_COMMAND).collect::<String>(), process.pid))
        }
        Actor::Unknown { .. } if entry.source == ChangeSource::Fix => Some("linerate host fix".to_owned()),
        Actor::Unknown { .. } => None,
    };
    (what, by)
}

fn setting(entry: &ChangeEntry) -> String {
    match &entry.subject {
        Some(subject) => format!("{} of {subject}", entry.fact),
        None => entry.fact.clone(),
    }
}

/// Incidents that a change may fix: of its host, open, and with an earlier change of the same setting before their first bad
/// result, or made by `linerate host fix`. Measurements will say whether it does.
pub(super) fn fixes(incidents: &Incidents, change: &ConfigurationChange, entry: &ChangeEntry) -> Vec<IncidentId> {
    let setting = setting(entry);
    let is_same = |occurrence: &Occurrence| {
        let Occurrence::Configuration { change: earlier, lead_s } = occurrence else { return false };
        let is_setting = earlier.what.strip_prefix(&setting).is_some_and(|rest| rest.starts_with(':'));
        is_setting && *lead_s >= 0 && earlier.host == change.host && earlier.at < change.at
    };
    let may = incidents.list().iter().filter(|incident| {
        let is_of_it =
            incident.status.is_bad() && incident.hosts.contains(&change.host) && incident.opened <= change.at;
        is_of_it && (entry.source == ChangeSource::Fix || incident.timeline.iter().any(|one| is_same(&one.occurrence)))
    });
    may.map(|incident| incident.id.clone()).collect()
}

/// The step that it is.
pub(super) fn fix(change: &ConfigurationChange) -> Action {
    let by = change.by.clone().unwrap_or_else(|| "the change log".to_owned());
    Action::Fix { by, text: format!("{} on {}", change.what, change.host) }
}

/// Arguments of a process beyond this are cut.
const LONGEST_COMMAND: usize = 200;
