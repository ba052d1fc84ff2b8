//! `linerate runs`.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use archive::export::{Export, csv, write_export};
use archive::list::Ended;
use archive::resolve::ResolveError;
use archive::{Archive, Filter};
use model::run::RunId;

use super::archive as kept;
use super::attempt::stop_on_signals;
use super::question::{self, Reply};
use super::{compare, plot, print, print_text};
use crate::cli::Common;
use crate::cli::runs::{ExportFormat, RunsAction};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, action: &RunsAction) -> anyhow::Result<Exit> {
    if let RunsAction::Rm { runs, yes } = action {
        return remove(common, runs, if *yes { Consent::Given } else { Consent::Asked });
    }
    let archive = kept::open_to_read(common)?;
    match action {
        RunsAction::List { limit, peer, failed } => {
            let ended = failed.then_some(Ended::Failed);
            let filter = Filter { limit: Some(*limit), peer: peer.clone(), ended, ..Filter::default() };
            let summaries = archive.list(&filter).map_err(unreadable)?;
            if common.json {
                print(&show::json::summaries(&summaries)?)
            } else {
                let width = show::wrap::terminal_width();
                print(show::list::text(&summaries, archive.path(), width).as_bytes())
            }
        }
        RunsAction::Show { run, intervals, plot } => {
            let id = resolve(&archive, run)?;
            let run = archive.run(&id).map_err(unreadable)?;
            let samples = archive.samples(&id).map_err(unreadable)?;
            if let Some(path) = plot {
                plot::write(path, &run, &samples)?;
            }
            if common.json {
                return print(&show::json::explained(&run, &samples)?);
            }
            let mut text = show::run::text(&run, &samples, show::run::Detail::Stored);
            if *intervals || std::io::stdout().is_terminal() {
                text.push_str(&show::sparkline::lines(&run, &samples));
            }
            if *intervals {
                text.push_str(&show::intervals::table(&run));
            }
            print_text(&text)
        }
        RunsAction::Compare { a, b } => {
            let (a, b) = (compare::batch(&archive, a)?, compare::batch(&archive, b)?);
            if common.json {
                return print(&show::json::document(&show::compare::comparison(&a, &b))?);
            }
            print_text(&show::compare::sets(&a, &b, show::wrap::terminal_width()))
        }
        RunsAction::Export { run, format, output } => {
            let data = export(&archive, resolve(&archive, run)?, *format)?;
            match output {
                None => print(&data),
                Some(path) => write_whole(path, &data),
            }
        }
        RunsAction::Check => {
            let checked = archive.check().map_err(unreadable)?;
            if common.json {
                print(&show::json::checked(&checked)?)?;
            } else {
                print(show::list::checked(&checked, archive.path()).as_bytes())?;
            }
            Ok(if checked.damaged.is_empty() { Exit::Success } else { Exit::NotFound })
        }
        RunsAction::Rm { .. } => Ok(Exit::Success),
    }
}

/// Whether the user has agreed to a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    Given,
    /// Where there is a terminal to ask at.
    Asked,
}

fn remove(common: &Common, runs: &[String], consent: Consent) -> anyhow::Result<Exit> {
    let mut archive = kept::open_to_free(common)?;
    let ids = runs.iter().map(|run| resolve(&archive, run)).collect::<anyhow::Result<Vec<_>>>()?;
    if consent == Consent::Asked && question::can_ask() {
        let what = if let [one] = &ids[..] { format!("run {one}") } else { format!("{} runs", ids.len()) };
        let reply = question::ask(&format!("Remove {what} and its samples?"), PATIENCE, &stop_on_signals()?);
        if reply != Reply::Yes {
            eprintln!("nothing was removed");
            return Ok(if reply == Reply::Interrupted { Exit::Interrupted } else { Exit::Success });
        }
    }
    let removed = archive.remove(&ids)?;
    if !common.quiet {
        eprintln!("removed {removed} {}", if removed == 1 { "run" } else { "runs" });
    }
    Ok(Exit::Success)
}

/// What is stored cannot be read.
fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> anyhow::Error {
    anyhow::Error::from(error).context(
        Complaint::new(Exit::NotFound, "what is stored cannot be read")
            .hint("`linerate runs check` names what is damaged; `linerate runs rm ID` removes it"),
    )
}

pub fn resolve(archive: &Archive, text: &str) -> anyhow::Result<RunId> {
    archive.resolve(text).map_err(|error| {
        let complaint = match &error {
            ResolveError::Empty { .. } => {
                Complaint::new(Exit::NotFound, "no run").hint("`linerate test HOST` makes one")
            }
            ResolveError::Unknown { .. } | ResolveError::Ambiguous { .. } => {
                Complaint::new(Exit::NotFound, "no such run").hint("`linerate runs list` shows those there are")
            }
            ResolveError::List(_) | ResolveError::Database { .. } => {
                Complaint::new(Exit::Local, "the archive cannot be searched")
            }
        };
        anyhow::Error::from(error).context(complaint)
    })
}

/// The same of a name that may be that of a file as well, which `nowhere` says.
pub fn resolve_name(archive: &Archive, name: &str, nowhere: impl Fn() -> Complaint) -> anyhow::Result<RunId> {
    match archive.resolve(name) {
        Err(error @ ResolveError::Unknown { .. }) => Err(anyhow::Error::from(error).context(nowhere())),
        _ => resolve(archive, name),
    }
}

fn export(archive: &Archive, id: RunId, format: ExportFormat) -> anyhow::Result<Vec<u8>> {
    let mut data = Vec::new();
    let run = archive.run(&id).map_err(unreadable)?;
    match format {
        ExportFormat::Json => {
            let samples = archive.samples(&id).map_err(unreadable)?;
            write_export(&Export { run, samples }, &mut data)?;
        }
        ExportFormat::Csv => csv::intervals(&run, &mut data)?,
        ExportFormat::SamplesCsv => csv::samples(id, &archive.samples(&id).map_err(unreadable)?, &mut data)?,
    }
    Ok(data)
}

/// Writes the file as a whole or not at all: under another name first.
fn write_whole(path: &Path, data: &[u8]) -> anyhow::Result<Exit> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let written = std::fs::File::create(&partial)
        .and_then(|mut file| file.write_all(data).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&partial, path));
    written.with_context(|| Complaint::new(Exit::Local, format!("cannot write {}", path.display())))?;
    Ok(Exit::Success)
}

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(300);
