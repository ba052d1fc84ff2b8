//! The settings of a host: all facts of a snapshot that somebody sets, in one flat list.
//!
//! What changes by itself is not among them: counters, addresses, limits of the moment, numbers that a boot gives out. So
//! two lists differ only where somebody, or an installation, made a difference. A list of what is taken stands here in the
//! code, never one of what is left out: comparing everything was given up elsewhere as noise.
//!
//! * `key`: the name of a setting
//! * `whole`: settings of the host as a whole
//! * `namespace`: sysctls and routes
//! * `device`: link, driver, offloads; `queueing`: disciplines, queues, interrupts
//! * `boot`: what files set at the next start

mod boot;
mod device;
mod key;
mod namespace;
mod queueing;
mod whole;

use std::collections::{BTreeMap, BTreeSet};

use model::host::fact::{Fact, Missing};
use model::host::snapshot::{CollectionMethod, Snapshot};
use serde::{Deserialize, Serialize};

pub use boot::Origin;
pub(crate) use device::PHYSICAL;
pub use key::{Key, NotAKey};

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Value {
    /// As people write it: `on`, `9000`, `4096 131072 6291456`.
    pub text: String,
    /// Whether nobody can set it on this host: a feature that the hardware has not or always has.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fixed: bool,
}

/// What is known of one setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading<'a> {
    /// Its value.
    Known(&'a Value),
    /// The host has no such thing: the kernel, the driver or the device lacks it.
    None,
    /// It could not be read. It is neither equal to anything nor different.
    Unknown(&'a Missing),
}

/// All settings of one host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    known: BTreeMap<Key, Value>,
    /// By the key of one setting, or of a group: `em1: rings` stands for all of its rings.
    unknown: BTreeMap<Key, Missing>,
    /// Network namespaces that could not be entered.
    closed: BTreeMap<String, Missing>,
    namespaces: BTreeSet<String>,
    /// Why what is not there is not known: only some outputs were saved.
    partial: Option<Missing>,
    /// Groups of which something is known, where not everything was read.
    groups: BTreeSet<(String, Option<String>, String)>,
    origins: BTreeMap<Key, Origin>,
}

impl Settings {
    /// The settings that a snapshot holds.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut settings = Self::default();
        whole::add(&mut settings, snapshot);
        for (index, each) in snapshot.namespaces.iter().enumerate() {
            let name = if index == 0 { String::new() } else { namespace::name(each) };
            namespace::add(&mut settings, &name, each, snapshot);
            settings.namespaces.insert(name);
        }
        for closed in &snapshot.closed_namespaces {
            settings.closed.insert(closed.name.clone(), Missing::Failed { reason: closed.reason.clone() });
        }
        boot::add(&mut settings, snapshot);
        if matches!(snapshot.way, CollectionMethod::SavedOutputs | CollectionMethod::Sosreport) {
            let group = |key: &Key| (key.namespace.clone(), key.device.clone(), key.group().to_owned());
            settings.groups = settings.known.keys().map(group).collect();
            settings.partial = Some(Missing::Failed { reason: "not among what was saved".to_owned() });
        }
        settings
    }

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

    fn put(&mut self, key: Key, text: impl Into<String>) {
        self.known.insert(key, Value::new(text));
    }

    fn put_some(&mut self, key: Key, number: Option<impl ToString>) {
        if let Some(number) = number {
            self.put(key, number.to_string());
        }
    }

    /// Adds what is made of a fact. A thing that is not there, or that a driver does not offer, has no settings; what could
    /// not be read is not known.
    fn put_fact<T>(&mut self, key: Key, fact: &Fact<T>, text: impl FnOnce(&T) -> String) {
        if let Some(value) = self.value_or_why(&key, fact) {
            self.put(key, text(value));
        }
    }

    /// The value of a fact; where there is none and should be, `key` (a setting or a group) is noted as not known.
    fn value_or_why<'f, T>(&mut self, key: &Key, fact: &'f Fact<T>) -> Option<&'f T> {
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

impl Value {
    /// A value that can be set.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), fixed: false }
    }

    /// Whether both say the same. That nobody can set a value is no difference: `off [fixed]` is as off as `off`.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.text.is_empty() { "(empty)" } else { &self.text })?;
        f.write_str(if self.fixed { " [fixed]" } else { "" })
    }
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

/// Several values that are mostly the same: `performance`, or `powersave (3), performance (29)`, the fewest first.
fn counted<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| *count);
    match counts.as_slice() {
        [(only, _)] => (*only).to_owned(),
        several => several.iter().map(|(value, count)| format!("{value} ({count})")).collect::<Vec<_>>().join(", "),
    }
}

// The shape that serde asks for.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests;
