//! `linerate view`.

use std::fs::{self, File};
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use archive::Archive;
use archive::export;
use model::host::snapshot::Snapshot;
use model::round::Round;
use tokio::sync::watch;
use web::site::Site;
use web::source::Source;
use web::source::files::Files;
use web::source::kept::Kept;

use super::attempt::stop_on_signals;
use super::{archive as kept, print};
use crate::cli::Common;
use crate::cli::view::ViewArgs;
use crate::exit::{Complaint, Exit};

pub fn run(common: &Common, args: &ViewArgs) -> anyhow::Result<Exit> {
    check_address(args.listen)?;
    let (source, page) = source(common, args.what.as_deref())?;
    let site = Arc::new(Site::new(source, Vec::new()));
    let (stop, stopped) = watch::channel(false);
    let signalled = stop_on_signals()?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while !signalled.is_stopped() {
            std::thread::sleep(GLANCE);
        }
        let _ = stop.send(true);
    })?;
    let failed = || Complaint::new(Exit::Local, format!("cannot listen on {}", args.listen));
    web::server::serve(&site, args.listen, stopped, |address| {
        // Whoever reads this output may have gone; the pages are there all the same.
        let _ = print(format!("http://{address}{page}\n").as_bytes());
        if !common.quiet {
            eprintln!("open this address in a browser; Ctrl-C ends it");
        }
    })
    .with_context(failed)?;
    Ok(Exit::Success)
}

/// Whoever reaches the pages reads them: other machines do by ssh.
pub fn check_address(listen: SocketAddr) -> anyhow::Result<()> {
    if listen.ip().is_loopback() {
        return Ok(());
    }
    let complaint = Complaint::new(Exit::Usage, "pages are shown on this machine only");
    Err(complaint
        .hint("from elsewhere: ssh -L 8000:127.0.0.1:8000 HOST, and a listen address of 127.0.0.1:8000")
        .into())
}

/// Where pages come from, and which one to begin with.
fn source(common: &Common, what: Option<&Path>) -> anyhow::Result<(Box<dyn Source>, String)> {
    let Some(what) = what else { return Ok((Box::new(Kept::new(kept::open_to_read(common)?)), "/".to_owned())) };
    #[cfg(feature = "hub")]
    if let Some(source) = super::hub::pages::source(what)? {
        return Ok((source, "/".to_owned()));
    }
    if what.is_dir() {
        let mut files = Files::named(what.display().to_string());
        let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", what.display()));
        for entry in fs::read_dir(what).with_context(unreadable)?.take(MOST_FILES) {
            let path = entry.with_context(unreadable)?.path();
            let is_json = path.extension().is_some_and(|extension| extension == "json");
            if is_json && add(&mut files, &path).is_none() {
                eprintln!("warning: {} holds no round, no exported run and no snapshot of a host", path.display());
            }
        }
        return Ok((Box::new(files), "/".to_owned()));
    }
    if what.is_file() {
        return of_file(what);
    }
    let name = what.to_string_lossy();
    let nowhere = || {
        Complaint::new(Exit::NotFound, format!("there is no file, folder, round or run `{name}`"))
            .hint("is the path right? `linerate runs list` and `linerate round list` show what the archive has")
    };
    let archive = kept::open_for_name(common, nowhere)?;
    let page = match (archive.resolve_round(&name), archive.resolve(&name)) {
        (Ok(round), _) => format!("/round/{round}"),
        (Err(_), Ok(run)) => format!("/run/{run}"),
        (Err(_), Err(error)) => {
            return Err(anyhow::Error::from(error).context(nowhere()));
        }
    };
    Ok((Box::new(Kept::new(archive)), page))
}

fn of_file(path: &Path) -> anyhow::Result<(Box<dyn Source>, String)> {
    let shown = path.display();
    let mut start = [0; 15];
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {shown}"));
    let count = File::open(path).and_then(|mut file| file.read(&mut start)).with_context(unreadable)?;
    if start[..count].starts_with(b"SQLite format 3") {
        let archive = Archive::open_to_read(path);
        let archive = archive.with_context(|| Complaint::new(Exit::NotFound, format!("{shown} is no archive")))?;
        return Ok((Box::new(Kept::new(archive)), "/".to_owned()));
    }
    let mut files = Files::named(shown.to_string());
    let page = add(&mut files, path).ok_or_else(|| {
        Complaint::new(Exit::NotFound, format!("{shown} holds no round, no exported run and no snapshot of a host"))
            .hint(
                "`linerate round PLAN -o FILE`, `linerate runs export` and `linerate host snapshot --json` write them",
            )
    })?;
    Ok((Box::new(files), page))
}

/// Adds what a file holds, and says which page shows it.
fn add(files: &mut Files, path: &Path) -> Option<String> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(export::json::MAX_EXPORT_BYTES).read_to_end(&mut text).ok()?;
    if let Ok(round) = Round::from_json(&text)
        && round.format <= Round::FORMAT
    {
        let page = format!("/round/{}", round.id);
        files.add_round(round);
        return Some(page);
    }
    if let Ok(snapshot) = Snapshot::read(&text)
        && let Some(name) = snapshot.machine.name.value().cloned()
    {
        files.add_snapshot(snapshot);
        return Some(format!("/host?name={name}"));
    }
    let export = export::json::read_export(text.as_slice(), export::json::MAX_EXPORT_BYTES).ok()?;
    let page = format!("/run/{}", export.run.id);
    files.add_run(export.run, export.samples);
    Some(page)
}

/// How soon a signal is heeded.
const GLANCE: std::time::Duration = std::time::Duration::from_millis(100);
/// Files of a folder that are looked at.
const MOST_FILES: usize = 10_000;
