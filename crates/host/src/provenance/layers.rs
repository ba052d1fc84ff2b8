//! Directories of which the higher mask files of the same name in the lower, read in the order of names.

use crate::files::Files;

/// One file of such directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layered {
    pub(super) path: String,
    /// The file that takes its place.
    pub(super) masked_by: Option<String>,
}

/// The files called `*.conf` in `directories`, the highest directory first: those that are read, in the order of their
/// names, with those that they mask before them.
pub(super) fn files(files: &dyn Files, directories: &[&str]) -> Vec<Layered> {
    let mut found: Vec<(String, Layered)> = Vec::new();
    for directory in directories {
        // The one is the other on systems where /lib is a link to /usr/lib.
        if directory.starts_with("/lib/") && files.link("/lib").is_some() {
            continue;
        }
        let names = files.list(directory).into_iter().filter(|name| name.ends_with(".conf"));
        for name in names.take(MAX_FILES) {
            let first = found.iter().find(|(known, layered)| *known == name && layered.masked_by.is_none());
            let masked_by = first.map(|(_, layered)| layered.path.clone());
            let path = format!("{directory}/{name}");
            found.push((name, Layered { path, masked_by }));
        }
    }
    found.sort_by(|(one, first), (other, second)| {
        (one, first.masked_by.is_none()).cmp(&(other, second.masked_by.is_none()))
    });
    found.into_iter().map(|(_, layered)| layered).collect()
}

/// Most files of one directory.
const MAX_FILES: usize = 1_000;
