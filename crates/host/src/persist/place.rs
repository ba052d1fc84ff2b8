//! A name for the file of sysctls under which it wins against all others, by the same rules by which a snapshot says who
//! won.

use std::collections::BTreeMap;
use std::io;

use audit::persist::SYSCTL_FILES;
use model::host::provenance::{Definition, Setting};

use crate::files::Files;
use crate::provenance;
use crate::provenance::sysctl_d::{SysctlLine, parse};

/// A setting that another file overrules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overruled {
    /// Name of the sysctl, with points, as in `net.ipv4.tcp_rmem`.
    pub setting: String,
    /// The other file and line.
    pub by: String,
    /// Its value there.
    pub value: String,
    /// When: `at boot`, or `after sysctl --system`.
    pub when: &'static str,
}

/// The first name under which each setting of `lines` wins, and what overrules it even so. The name that the file has is
/// kept where it wins.
pub(super) fn choose(
    files: &dyn Files,
    present: Option<&str>,
    content: &str,
    lines: &[String],
    running: &BTreeMap<String, Option<String>>,
) -> (String, Vec<Overruled>) {
    let mut best: Option<(String, Vec<Overruled>)> = None;
    let names = present.into_iter().chain(SYSCTL_FILES);
    for path in names {
        let overlay = Overlay { files, gone: present, path, content };
        let overruled = overruled(&overlay, lines, running);
        let at_boot = |list: &[Overruled]| list.iter().filter(|each| each.when == AT_BOOT).count();
        if best.as_ref().is_none_or(|(_, known)| at_boot(&overruled) < at_boot(known)) {
            best = Some((path.to_owned(), overruled));
        }
    }
    best.unwrap_or_else(|| (SYSCTL_FILES[0].to_owned(), Vec::new()))
}

fn overruled(overlay: &Overlay<'_>, lines: &[String], running: &BTreeMap<String, Option<String>>) -> Vec<Overruled> {
    let found = provenance::find(overlay, running);
    let mut overruled = Vec::new();
    for line in lines {
        let SysctlLine::Assignment { name, value, .. } = parse(line) else { continue };
        let Some(setting) = found.provenance.settings.get(&name) else { continue };
        let other = |index: Option<usize>, when| {
            let winner = setting.definitions.get(index?)?;
            differs(winner, overlay.path, &value).then(|| Overruled {
                setting: name.clone(),
                by: format!("{}:{}", winner.file, winner.line),
                value: winner.value.clone(),
                when,
            })
        };
        let Setting { winner, winner_after_sysctl_system, .. } = setting;
        overruled
            .extend(other(*winner, AT_BOOT).or_else(|| other(*winner_after_sysctl_system, "after sysctl --system")));
    }
    overruled
}

fn differs(winner: &Definition, own: &str, value: &str) -> bool {
    winner.file != own && winner.value != value
}

const AT_BOOT: &str = "at boot";

/// Files with one more among them, and one less.
struct Overlay<'a> {
    files: &'a dyn Files,
    gone: Option<&'a str>,
    path: &'a str,
    content: &'a str,
}

impl Files for Overlay<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path == self.path {
            return Ok(self.content.as_bytes().to_vec());
        }
        if self.gone == Some(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.files.read(path)
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let within = |path: &str| Some(path.strip_prefix(directory)?.strip_prefix('/')?.to_owned());
        let mut names = self.files.list(directory);
        if let Some(gone) = self.gone.and_then(within) {
            names.retain(|name| *name != gone);
        }
        if let Some(own) = within(self.path) {
            names.retain(|name| *name != own);
            names.push(own);
            names.sort_unstable();
        }
        names
    }

    fn link(&self, path: &str) -> Option<String> {
        if path == self.path { None } else { self.files.link(path) }
    }
}
