//! `linerate host log`.

use archive::changes::{ChangeError, ChangeFilter};
use linux::monitor::seen_process;
use model::host::change::{ActingProcess, Actor, ChangeEntry, ChangeNote, ChangeSource, LoggedChange};

use crate::cli::Common;
use crate::cli::host::log::{LogAction, LogArgs};
use crate::commands::{archive as kept, print};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &LogArgs) -> anyhow::Result<Exit> {
    let is_filtered = args.since.or(args.until).is_some() || args.host.as_ref().or(args.fact.as_ref()).is_some();
    if args.action.is_some() && is_filtered {
        return Err(Complaint::new(Exit::Usage, "--since, --until, --host and --fact say what to show")
            .hint("options of `note` and `add` stand behind them: `linerate host log add TEXT --host dtn1`")
            .into());
    }
    match &args.action {
        None => list(common, args),
        Some(LogAction::Note { number, text, ticket }) => {
            let mut archive = kept::open_to_read(common)?;
            archive.note_change(*number, &note(text, ticket.as_deref())).map_err(complain)?;
            shown(common, &archive.change(*number).map_err(complain)?)
        }
        Some(LogAction::Add { text, ticket, host, subject }) => {
            let host = host.clone().unwrap_or_else(linux::host::hostname);
            let mut entry = ChangeEntry::new(linux::clock::wall_now(), host, "by hand", ChangeSource::Person);
            entry.boot = linux::host::boot_id().ok();
            entry.subject.clone_from(subject);
            entry.actor = Actor::Process(this_process());
            entry.notes.push(note(text, ticket.as_deref()));
            let mut archive = kept::open(common)?;
            let number = archive.append_change(&entry).map_err(complain)?;
            shown(common, &LoggedChange { number, entry })
        }
    }
}

fn list(common: &Common, args: &LogArgs) -> anyhow::Result<Exit> {
    let filter = ChangeFilter {
        host: args.host.clone(),
        since: args.since,
        until: args.until,
        fact: args.fact.clone(),
        limit: Some(args.limit),
    };
    let archive = kept::open_to_read(common)?;
    let changes = archive.changes(&filter).map_err(complain)?;
    if common.json {
        let lines = changes.iter().map(show::json::document).collect::<anyhow::Result<Vec<_>>>()?;
        return print(&lines.concat());
    }
    if changes.is_empty() {
        eprintln!("no such change in {}; `linerate host watch` enters them", archive.path().display());
    }
    print(show::host::log::text(&changes).as_bytes())
}

fn shown(common: &Common, change: &LoggedChange) -> anyhow::Result<Exit> {
    if common.json {
        return print(&show::json::document(change)?);
    }
    print(format!("{}\n", show::host::log::line(change)).as_bytes())
}

fn note(text: &str, ticket: Option<&str>) -> ChangeNote {
    let who = this_process();
    ChangeNote {
        time: linux::clock::wall_now(),
        user: who.login.or(who.user),
        text: text.to_owned(),
        ticket: ticket.map(str::to_owned),
    }
}

/// Who types this.
fn this_process() -> ActingProcess {
    let seen = seen_process(std::process::id()).unwrap_or_default();
    ActingProcess {
        pid: seen.pid,
        program: seen.program,
        // The words are in the note.
        command_line: Vec::new(),
        user: seen.user.map(host::watch::user_name),
        login: seen.login.map(host::watch::user_name).or_else(|| std::env::var("SUDO_USER").ok()),
    }
}

fn complain(error: ChangeError) -> anyhow::Error {
    let complaint = match &error {
        ChangeError::Unknown { number, .. } => Complaint::new(Exit::NotFound, format!("there is no change {number}"))
            .hint("`linerate host log` lists them"),
        _ => Complaint::new(Exit::Local, "the change log cannot be used"),
    };
    anyhow::Error::new(error).context(complaint)
}
