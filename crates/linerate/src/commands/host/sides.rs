//! From what a person types to snapshots that are compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use archive::Archive;
use archive::snapshots::find::Wanted;
use archive::snapshots::{SnapshotError, SnapshotFilter, SnapshotId};
use model::host::snapshot::Snapshot;
use units::WallTime;

use super::reading::{snapshot_of, this_host};
use crate::cli::{Common, values};
use crate::commands::archive as kept;
use crate::exit::{Complaint, Exit};

/// What a person means by the text of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Meant {
    This,
    /// The baseline of the host on the other side.
    Baseline,
    Kept(Wanted),
    File(PathBuf),
}

/// Where sides come from. Nothing is opened before it is needed.
pub struct Sides<'a> {
    common: &'a Common,
    archive: Option<Archive>,
    this: Option<Snapshot>,
}

impl<'a> Sides<'a> {
    pub fn new(common: &'a Common) -> Self {
        Self { common, archive: None, this: None }
    }

    /// Two sides, or more.
    pub fn read(&mut self, texts: &[String]) -> anyhow::Result<Vec<Snapshot>> {
        let meant = texts.iter().map(|text| meant(text)).collect::<anyhow::Result<Vec<_>>>()?;
        let mut read: Vec<Option<Snapshot>> = Vec::with_capacity(meant.len());
        for side in &meant {
            read.push(match side {
                Meant::Baseline => None,
                other => Some(self.one(other)?),
            });
        }
        let named = read.iter().flatten().find_map(|snapshot| snapshot.machine.name.value().cloned());
        let mut sides = Vec::with_capacity(meant.len());
        for side in read {
            sides.push(match side {
                Some(snapshot) => snapshot,
                None => {
                    let host = named.clone().or_else(|| self.this().ok()?.machine.name.value().cloned());
                    let host = host.unwrap_or_default();
                    self.one(&Meant::Kept(Wanted::Baseline { host }))?
                }
            });
        }
        Ok(sides)
    }

    /// The newest snapshot of each host of a group.
    pub fn group(&mut self, group: &str, paths: &[String]) -> anyhow::Result<Vec<Snapshot>> {
        let all = if paths.is_empty() { self.newest_kept(group)? } else { of_files(paths)? };
        let count = all.len();
        let mut newest: BTreeMap<String, Snapshot> = BTreeMap::new();
        for snapshot in all.into_iter().filter(|snapshot| snapshot.machine.role_group.as_deref() == Some(group)) {
            let name = snapshot.machine.name.value().cloned().unwrap_or_default();
            let known = newest.get(&name);
            if known.is_none_or(|known| known.taken < snapshot.taken) {
                newest.insert(name, snapshot);
            }
        }
        match newest.len() {
            0 => Err(Complaint::new(Exit::NotFound, format!("none of {count} snapshots is of the group `{group}`"))
                .hint(format!("`linerate host snapshot --group {group}` writes the group into a snapshot"))
                .into()),
            1 => {
                Err(Complaint::new(Exit::NotFound, format!("the group `{group}` has one host only, which is no group"))
                    .hint("`linerate host diff A B` compares two snapshots, whatever their groups")
                    .into())
            }
            _ => Ok(newest.into_values().collect()),
        }
    }

    /// One snapshot, and its number where it is a kept one.
    pub fn meant_for_blessing(&mut self, text: &str) -> anyhow::Result<(Snapshot, Option<SnapshotId>)> {
        match meant(text)? {
            Meant::Baseline => {
                Err(Complaint::new(Exit::Usage, "the baseline is blessed already").hint("name another snapshot").into())
            }
            Meant::Kept(wanted) => {
                let id = found(self.archive()?.find_snapshot(&wanted))?.id;
                Ok((found(self.archive()?.snapshot(id))?, Some(id)))
            }
            other => Ok((self.one(&other)?, None)),
        }
    }

    fn one(&mut self, meant: &Meant) -> anyhow::Result<Snapshot> {
        match meant {
            Meant::This | Meant::Baseline => self.this().cloned(),
            Meant::File(path) => snapshot_of(path),
            Meant::Kept(wanted) => {
                let archive = self.archive()?;
                found(archive.find_snapshot(wanted).and_then(|summary| archive.snapshot(summary.id)))
            }
        }
    }

    fn this(&mut self) -> anyhow::Result<&Snapshot> {
        if self.this.is_none() {
            self.this = Some(this_host()?);
        }
        self.this.as_ref().context("the snapshot of this host")
    }

    fn newest_kept(&mut self, group: &str) -> anyhow::Result<Vec<Snapshot>> {
        let archive = self.archive()?;
        let filter = SnapshotFilter { role_group: Some(group.to_owned()), ..SnapshotFilter::default() };
        let mut newest: BTreeMap<String, SnapshotId> = BTreeMap::new();
        // The newest come first.
        for summary in found(archive.snapshots(&filter))? {
            newest.entry(summary.host).or_insert(summary.id);
        }
        newest.into_values().map(|id| found(archive.snapshot(id))).collect()
    }

    fn archive(&mut self) -> anyhow::Result<&mut Archive> {
        if self.archive.is_none() {
            self.archive = Some(kept::open_to_read(self.common)?);
        }
        self.archive.as_mut().context("the archive")
    }
}

/// An answer of the archive, with the way out where there is none.
pub fn found<T>(answer: Result<T, SnapshotError>) -> anyhow::Result<T> {
    answer.map_err(|error| {
        let complaint = match &error {
            SnapshotError::None { what: "blessed snapshot", .. } => Complaint::new(Exit::NotFound, "no baseline")
                .hint("`linerate host bless SNAPSHOT` says what a host should be"),
            SnapshotError::Unknown { .. } | SnapshotError::None { .. } => {
                Complaint::new(Exit::NotFound, "no such snapshot")
                    .hint("`linerate host snapshots` shows those there are")
            }
            SnapshotError::Newer { .. } | SnapshotError::Form(_) | SnapshotError::Compression(_) => {
                Complaint::new(Exit::NotFound, "the snapshot cannot be read")
            }
            SnapshotError::Nameless => Complaint::new(Exit::NotFound, "the snapshot cannot be kept"),
            SnapshotError::Database { .. } => Complaint::new(Exit::Local, "the kept snapshots cannot be reached"),
        };
        anyhow::Error::from(error).context(complaint)
    })
}

fn meant(text: &str) -> anyhow::Result<Meant> {
    if text == "this" {
        return Ok(Meant::This);
    }
    if text == "baseline" {
        return Ok(Meant::Baseline);
    }
    let path = Path::new(text);
    // A file that is there is meant, however it is called.
    if path.exists() {
        return Ok(Meant::File(path.to_owned()));
    }
    if let Ok(number) = text.parse() {
        return Ok(Meant::Kept(Wanted::Number(SnapshotId(number))));
    }
    let Some((host, when)) = text.rsplit_once('@').filter(|(host, _)| !host.is_empty()) else {
        let complaint = Complaint::new(Exit::NotFound, format!("there is no file {text}"));
        return Err(complaint
            .hint(format!("of a host with kept snapshots say {text}@latest or {text}@2026-11-20"))
            .into());
    };
    let host = host.to_owned();
    Ok(Meant::Kept(match when {
        "latest" => Wanted::Latest { host },
        "baseline" => Wanted::Baseline { host },
        time => Wanted::At { host, time: at(time)? },
    }))
}

/// A time; what is written wrong is told with the other words that may stand there.
fn at(text: &str) -> anyhow::Result<WallTime> {
    values::moment(text).map_err(|why| {
        let complaint = Complaint::new(Exit::Usage, format!("`{text}` is no time"));
        complaint.hint(format!("{why}; latest and baseline exist too")).into()
    })
}

fn of_files(paths: &[String]) -> anyhow::Result<Vec<Snapshot>> {
    let mut files = Vec::new();
    for path in paths.iter().map(Path::new) {
        files.extend(snapshots_in(path)?);
    }
    files.iter().map(|path| snapshot_of(path)).collect()
}

/// The snapshots of a directory in the order of their names; anything else is one itself.
fn snapshots_in(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", path.display()));
    let mut files = Vec::new();
    for entry in fs::read_dir(path).with_context(unreadable)? {
        let entry = entry.with_context(unreadable)?.path();
        if entry.extension().is_some_and(|extension| extension == "json") {
            files.push(entry);
        }
    }
    files.sort();
    // A directory without snapshots may be one of saved outputs.
    Ok(if files.is_empty() { vec![path.to_owned()] } else { files })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_told_apart() {
        let host = |name: &str| name.to_owned();
        for (text, expected) in [
            ("this", Meant::This),
            ("baseline", Meant::Baseline),
            ("12", Meant::Kept(Wanted::Number(SnapshotId(12)))),
            ("dtn1@latest", Meant::Kept(Wanted::Latest { host: host("dtn1") })),
            ("dtn1@baseline", Meant::Kept(Wanted::Baseline { host: host("dtn1") })),
            ("/", Meant::File("/".into())),
        ] {
            assert_eq!(meant(text).unwrap(), expected);
        }
        let utc = meant("dtn1@2026-11-20T14:30:00Z").unwrap();
        let time = WallTime::from_unix_nanos(1_795_185_000_000_000_000);
        assert_eq!(utc, Meant::Kept(Wanted::At { host: host("dtn1"), time }));
        assert!(matches!(meant("dtn1@3h").unwrap(), Meant::Kept(Wanted::At { .. })));
        assert!(matches!(meant("dtn1@2026-11-20").unwrap(), Meant::Kept(Wanted::At { .. })));
        for wrong in ["dtn1", "@latest", "dtn1@yesterday"] {
            assert!(meant(wrong).is_err(), "{wrong}");
        }
    }
}
