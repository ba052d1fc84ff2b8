//! Loads a directory of saved outputs: those files whose name is known, and files of the system at their own path.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use model::host::snapshot::Anomaly;

use super::archive::{MAX_ENTRIES, MAX_HELD, is_wanted};
use super::{SavedError, anomaly};
use crate::files::{FilesInMemory, read_bounded};

pub(super) fn load(root: &Path, anomalies: &mut Vec<Anomaly>) -> Result<FilesInMemory, SavedError> {
    let unreadable = |source| SavedError::Unreadable { path: root.display().to_string(), source };
    fs::read_dir(root).map_err(unreadable)?;
    let mut held = FilesInMemory { files: BTreeMap::new(), links: BTreeMap::new() };
    let (mut waiting, mut entries, mut bytes) = (vec![String::new()], 0, 0);
    while let Some(directory) = waiting.pop() {
        let place = root.join(directory.trim_start_matches('/'));
        for entry in fs::read_dir(place).into_iter().flatten().filter_map(Result::ok) {
            entries += 1;
            if entries > MAX_ENTRIES || bytes > MAX_HELD {
                anomalies.push(anomaly(&root.display().to_string(), None, "more than is read of one directory"));
                return Ok(held);
            }
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = format!("{directory}/{name}");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(path),
                // A link could lead out of the directory.
                Ok(kind) if kind.is_symlink() => {
                    let target =
                        fs::read_link(entry.path()).ok().and_then(|target| target.into_os_string().into_string().ok());
                    held.links.extend(target.map(|target| (path, target)));
                }
                Ok(kind) if kind.is_file() && is_wanted(&path) => match read_bounded(&entry.path()) {
                    Ok(content) => {
                        bytes += content.len();
                        held.files.insert(path, content);
                    }
                    // It was there a moment ago.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => anomalies.push(anomaly(&path, None, error.to_string())),
                },
                Ok(kind) if kind.is_file() && directory.is_empty() => {
                    anomalies.push(anomaly(&path, None, "the name does not say of which program this is the output"));
                }
                _ => {}
            }
        }
    }
    Ok(held)
}
