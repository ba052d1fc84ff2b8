//! `/etc/sysctl.conf` and the directories `sysctl.d` (sysctl.d(5), sysctl.conf(5)).

use std::collections::BTreeMap;

use model::host::provenance::{Definition, Origin};
use model::host::tracked::is_tracked;

use super::{Gathering, layers, pattern};

pub(super) fn gather(gathering: &mut Gathering<'_>, running: &BTreeMap<String, Option<String>>) {
    for file in layers::files(gathering.files, &DIRECTORIES) {
        gather_file(gathering, &file.path, file.masked_by.as_deref(), running);
    }
    gather_file(gathering, MAIN_FILE, None, running);
}

fn gather_file(
    gathering: &mut Gathering<'_>,
    path: &str,
    masked_by: Option<&str>,
    running: &BTreeMap<String, Option<String>>,
) {
    let Some(text) = gathering.open(path, masked_by) else { return };
    for (number, line) in (1..).zip(text.lines()) {
        match parse(line) {
            SysctlLine::Nothing => {}
            SysctlLine::Unknown(reason) => gathering.anomaly(path, Some(number), reason),
            SysctlLine::Excluded { name } if masked_by.is_none() => gathering.explicit_only.push(name),
            SysctlLine::Excluded { .. } => {}
            SysctlLine::Assignment { name, value, failure_ignored } => {
                let definition = Definition {
                    value,
                    origin: Origin::Sysctl,
                    file: path.to_owned(),
                    line: number,
                    pattern: None,
                    failure_ignored,
                    masked: masked_by.is_some(),
                };
                assign(gathering, &name, &definition, running);
            }
        }
    }
}

/// A pattern assigns to each tracked sysctl that exists.
fn assign(
    gathering: &mut Gathering<'_>,
    name: &str,
    definition: &Definition,
    running: &BTreeMap<String, Option<String>>,
) {
    if !pattern::is_pattern(name) {
        if is_tracked(name) {
            gathering.define(name, definition.clone());
        }
        return;
    }
    for key in running.keys().filter(|key| is_tracked(key) && pattern::matches(name, key)) {
        gathering.define(key, Definition { pattern: Some(name.to_owned()), ..definition.clone() });
    }
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SysctlLine {
    /// Empty, or a comment.
    Nothing,
    /// A sysctl and its value.
    Assignment {
        /// Its name with points; points of a device's name as slashes.
        name: String,
        /// Its value, blanks made one.
        value: String,
        /// Whether a failure is passed over.
        failure_ignored: bool,
    },
    /// A sysctl that no pattern sets.
    Excluded {
        /// Name of the sysctl with points; points of a device's name as slashes.
        name: String,
    },
    /// Something else.
    Unknown(&'static str),
}

/// Reads one line as systemd-sysctl and sysctl do.
#[must_use]
pub fn parse(line: &str) -> SysctlLine {
    let line = line.trim();
    if line.is_empty() || line.starts_with(['#', ';']) {
        return SysctlLine::Nothing;
    }
    let (failure_ignored, rest) = line.strip_prefix('-').map_or((false, line), |rest| (true, rest));
    let Some((name, value)) = rest.split_once('=') else {
        return match (failure_ignored, rest.split_whitespace().count()) {
            (true, 1) => SysctlLine::Excluded { name: with_points(rest.trim()) },
            _ => SysctlLine::Unknown("not `name = value`"),
        };
    };
    let name = name.trim();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return SysctlLine::Unknown("no name before `=`");
    }
    SysctlLine::Assignment { name: with_points(name), value: one_blank(value), failure_ignored }
}

/// A name as this program writes it. If the first separator is a slash, slashes separate and points are points of a
/// device's name; else the other way round (sysctl.d(5)).
#[must_use]
pub fn with_points(name: &str) -> String {
    let name = name.strip_prefix("/proc/sys/").unwrap_or(name);
    if name.find(['.', '/']).is_some_and(|first| name[first..].starts_with('/')) {
        swapped(name)
    } else {
        name.to_owned()
    }
}

/// Points for slashes and slashes for points: a name with points becomes its path below `/proc/sys`, and back.
#[must_use]
pub fn swapped(name: &str) -> String {
    let swap = |character| match character {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    name.chars().map(swap).collect()
}

/// Words with one blank between.
#[must_use]
pub fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The file that only `sysctl --system` reads, and reads last. Many systems have it linked into a directory as well.
pub const MAIN_FILE: &str = "/etc/sysctl.conf";

/// The highest first.
pub const DIRECTORIES: [&str; 5] =
    ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"];
