//! Changes as entries of the log.

use std::collections::BTreeMap;

use archive::changes::watched::WatchedHost;
use audit::compare::Change;
use audit::settings::{Key, Value};
use model::host::change::{Actor, ChangeEntry, ChangeSource};
use units::WallTime;

use super::actors::Acts;

/// How a reading came about.
pub(super) struct Reading<'a> {
    pub(super) host: &'a WatchedHost,
    /// When it was made, or when what led to it was heard.
    pub(super) time: WallTime,
    /// When everything was as it was known before.
    pub(super) after: Option<WallTime>,
    pub(super) source: ChangeSource,
    /// Who acted, by the name of the namespace.
    pub(super) acts: BTreeMap<String, Acts>,
    /// Why it is not known who made a change that came without an event.
    pub(super) why: &'a str,
}

impl Reading<'_> {
    /// The entry of a change.
    pub(super) fn entry(&self, change: &Change) -> ChangeEntry {
        let key = &change.key;
        let found = self.acts.get(&key.namespace).map(|acts| acts.of(key));
        let mut entry = self.note(&fact(key));
        entry.namespace = Some(key.namespace.clone()).filter(|name| !name.is_empty());
        entry.subject.clone_from(&key.device);
        entry.old = change.old.as_ref().map(text);
        entry.new = change.new.as_ref().map(text);
        if let Some((actor, at)) = found.and_then(|found| Some((found.actor, found.at?))) {
            // It was heard, so the moment is known, even where everything was being read.
            (entry.actor, entry.time, entry.after, entry.source) = (actor, at, None, ChangeSource::Watch);
        }
        entry
    }

    /// An entry of something that is no setting.
    pub(super) fn note(&self, fact: &str) -> ChangeEntry {
        let mut entry = ChangeEntry::new(self.time, &self.host.name, fact, self.source);
        entry.boot.clone_from(&self.host.boot);
        // A clock may have been set back while nobody watched.
        entry.after = self.after.map(|after| after.min(self.time));
        entry.actor = Actor::Unknown { reason: self.why.to_owned() };
        entry
    }
}

fn fact(key: &Key) -> String {
    key.as_sysctl().unwrap_or_else(|| key.name.clone())
}

fn text(value: &Value) -> String {
    value.text.clone()
}
