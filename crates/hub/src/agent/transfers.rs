//! What transfers of this host reach with each peer: `linerate watch flows` runs beside the agent while the hub wants it.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use model::transfer::FlowInterval;
use passive::flows::rates::RateHistory;
use round::carrier::{Call, Carrier, Here, Voice};

use super::shared::Shared;
use crate::api::record::{Record, RecordKind};

/// Watches until somebody wants to stop. A watch that ends is started again.
pub fn watch(shared: &Shared<'_>, program: &OsStr, directory: &Path) {
    let mut is_silent = false;
    while !shared.stop.is_stopped() {
        if shared.transfers_every().is_none() {
            shared.pause(NOT_WANTED);
            continue;
        }
        if let Err(why) = follow(shared, program, directory)
            && !std::mem::replace(&mut is_silent, true)
        {
            shared.say(&format!("transfers of this host are not watched: {why}"));
        }
        if !shared.stop.is_stopped() && shared.transfers_every().is_some() {
            shared.pause(AGAIN);
        }
    }
}

fn follow(shared: &Shared<'_>, program: &OsStr, directory: &Path) -> std::io::Result<()> {
    let mut arguments: Vec<OsString> =
        ["watch", "flows", "--json", "--quiet", "--top", MOST].map(OsString::from).into();
    arguments.extend(["--archive".into(), directory.join(ARCHIVE).into_os_string()]);
    let mut child = Running(Here.start(&Call { program, arguments: &arguments, voice: Voice::Progress })?);
    let output = child.0.stdout.take().ok_or_else(|| std::io::Error::other("it has no output"))?;
    let mut history = RateHistory::default();
    // A line comes each second, whatever the host does: that is how soon the wish to stop is seen.
    for line in BufReader::new(output).lines() {
        let line = line?;
        let every = shared.transfers_every().filter(|_| !shared.stop.is_stopped());
        let Some(every) = every else { break };
        if let Ok(interval) = serde_json::from_str::<FlowInterval>(&line) {
            history.add(&interval);
        }
        if history.length() >= every {
            keep(shared, &mut history);
        }
    }
    Ok(())
}

fn keep(shared: &Shared<'_>, history: &mut RateHistory) {
    let Some(rates) = history.take() else { return };
    if !shared.spool().has_room() {
        shared.spool().drop_one();
        return;
    }
    let name = format!("transfers-{}", rates.start.unix_nanos());
    let packed = serde_json::to_vec(&rates).map_err(std::io::Error::other);
    let packed = packed.and_then(|content| Record::pack(name, RecordKind::Transfers, &content, None));
    if let Err(error) = packed.and_then(|record| shared.keep(&record)) {
        shared.say(&format!("rates of transfers are not kept: {error}"));
    }
}

/// A watch ends once nobody reads what it prints.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.stdout.take());
        // It fails only where the child has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Transfers that have ended, for whoever asks on this host: `linerate watch transfers --archive`.
const ARCHIVE: &str = "transfers.db";
/// Connections of an interval that count.
const MOST: &str = "100";
/// How soon it is seen that the hub wants rates.
const NOT_WANTED: Duration = Duration::from_secs(1);
/// How soon a watch that has ended is started again.
const AGAIN: Duration = Duration::from_secs(60);
