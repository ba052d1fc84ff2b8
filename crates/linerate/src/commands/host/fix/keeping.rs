//! What stays of a fix besides the settings: files for the next start, and entries of the change log.

use std::path::Path;

use anyhow::Context;
use audit::fix::plan::FixPlan;
use audit::fix::report::{KeptIn, Overruled};
use audit::persist::Lasting;
use host::helper::Fixed;
use host::persist;
use linux::clock;
use model::host::change::{ActingProcess, Actor, ChangeEntry, ChangeNote, ChangeSource};
use model::host::fix::captured::Difference;
use model::host::fix::journal::FixId;

use super::plan::Ready;
use crate::cli::Common;
use crate::cli::host::fix::FixArgs;
use crate::commands::archive;
use crate::exit::{Complaint, Exit};

/// Writes the files that keep a fix.
pub fn write(args: &FixArgs, ready: &Ready, fix: FixId) -> anyhow::Result<KeptIn> {
    let lasting = Lasting::of(&ready.plan.steps, &ready.snapshot);
    let own = ready.snapshot.own();
    let running = own.into_iter().flat_map(|own| &own.sysctls);
    let running = running.map(|(key, fact)| (key.clone(), fact.value().cloned())).collect();
    let written = persist::write(&args.root, fix.0, &lasting, &running).with_context(|| {
        Complaint::new(Exit::Local, format!("fix {fix} holds, but is lost with the next start: no file was written"))
            .hint("as root it works; --root writes below another directory")
    })?;
    let overruled = written.overruled.into_iter().map(|other| Overruled {
        setting: other.setting,
        by: other.by,
        value: other.value,
        when: other.when.to_owned(),
    });
    Ok(KeptIn { files: written.files, overruled: overruled.collect(), lost: lasting.lost })
}

/// Takes a fix out of the files that keep it.
pub fn remove(root: &Path, fix: FixId) -> anyhow::Result<Vec<String>> {
    persist::remove(root, fix.0).with_context(|| {
        Complaint::new(Exit::Local, format!("fix {fix} is undone, but comes back with the next start"))
            .hint("as root its lines can be taken out of the files: run the command again")
    })
}

/// Enters what a fix has changed.
pub fn log(common: &Common, fixed: &Fixed, plan: &FixPlan) {
    let fix = fixed.entry.fix;
    let rules = plan.rules().join(", ");
    let reason = &fixed.entry.reason;
    let mut text = format!("fix {fix}");
    if !rules.is_empty() {
        text.push_str(&format!(", {rules}"));
    }
    if *reason != rules && !reason.is_empty() {
        text.push_str(&format!(": {reason}"));
    }
    enter(common, &fixed.changes, &text);
}

/// Enters what an undo has brought back.
pub fn log_undone(common: &Common, undone: &Fixed) {
    let back = |change: &Difference| Difference { old: change.new.clone(), new: change.old.clone(), ..change.clone() };
    let changes: Vec<Difference> = undone.changes.iter().map(back).collect();
    enter(common, &changes, &format!("fix {} undone", undone.entry.fix));
}

/// A log that cannot be written must not undo what was asked for: it is told.
fn enter(common: &Common, changes: &[Difference], text: &str) {
    let entered = || -> anyhow::Result<()> {
        let mut archive = archive::open(common)?;
        for change in changes {
            archive.append_change(&entry(change, text))?;
        }
        Ok(())
    };
    if let Err(error) = entered() {
        eprintln!("warning: the change log does not have it: {error:#}");
    }
}

fn entry(change: &Difference, text: &str) -> ChangeEntry {
    let now = clock::wall_now();
    // `eth0 rings rx` is a fact of eth0; a sysctl has no blank.
    let (subject, fact) = match change.key.split_once(' ') {
        Some((subject, fact)) => (Some(subject.to_owned()), fact),
        None => (None, change.key.as_str()),
    };
    let mut entry = ChangeEntry::new(now, linux::host::hostname(), fact, ChangeSource::Fix);
    entry.boot = linux::host::boot_id().ok();
    entry.namespace = change.namespace.as_ref().map(ToString::to_string);
    entry.subject = subject;
    entry.old.clone_from(&change.old);
    entry.new.clone_from(&change.new);
    entry.actor = Actor::Process(ActingProcess {
        pid: std::process::id(),
        program: std::env::current_exe().ok().map(|path| path.display().to_string()),
        command_line: std::env::args().collect(),
        user: None,
        login: std::env::var("SUDO_USER").ok(),
    });
    entry.notes.push(ChangeNote { time: now, user: None, text: text.to_owned(), ticket: None });
    entry
}
