//! Facts of hardware that a lab host does not have (docs/formats/recorded-facts.md): they take the place of what the
//! kernel says of the host, and name their file as their source. Whoever sets such hardware writes that file: it is the
//! hardware there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::host::fact::Source;
use model::host::recorded::RecordedFacts;
use model::host::snapshot::{Anomaly, Snapshot};

use crate::files::read_bounded;

/// The environment variable that names the file.
pub const VARIABLE: &str = "LINERATE_RECORDED_FACTS";

/// Why recorded facts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// The file cannot be read.
    #[error("cannot read the recorded facts in {path}")]
    Unreadable {
        /// Path as it was given.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the recorded facts in {path}")]
    Unwritable {
        /// Path at which the facts should have been written.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{path} holds no recorded facts: {message}")]
    Malformed {
        /// Path as it was given.
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
    for name in read(path)?.put_into(snapshot, &Source::recorded(&shown)) {
        let reason = format!("there is no interface `{name}`");
        snapshot.anomalies.push(Anomaly { file: shown.clone(), line: None, reason });
    }
    Ok(())
}

/// Reads a file of recorded facts.
///
/// # Errors
/// See [`RecordedError`].
pub fn read(path: &Path) -> Result<RecordedFacts, RecordedError> {
    let shown = path.display().to_string();
    let bytes = read_bounded(path).map_err(|source| RecordedError::Unreadable { path: shown.clone(), source })?;
    parse(&bytes).map_err(|message| RecordedError::Malformed { path: shown, message })
}

/// Switches features of a device in a file of recorded facts, as its driver would.
///
/// # Errors
/// See [`RecordedError`]; the file is as it was then.
pub fn switch(path: &Path, device: &str, features: &BTreeMap<String, bool>) -> Result<(), RecordedError> {
    change(path, device, "features", |recorded| {
        for (name, on) in features {
            let Some(feature) = recorded.get_mut(name).and_then(toml::Value::as_table_mut) else { continue };
            for key in ["wanted", "active"] {
                feature.insert(key.to_owned(), (*on).into());
            }
        }
    })
}

/// Sets the rings of a device (`rx`, `tx`) in a file of recorded facts, as its driver would.
///
/// # Errors
/// See [`RecordedError`]; the file is as it was then.
pub fn set_rings(path: &Path, device: &str, entries: &BTreeMap<String, u32>) -> Result<(), RecordedError> {
    change(path, device, "rings", |recorded| {
        recorded.extend(entries.iter().map(|(name, entries)| (name.clone(), i64::from(*entries).into())));
    })
}

/// Writes the file anew with other facts of one kind, all at once: whoever reads it meets the old or the new.
fn change(path: &Path, device: &str, kind: &str, edit: impl FnOnce(&mut toml::Table)) -> Result<(), RecordedError> {
    let shown = path.display().to_string();
    read(path)?;
    let text = fs::read_to_string(path).map_err(|source| RecordedError::Unreadable { path: shown.clone(), source })?;
    let whole: Result<toml::Table, _> = toml::from_str(&text);
    let mut whole =
        whole.map_err(|error| RecordedError::Malformed { path: shown.clone(), message: error.to_string() })?;
    let of_device = whole.get_mut("interfaces").and_then(|all| all.get_mut(device));
    if let Some(facts) = of_device.and_then(|facts| facts.get_mut(kind)).and_then(toml::Value::as_table_mut) {
        edit(facts);
    }
    let partial = path.with_extension("partial");
    let written = fs::write(&partial, whole.to_string()).and_then(|()| fs::rename(&partial, path));
    written.map_err(|source| RecordedError::Unwritable { path: shown, source })
}

/// Reads recorded facts.
///
/// # Errors
/// What is wrong, and where.
pub fn parse(bytes: &[u8]) -> Result<RecordedFacts, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use model::host::interface::tuning::Rings;

    use super::*;

    const FACTS: &str = "[interfaces.eth0]\ndriver = { name = \"mlx5_core\" }\nrings = { rx = 512, rx_max = 8192 }\n\
                         [interfaces.eth0.features.rx-gro-hw]\nhw = true\nwanted = true\nactive = true\n";

    #[test]
    fn hardware_that_is_set_stays_set_and_all_else_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("recorded-facts.toml");
        fs::write(&path, FACTS).unwrap();
        switch(&path, "eth0", &BTreeMap::from([("rx-gro-hw".to_owned(), false), ("lro".to_owned(), true)])).unwrap();
        set_rings(&path, "eth0", &BTreeMap::from([("rx".to_owned(), 4_096)])).unwrap();
        let facts = read(&path).unwrap();
        let feature = facts.features("eth0")["rx-gro-hw"];
        assert_eq!((feature.hw, feature.wanted, feature.active), (true, false, false));
        assert_eq!(facts.features("eth0").len(), 1, "what the adapter has not is not made up");
        assert_eq!(facts.rings("eth0"), Some(Rings { rx: Some(4_096), rx_max: Some(8_192), ..Rings::default() }));
        set_rings(&path, "eth0", &BTreeMap::from([("rx".to_owned(), 512)])).unwrap();
        switch(&path, "eth0", &BTreeMap::from([("rx-gro-hw".to_owned(), true)])).unwrap();
        assert_eq!(read(&path).unwrap(), parse(FACTS.as_bytes()).unwrap(), "set back it is as it was");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing lies beside it");
    }
}
