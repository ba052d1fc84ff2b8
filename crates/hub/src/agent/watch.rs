//! The host's change log: `linerate host watch` runs beside the agent, and what it enters goes to the hub.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;
use std::sync::Mutex;
use std::time::Duration;

use archive::Archive;
use archive::changes::ChangeFilter;
use model::host::change::LoggedChange;
use round::carrier::{Call, Carrier, Here, Voice};

use super::shared::Shared;
use crate::api::record::{Record, RecordKind};
use crate::trust::secret;

/// The watcher of a host, while it runs.
#[derive(Debug, Default)]
pub struct Watcher(Mutex<Option<Child>>);

impl Watcher {
    /// Watches until somebody wants to stop. A watcher that ends is started again.
    pub fn watch(&self, shared: &Shared<'_>, program: &OsStr, directory: &Path) {
        let mut is_silent = false;
        while !shared.stop.is_stopped() {
            catch_up(shared, directory);
            if let Err(why) = self.follow(shared, program, directory)
                && !std::mem::replace(&mut is_silent, true)
            {
                shared.say(&format!("the host is not watched: {why}"));
            }
            shared.pause(AGAIN);
        }
    }

    /// Ends it.
    pub fn end(&self) {
        if let Ok(mut child) = self.0.lock()
            && let Some(mut child) = child.take()
        {
            // It ends with its input.
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }

    fn follow(&self, shared: &Shared<'_>, program: &OsStr, directory: &Path) -> std::io::Result<()> {
        let archive = directory.join(ARCHIVE).into_os_string();
        let mut arguments: Vec<OsString> = ["host", "watch", "--print", "--json", "--quiet"].map(OsString::from).into();
        arguments.extend(["--archive".into(), archive]);
        let mut child = Here.start(&Call { program, arguments: &arguments, voice: Voice::Progress })?;
        let output = child.stdout.take().ok_or_else(|| std::io::Error::other("it has no output"))?;
        if let Ok(mut place) = self.0.lock() {
            *place = Some(child);
        }
        if shared.stop.is_stopped() {
            self.end();
        }
        for line in BufReader::new(output).lines() {
            if let Ok(change) = serde_json::from_str::<LoggedChange>(&line?) {
                keep(shared, directory, &change);
            }
        }
        self.end();
        Ok(())
    }
}

/// What was entered and not kept for delivery: the agent was killed between the two.
fn catch_up(shared: &Shared<'_>, directory: &Path) {
    let file = directory.join(ARCHIVE);
    let Ok(archive) = Archive::open_to_read(&file) else { return };
    let filter = ChangeFilter { limit: Some(MOST_CAUGHT_UP), ..ChangeFilter::default() };
    let Ok(mut changes) = archive.changes(&filter) else { return };
    changes.sort_by_key(|change| change.number);
    let mark = mark(directory);
    for change in changes.iter().filter(|change| change.number > mark) {
        keep(shared, directory, change);
    }
}

fn keep(shared: &Shared<'_>, directory: &Path, change: &LoggedChange) {
    if change.number <= mark(directory) {
        return;
    }
    if !shared.spool().has_room() {
        shared.spool().drop_one();
        return;
    }
    let content = serde_json::to_vec(&change.entry).unwrap_or_default();
    let record = Record::pack(format!("change-{}", change.number), RecordKind::Change, &content, None);
    let kept = record.and_then(|record| shared.keep(&record));
    // A kill before this line has the same entry kept again, under the same name.
    let marked = kept.and_then(|()| secret::write(&directory.join(MARK), change.number.to_string().as_bytes()));
    if let Err(error) = marked {
        shared.say(&format!("a change of this host is not kept: {error}"));
    }
}

/// The newest change that was kept.
fn mark(directory: &Path) -> u64 {
    fs::read_to_string(directory.join(MARK)).ok().and_then(|text| text.trim().parse().ok()).unwrap_or_default()
}

const ARCHIVE: &str = "changes.db";
const MARK: &str = "changes.mark";
/// Changes that are looked through after a start.
const MOST_CAUGHT_UP: u32 = 1000;
/// How soon a watcher that has ended is started again.
const AGAIN: Duration = Duration::from_secs(60);
