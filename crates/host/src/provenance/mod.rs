//! Which file sets a value at boot, and which of several wins.
//!
//! * [`sysctl_d`]: the files of systemd-sysctl and of `sysctl --system`
//! * `tuned`: the active profile of TuneD with all it includes
//! * `network_manager`: connections
//! * `modprobe`, `command_line`: options of modules and of the kernel
//! * `packages`: whose the files are
//! * `resolve`: who wins

mod command_line;
mod ini;
mod layers;
mod modprobe;
mod network_manager;
mod packages;
mod pattern;
mod resolve;
pub mod sysctl_d;
#[cfg(test)]
mod tests;
mod tuned;

use std::collections::BTreeMap;
use std::io;

use model::host::provenance::{ConfigurationFile, Definition, Provenance, Setting};
use model::host::snapshot::Anomaly;

use crate::digest::sha256;
use crate::files::Files;
pub(crate) use packages::has_rpm;
use resolve::AfterTuned;
pub use tuned::Profile;

/// What was found of provenance, and besides.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Definitions and winners.
    pub provenance: Provenance,
    /// The active profile of TuneD, where there is one.
    pub tuned: Option<Profile>,
    /// Lines that were not understood.
    pub anomalies: Vec<Anomaly>,
    /// Files that exist and may not be read.
    pub denied: Vec<String>,
}

/// Finds every definition of every tracked setting. `running` are the sysctls that exist, each with its value where it
/// is known; options of modules are in it as `module.NAME.OPTION`.
#[must_use]
pub fn find(files: &dyn Files, running: &BTreeMap<String, Option<String>>) -> Found {
    let mut gathering =
        Gathering { files, found: Found::default(), definitions: BTreeMap::new(), explicit_only: Vec::new() };
    command_line::gather(&mut gathering);
    sysctl_d::gather(&mut gathering, running);
    tuned::gather(&mut gathering);
    modprobe::gather(&mut gathering);
    network_manager::gather(&mut gathering);
    packages::name_owners(files, &mut gathering.found.provenance.files);
    gathering.finish(running)
}

/// What is being gathered.
struct Gathering<'a> {
    files: &'a dyn Files,
    found: Found,
    definitions: BTreeMap<String, Vec<Definition>>,
    /// Sysctls that no pattern sets (`-name` without a value).
    explicit_only: Vec<String>,
}

impl Gathering<'_> {
    /// Reads a file of settings and notes it. [`None`] where it is not there, or cannot be read, which is noted too.
    fn open(&mut self, path: &str, masked_by: Option<&str>) -> Option<String> {
        let link_to = self.files.link(path);
        let content = match self.files.read(path) {
            // What is masked by a link to /dev/null is empty.
            Err(_) if link_to.as_deref() == Some("/dev/null") => Vec::new(),
            Ok(content) => content,
            Err(error) => {
                match error.kind() {
                    io::ErrorKind::NotFound => {}
                    io::ErrorKind::PermissionDenied => self.found.denied.push(path.to_owned()),
                    _ => self.anomaly(path, None, error.to_string()),
                }
                return None;
            }
        };
        let file = ConfigurationFile {
            package: None,
            sha256: sha256(&content),
            masked_by: masked_by.map(str::to_owned),
            link_to,
        };
        self.found.provenance.files.insert(path.to_owned(), file);
        Some(String::from_utf8_lossy(&content).into_owned())
    }

    fn define(&mut self, setting: &str, definition: Definition) {
        let definitions = self.definitions.entry(setting.to_owned()).or_default();
        if definitions.len() < MAX_DEFINITIONS {
            definitions.push(definition);
        }
    }

    fn anomaly(&mut self, file: &str, line: Option<u32>, reason: impl Into<String>) {
        if self.found.anomalies.len() < MAX_ANOMALIES {
            self.found.anomalies.push(Anomaly { file: file.to_owned(), line, reason: reason.into() });
        }
    }

    fn finish(mut self, running: &BTreeMap<String, Option<String>>) -> Found {
        let after = match self.found.provenance.tuned_reapplies_sysctl {
            Some(true) => AfterTuned::SysctlFiles,
            Some(false) | None => AfterTuned::Nothing,
        };
        for (name, mut definitions) in self.definitions {
            // Wherever the line stands that takes it out.
            if self.explicit_only.contains(&name) {
                definitions.retain(|definition| definition.pattern.is_none());
            }
            if definitions.is_empty() {
                continue;
            }
            // A stable sort: the order among the others stays that in which they are applied.
            definitions.sort_by_key(|definition| !definition.masked);
            let value = running.get(&name).and_then(Option::as_deref);
            let setting: Setting = resolve::setting(definitions, after, value);
            self.found.provenance.settings.insert(name, setting);
        }
        self.found
    }
}

/// Most definitions that are kept of one setting.
pub const MAX_DEFINITIONS: usize = 64;

/// Most lines that are reported as not understood.
pub const MAX_ANOMALIES: usize = 256;
