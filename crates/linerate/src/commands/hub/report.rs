//! `linerate report`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context as _;
use hub::api::report::{FigureInfo, ReportInfo, SectionInfo};
use hub::reports::{Postmortem, postmortem};
use hub::server::directory::Directory;
use hub::trust::token::Purpose;
use linux::clock;
use mesh::incident::IncidentId;
use postmortem::document::{self, Merged};
use postmortem::html::{self, Figure};
use postmortem::sections::Section;

use super::files::{no_database, open};
use super::mesh::{connect, quoted};
use crate::cli::Common;
use crate::cli::report::ReportArgs;
use crate::commands::{file, print};
use crate::exit::{Complaint, Exit};

pub fn run(common: &Common, args: &ReportArgs) -> anyhow::Result<Exit> {
    let Postmortem { title, sections, document, figures } = ask(args)?;
    let before = args.output.as_deref().map(read).transpose()?.flatten();
    let Merged { text, kept } = before.map_or(document, |before| document::merge(&before, &sections, &title));
    if !kept.is_empty() && !common.quiet {
        eprintln!("kept as they were edited: {}", kept.join(", "));
    }
    if let Some(path) = &args.html {
        file::write(path, html::page(&text, &figures).as_bytes())?;
    }
    match &args.output {
        // What people have written in it is not lost where the disk is full.
        Some(path) => file::write(path, text.as_bytes()).map(|()| Exit::Success),
        None if args.html.is_some() => Ok(Exit::Success),
        None => print(text.as_bytes()),
    }
}

/// The post-mortem: of a hub by its address, or from its directory, where it need not run.
fn ask(args: &ReportArgs) -> anyhow::Result<Postmortem> {
    if !args.connect.hub.starts_with("https://") {
        let directory = Directory::at(args.connect.hub.as_ref());
        let id = IncidentId(args.incident.clone());
        let found = postmortem(open(&directory)?.as_ref(), &id, clock::wall_now()).context(no_database(&directory))?;
        let none = || Complaint::new(Exit::NotFound, format!("there is no incident {id}"));
        return found.with_context(none);
    }
    let mut hub = connect(&args.connect, Purpose::View)?;
    let report: ReportInfo = hub.get(&format!("/api/v1/report?id={}", quoted(&args.incident)))?;
    let section = |SectionInfo { key, title, text }| Section { key, title, text };
    let figure = |FigureInfo { section, caption, svg }| Figure { section, caption, svg };
    Ok(Postmortem {
        title: report.title,
        sections: report.sections.into_iter().map(section).collect(),
        document: Merged { text: report.text, kept: report.kept },
        figures: report.figures.into_iter().map(figure).collect(),
    })
}

/// A report of before; [`None`] where there is none.
fn read(file: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let complaint = Complaint::new(Exit::NotFound, format!("cannot read {}", file.display()));
            Err(error).context(complaint)
        }
    }
}
