//! Where hosts' facts come from: this host, or a snapshot that somebody keeps.

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use audit::scope::HostFacts;
use host::live::{self, Which};
use host::recorded;
use model::host::snapshot::{Snapshot, SnapshotReadError};

use super::snapshot::from_saved;
use crate::exit::{Complaint, Exit};

/// This host, with all namespaces that may be entered.
pub fn this_host() -> anyhow::Result<Snapshot> {
    let recorded = std::env::var_os(recorded::VARIABLE).map(Into::into);
    let request = live::Request { which: Which::All, role_group: None, recorded };
    live::read(&request).with_context(|| Complaint::new(Exit::Local, "cannot read the facts of this host"))
}

/// The facts of a host that somebody keeps; see [`snapshot_of`].
pub fn facts_of(path: &Path) -> anyhow::Result<HostFacts> {
    Ok(HostFacts::of(&snapshot_of(path)?))
}

/// What somebody keeps of a host: a snapshot as JSON, a directory of saved outputs, or a sosreport.
pub fn snapshot_of(path: &Path) -> anyhow::Result<Snapshot> {
    let mut first = [0];
    let read = if path.is_dir() { Ok(0) } else { fs::File::open(path).and_then(|mut file| file.read(&mut first)) };
    read.with_context(|| Complaint::new(Exit::NotFound, format!("cannot read {}", path.display())))?;
    let is_json = first[0] == b'{' || path.extension().is_some_and(|extension| extension == "json");
    if is_json { of_json(path) } else { from_saved(path) }
}

fn of_json(path: &Path) -> anyhow::Result<Snapshot> {
    let text = text_of(path)?;
    let shown = path.display();
    Snapshot::read(text.as_bytes()).map_err(|error| {
        let complaint = match error {
            SnapshotReadError::Newer { .. } => {
                Complaint::new(Exit::NotFound, format!("{shown} was written by a newer linerate"))
            }
            _ => Complaint::new(Exit::NotFound, format!("{shown} is no snapshot"))
                .hint("`linerate host snapshot --json --out FILE` writes one"),
        };
        anyhow::Error::from(error).context(complaint)
    })
}

/// A file of text of a size that can be meant.
pub fn text_of(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {shown}"));
    let length = fs::metadata(path).with_context(unreadable)?.len();
    if length > LARGEST_FILE {
        return Err(Complaint::new(Exit::NotFound, format!("{shown} is larger than any snapshot")).into());
    }
    fs::read_to_string(path).with_context(unreadable)
}

/// A snapshot of a host with a thousand namespaces is below this.
const LARGEST_FILE: u64 = 256 << 20;
