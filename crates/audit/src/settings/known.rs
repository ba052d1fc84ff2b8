//! All settings of a host, with what could not be read.

use std::collections::{BTreeMap, BTreeSet};

use model::host::fact::{Fact, Missing};

use super::key::Key;
use super::origin::Origin;
use super::value::Value;

/// What is known of one setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading<'a> {
    /// What it is set to.
    Known(&'a Value),
    /// The host has no such thing: the kernel, the driver or the device lacks it.
    None,
    /// It could not be read. It is neither equal to anything nor different.
    Unknown(&'a Missing),
}

/// All settings of one host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    pub(super) known: BTreeMap<Key, Value>,
    /// By the key of one setting, or of a group: `em1: rings` stands for all of its rings.
    pub(super) unknown: BTreeMap<Key, Missing>,
    /// Network namespaces that could not be entered.
    pub(super) closed: BTreeMap<String, Missing>,
    pub(super) namespaces: BTreeSet<String>,
    /// Why what is not there is not known: only some outputs were saved.
    pub(super) partial: Option<Missing>,
    /// Groups of which something is known, where not everything was read.
    pub(super) groups: BTreeSet<(String, Option<String>, String)>,
    pub(super) origins: BTreeMap<Key, Origin>,
}

impl Settings {
    /// What is known of a setting.
    #[must_use]
    pub fn get(&self, key: &Key) -> Reading<'_> {
        if let Some(value) = self.known.get(key) {
            return Reading::Known(value);
        }
        let group = |device: Option<&str>, name: &str| self.unknown.get(&Key::of(&key.namespace, device, name));
        let device = key.device.as_deref();
        let missing = self
            .unknown
            .get(key)
            .or_else(|| group(device, key.group()))
            // What is not known of a namespace is not known of its devices.
            .or_else(|| device.and_then(|_| group(None, key.group())))
            .or_else(|| self.closed.get(&key.namespace))
            // An output that was saved is whole; of one that was not, nothing is known.
            .or_else(|| {
                let group = (key.namespace.clone(), key.device.clone(), key.group().to_owned());
                self.partial.as_ref().filter(|_| !self.groups.contains(&group))
            });
        missing.map_or(Reading::None, Reading::Unknown)
    }

    /// The settings with a known value, in order.
    pub fn known(&self) -> impl Iterator<Item = (&Key, &Value)> {
        self.known.iter()
    }

    /// Settings, and groups of them, that could not be read, in order.
    pub fn unknown(&self) -> impl Iterator<Item = (&Key, &Missing)> {
        self.unknown.iter()
    }

    /// The network namespaces that were read; the host's own has an empty name.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.iter().map(String::as_str)
    }

    /// Network namespaces that exist and could not be entered, with the reason.
    pub fn closed(&self) -> impl Iterator<Item = (&str, &Missing)> {
        self.closed.iter().map(|(name, why)| (name.as_str(), why))
    }

    /// Which file sets a value at the next start, where one does.
    #[must_use]
    pub fn origin(&self, key: &Key) -> Option<&Origin> {
        self.origins.get(key)
    }

    pub(super) fn put(&mut self, key: Key, text: impl Into<String>) {
        self.known.insert(key, Value::new(text));
    }

    pub(super) fn put_some(&mut self, key: Key, number: Option<impl ToString>) {
        if let Some(number) = number {
            self.put(key, number.to_string());
        }
    }

    /// Adds what is made of a fact. A thing that is not there, or that a driver does not offer, has no settings; what could
    /// not be read is not known.
    pub(super) fn put_fact<T>(&mut self, key: Key, fact: &Fact<T>, text: impl FnOnce(&T) -> String) {
        if let Some(value) = self.value_or_why(&key, fact) {
            self.put(key, text(value));
        }
    }

    /// The value of a fact; where there is none and should be, `key` (a setting or a group) is noted as not known.
    pub(super) fn value_or_why<'f, T>(&mut self, key: &Key, fact: &'f Fact<T>) -> Option<&'f T> {
        match &fact.reading {
            Ok(value) => Some(value),
            Err(Missing::Absent | Missing::Unsupported) => None,
            Err(why) => {
                self.unknown.insert(key.clone(), why.clone());
                None
            }
        }
    }
}

/// Settings from elsewhere than a snapshot; every one of them is known.
impl FromIterator<(Key, Value)> for Settings {
    fn from_iter<I: IntoIterator<Item = (Key, Value)>>(settings: I) -> Self {
        let known: BTreeMap<Key, Value> = settings.into_iter().collect();
        let namespaces = known.keys().map(|key| key.namespace.clone()).collect();
        Self { known, namespaces, ..Self::default() }
    }
}
