//! What is known of the host, setting by setting, and what a new reading changes in it.

use std::collections::{BTreeMap, BTreeSet};

use archive::changes::watched::WatchedKey;
use audit::compare::{self, Change};
use audit::settings::{Key, Reading, Settings, Value};

use super::besides::{Besides, CARRIER, is_besides, is_mark};
use super::options::Namespaces;

/// Every setting with its last known value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Known {
    values: BTreeMap<Key, String>,
    /// Settings, and groups of them, that could not be read: what is read of them for the first time is no change.
    unread: BTreeSet<Key>,
}

/// A new reading.
pub(super) struct NewReading<'a> {
    pub(super) settings: &'a Settings,
    /// What hosts are not compared by, as far as it was read.
    pub(super) besides: &'a Besides,
    /// Which namespaces were looked for.
    pub(super) reach: Namespaces,
}

/// What a new reading changes.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) changes: Vec<Change>,
    /// For the archive: settings with their value now, [`None`] for those that are gone.
    pub(super) settings: Vec<(WatchedKey, Option<String>)>,
}

impl Known {
    /// What the archive has kept.
    pub(super) fn kept(settings: BTreeMap<WatchedKey, String>) -> Self {
        let mut known = Self::default();
        for (kept, value) in settings {
            let device = Some(kept.subject).filter(|subject| !subject.is_empty());
            match kept.name.strip_prefix(UNREAD) {
                Some(name) => drop(known.unread.insert(Key::of(&kept.namespace, device.as_deref(), name))),
                None => drop(known.values.insert(Key::of(&kept.namespace, device.as_deref(), kept.name), value)),
            }
        }
        known
    }

    /// What a snapshot says.
    pub(super) fn of(settings: &Settings) -> Self {
        let values = settings.known().map(|(key, value)| (key.clone(), value.text.clone()));
        let mut unread: BTreeSet<Key> = settings.unknown().map(|(key, _)| key.clone()).collect();
        // One alone may be the only one, or the only one that was looked at.
        if settings.namespaces().count() + settings.closed().count() < 2 {
            unread.insert(Key::host(NAMESPACE));
        }
        Self { values: values.collect(), unread }
    }

    /// The last known value of a setting.
    pub(super) fn value(&self, key: &Key) -> Option<&String> {
        self.values.get(key)
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Takes in a new reading, except for those settings that `left_out` names: they stay as they were. Tells what
    /// changed. A setting that cannot be read now keeps its last known value.
    pub(super) fn take(&mut self, new: &NewReading<'_>, mut left_out: impl FnMut(&Change) -> bool) -> Difference {
        let before: Settings = self
            .values
            .iter()
            .filter(|(key, _)| !is_besides(key))
            .map(|(key, text)| (key.clone(), Value::new(text.clone())))
            .collect();
        let mut changes = compare::changes(&before, new.settings);
        changes.retain(|change| change.key.name != NAMESPACE);
        changes.retain(|change| change.old.is_some() || !self.was_unread(&change.key));
        changes.extend(self.namespaces(new));
        changes.extend(self.besides(new));
        let left: BTreeSet<Key> =
            changes.iter().filter(|change| left_out(change)).map(|change| change.key.clone()).collect();
        changes.retain(|change| !left.contains(&change.key));
        let after = self.after(new, &left);
        let settings = self.steps_to(&after);
        *self = after;
        Difference { changes, settings }
    }

    fn after(&self, new: &NewReading<'_>, left: &BTreeSet<Key>) -> Self {
        let mut after = Self::of(new.settings);
        match new.reach {
            Namespaces::All => drop(after.unread.remove(&Key::host(NAMESPACE))),
            Namespaces::Own => drop(after.unread.insert(Key::host(NAMESPACE))),
        }
        after.values.extend(new.besides.values.iter().map(|(key, value)| (key.clone(), value.clone())));
        let is_there = |namespace: &str| {
            new.settings.namespaces().chain(new.settings.closed().map(|(name, _)| name)).any(|name| name == namespace)
        };
        for (key, value) in &self.values {
            let stays = left.contains(key)
                || if is_besides(key) {
                    !new.besides.has_read(key) && is_there(&key.namespace)
                } else {
                    matches!(new.settings.get(key), Reading::Unknown(_))
                };
            if stays {
                after.values.insert(key.clone(), value.clone());
            }
        }
        after.values.retain(|key, _| !left.contains(key) || self.values.contains_key(key));
        after
    }

    /// Namespaces that came or went, where all were looked for before and now. One without a name is called by a process
    /// and does not last.
    fn namespaces(&self, new: &NewReading<'_>) -> Vec<Change> {
        if new.reach == Namespaces::Own || self.unread.contains(&Key::host(NAMESPACE)) {
            return Vec::new();
        }
        let lasts = |name: &&str| !name.is_empty() && !name.starts_with("pid:") && !name.starts_with("net:[");
        let before: BTreeSet<&str> = self.values.keys().map(|key| key.namespace.as_str()).filter(lasts).collect();
        let closed = new.settings.closed().map(|(name, _)| name);
        let after: BTreeSet<&str> = new.settings.namespaces().filter(lasts).collect();
        let there = |is_there: bool| is_there.then(|| Value::new("there"));
        let change =
            |name: &str, old: bool| Change { key: Key::of(name, None, NAMESPACE), old: there(old), new: there(!old) };
        // One that cannot be entered any more is there all the same.
        let still: BTreeSet<&str> = after.iter().copied().chain(closed).collect();
        let went = before.difference(&still).map(|name| change(name, true));
        went.chain(after.difference(&before).map(|name| change(name, false))).collect()
    }

    fn besides(&self, new: &NewReading<'_>) -> Vec<Change> {
        let (old, values) = (|key: &Key| self.values.get(key), &new.besides.values);
        // The first reading of a group is no installation of everything.
        let known: BTreeSet<(&str, &str)> = self.values.keys().filter(|key| is_besides(key)).map(group_of).collect();
        let before = self.values.keys().filter(|key| is_besides(key) && new.besides.has_read(key));
        let keys: BTreeSet<&Key> = values.keys().chain(before).collect();
        let value = |text: Option<&String>| text.map(|text| Value::new(text.clone()));
        keys.into_iter()
            .filter(|key| !is_mark(key) && known.contains(&group_of(key)) && old(key) != values.get(key))
            .map(|key| Change { key: key.clone(), old: value(old(key)), new: value(values.get(key)) })
            .filter(|change| is_news(change, new.settings))
            .collect()
    }

    fn was_unread(&self, key: &Key) -> bool {
        let device = key.device.as_deref();
        let group = |device: Option<&str>| self.unread.contains(&Key::of(&key.namespace, device, key.group()));
        self.unread.contains(key) || group(device) || group(None)
    }

    fn steps_to(&self, after: &Self) -> Vec<(WatchedKey, Option<String>)> {
        let changed = after.values.iter().filter(|(key, value)| self.values.get(key) != Some(*value));
        let set = changed.map(|(key, value)| (written(key, ""), Some(value.clone())));
        let gone = self.values.keys().filter(|key| !after.values.contains_key(key)).map(|key| (written(key, ""), None));
        let unread = after.unread.difference(&self.unread).map(|key| (written(key, UNREAD), Some(String::new())));
        let read = self.unread.difference(&after.unread).map(|key| (written(key, UNREAD), None));
        set.chain(gone).chain(unread).chain(read).collect()
    }

    /// Everything, for an archive that has nothing.
    pub(super) fn all_steps(&self) -> Vec<(WatchedKey, Option<String>)> {
        Self::default().steps_to(self)
    }
}

fn written(key: &Key, mark: &str) -> WatchedKey {
    WatchedKey {
        namespace: key.namespace.clone(),
        subject: key.device.clone().unwrap_or_default(),
        name: format!("{mark}{}", key.name),
    }
}

fn group_of(key: &Key) -> (&str, &str) {
    (&key.namespace, key.group())
}

/// What a device has goes with it, and a new one begins to count.
fn is_news(change: &Change, settings: &Settings) -> bool {
    let Some(device) = change.key.device.as_deref() else { return true };
    let has_device = matches!(settings.get(&Key::of(&change.key.namespace, Some(device), "device")), Reading::Known(_));
    match (&change.old, &change.new) {
        (Some(_), None) => has_device && change.key.group() != CARRIER,
        (None, Some(_)) => change.key.group() != CARRIER,
        _ => true,
    }
}

/// The setting that a namespace is there. Among what was not read: that other namespaces were not looked for.
const NAMESPACE: &str = "namespace";

/// Marks in the archive what could not be read; no setting begins so.
const UNREAD: &str = "?";

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(values: &[(&str, &str)]) -> Settings {
        values.iter().map(|(key, value)| (key.parse().unwrap(), Value::new(*value))).collect()
    }

    fn shown(difference: &Difference) -> Vec<String> {
        let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        let one = |change: &Change| format!("{} {} {}", change.key, value(&change.old), value(&change.new));
        difference.changes.iter().map(one).collect()
    }

    fn take(known: &mut Known, now: &Settings) -> Difference {
        known.take(&NewReading { settings: now, besides: &Besides::default(), reach: Namespaces::Own }, |_| false)
    }

    #[test]
    fn change_is_told_once_and_kept_for_the_next_start() {
        let mut known = Known::of(&settings(&[("a", "1"), ("b", "1")]));
        let mut archived: BTreeMap<WatchedKey, String> =
            known.all_steps().into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        let difference = take(&mut known, &settings(&[("a", "2"), ("c", "3")]));
        assert_eq!(shown(&difference), ["a 1 2", "b 1 -", "c - 3"]);
        for (key, value) in difference.settings {
            match value {
                Some(value) => drop(archived.insert(key, value)),
                None => drop(archived.remove(&key)),
            }
        }
        assert_eq!(Known::kept(archived), known);
        assert!(take(&mut known, &settings(&[("a", "2"), ("c", "3")])).changes.is_empty());
    }

    #[test]
    fn what_is_left_out_stays_as_it_was_until_it_is_taken() {
        let mut known = Known::of(&settings(&[("a", "1"), ("b", "1")]));
        let now = settings(&[("a", "2"), ("b", "2"), ("c", "2")]);
        let left = known
            .take(&NewReading { settings: &now, besides: &Besides::default(), reach: Namespaces::Own }, |change| {
                change.key.name != "b"
            });
        assert_eq!(shown(&left), ["b 1 2"]);
        assert_eq!(shown(&take(&mut known, &settings(&[("a", "3"), ("b", "2"), ("c", "2")]))), ["a 1 3", "c - 2"]);
    }

    #[test]
    fn device_that_went_takes_its_settings_along_in_one_change() {
        let with = settings(&[("w: device", "veth"), ("w: link.mtu", "1500"), ("x", "1")]);
        let mut known = Known::of(&with);
        assert_eq!(shown(&take(&mut known, &settings(&[("x", "1")]))), ["w: device veth -"]);
        assert_eq!(known.len(), 1);
        assert_eq!(shown(&take(&mut known, &with)), ["w: device - veth"]);
    }

    #[test]
    fn namespace_comes_and_goes_in_one_change_once_all_were_looked_for() {
        let (alone, both) = (settings(&[("x", "1")]), settings(&[("x", "1"), ("y in blue", "1"), ("y in pid:7", "1")]));
        let mut known = Known::of(&alone);
        let mut take = |now: &Settings, reach| {
            shown(&known.take(&NewReading { settings: now, besides: &Besides::default(), reach }, |_| false))
        };
        assert!(take(&both, Namespaces::All).is_empty(), "nobody looked before");
        assert_eq!(take(&alone, Namespaces::All), ["namespace in blue there -"]);
        assert_eq!(take(&both, Namespaces::All), ["namespace in blue - there"]);
        assert!(take(&alone, Namespaces::Own).is_empty(), "nobody looks now");
        assert!(take(&both, Namespaces::All).is_empty());
    }

    #[test]
    fn packages_are_compared_where_they_were_read_and_not_taken_for_new_the_first_time() {
        let now = settings(&[("a", "1")]);
        let mut known = Known::of(&now);
        let package = |version: &str| [(Key::host("package.tuned"), version.to_owned())].into();
        let mut take = |besides: Option<BTreeMap<Key, String>>| {
            shown(&known.take(
                &NewReading {
                    settings: &now,
                    besides: &besides.map(Besides::of).unwrap_or_default(),
                    reach: Namespaces::Own,
                },
                |_| false,
            ))
        };
        assert!(take(Some(package("2.1"))).is_empty());
        assert!(take(None).is_empty());
        assert_eq!(take(Some(package("2.2"))), ["package.tuned 2.1 2.2"]);
        assert_eq!(take(Some(BTreeMap::new())), ["package.tuned 2.2 -"]);
    }
}
