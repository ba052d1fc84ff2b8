//! Whose the files are, by the lists of dpkg. The data base of rpm is not read: it is binary, and its form changes.

use std::collections::BTreeMap;

use model::host::provenance::ConfigurationFile;

use crate::files::Files;

/// Names the package of each file. Without lists of dpkg none is named; a file that no list has is nobody's.
pub(super) fn name_owners(files: &dyn Files, named: &mut BTreeMap<String, ConfigurationFile>) {
    let lists = files.list(DIRECTORY);
    let mut lists = lists.iter().filter(|name| name.ends_with(".list")).peekable();
    if lists.peek().is_none() {
        return;
    }
    // A package made before /lib became a link to /usr/lib lists what is there without the /usr.
    let short = |path: &str| path.strip_prefix("/usr").filter(|rest| rest.starts_with("/lib/")).map(str::to_owned);
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for path in named.keys() {
        wanted.insert(path.clone(), path.clone());
        wanted.extend(short(path).map(|short| (short, path.clone())));
    }
    for list in lists.take(MAX_LISTS) {
        let Ok(text) = files.text(&format!("{DIRECTORY}/{list}")) else { continue };
        let package = list.trim_end_matches(".list");
        for line in text.lines() {
            let file = wanted.get(line).and_then(|path| named.get_mut(path));
            if let Some(file) = file {
                file.package = Some(package.split(':').next().unwrap_or(package).to_owned());
            }
        }
    }
    for file in named.values_mut() {
        file.package.get_or_insert_with(|| "none".to_owned());
    }
}

/// Whether the system keeps its packages in a data base of rpm.
pub(crate) fn has_rpm(files: &dyn Files) -> bool {
    ["/var/lib/rpm", "/usr/lib/sysimage/rpm"].iter().any(|directory| !files.list(directory).is_empty())
}

const DIRECTORY: &str = "/var/lib/dpkg/info";

/// Most packages whose lists are read.
const MAX_LISTS: usize = 20_000;
