//! Facts of hardware that a lab host does not have (docs/formats/recorded-facts.md): they take the place of what the
//! kernel says of the host, and name their file as their source.

use std::collections::BTreeMap;
use std::path::Path;

use model::host::fact::{Fact, Source};
use model::host::interface::Interface;
use model::host::interface::driver::{Bus, Driver};
use model::host::interface::tuning::{Feature, Rings};
use model::host::snapshot::{Anomaly, Snapshot};
use serde::Deserialize;

use crate::files::read_bounded;

/// The environment variable that names the file.
pub const VARIABLE: &str = "LINERATE_RECORDED_FACTS";

/// Facts of a host's interfaces.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedFacts {
    /// By the name of the device.
    #[serde(default)]
    interfaces: BTreeMap<String, RecordedInterface>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedInterface {
    driver: Option<Driver>,
    bus: Option<Bus>,
    rings: Option<Rings>,
    #[serde(default)]
    features: BTreeMap<String, Feature>,
    #[serde(default)]
    counters: BTreeMap<String, u64>,
    #[serde(default)]
    driver_counters: BTreeMap<String, u64>,
}

/// Why recorded facts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// The file cannot be read.
    #[error("cannot read the recorded facts in {path}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{path} holds no recorded facts: {message}")]
    Malformed {
        /// The file.
        path: String,
        /// What is wrong, and where.
        message: String,
    },
}

/// Puts the facts recorded in the file `path` in the place of those of the snapshot's own namespace.
///
/// # Errors
/// See [`RecordedError`].
pub fn overlay(snapshot: &mut Snapshot, path: &Path) -> Result<(), RecordedError> {
    let shown = path.display().to_string();
    let bytes = read_bounded(path).map_err(|source| RecordedError::Unreadable { path: shown.clone(), source })?;
    let malformed = |message: String| RecordedError::Malformed { path: shown.clone(), message };
    let facts = parse(&bytes).map_err(malformed)?;
    let source = Source::recorded(&shown);
    for (name, recorded) in facts.interfaces {
        let own = snapshot.namespaces.first_mut().into_iter().flat_map(|namespace| &mut namespace.interfaces);
        match own.into_iter().find(|interface| interface.name == name) {
            Some(interface) => recorded.put_into(interface, &source),
            None => snapshot.anomalies.push(Anomaly {
                file: shown.clone(),
                line: None,
                reason: format!("there is no interface `{name}`"),
            }),
        }
    }
    Ok(())
}

/// Reads recorded facts.
///
/// # Errors
/// What is wrong, and where.
pub fn parse(bytes: &[u8]) -> Result<RecordedFacts, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
}

impl RecordedInterface {
    fn put_into(self, interface: &mut Interface, source: &Source) {
        replace(&mut interface.driver, self.driver, source);
        replace(&mut interface.bus, self.bus, source);
        replace(&mut interface.rings, self.rings, source);
        extend(&mut interface.features, self.features, source);
        extend(&mut interface.counters, self.counters, source);
        extend(&mut interface.driver_counters, self.driver_counters, source);
    }
}

fn replace<T>(fact: &mut Fact<T>, recorded: Option<T>, source: &Source) {
    if let Some(value) = recorded {
        *fact = Fact::known(value, source.clone());
    }
}

/// Those that are not recorded stay as they were read, and the source says so.
fn extend<T>(fact: &mut Fact<BTreeMap<String, T>>, recorded: BTreeMap<String, T>, source: &Source) {
    if recorded.is_empty() {
        return;
    }
    let before = std::mem::replace(&mut fact.reading, Ok(BTreeMap::new()));
    let mut values = before.unwrap_or_default();
    fact.source =
        if values.is_empty() { source.clone() } else { Source(format!("{source}, the others {}", fact.source)) };
    values.extend(recorded);
    fact.reading = Ok(values);
}
