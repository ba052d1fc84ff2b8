//! `linerate report`.

mod figures;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use diagnose::diagnosis::Diagnosis;
use hub::api::mesh::{IncidentDetail, IncidentList};
use hub::trust::token::Purpose;
use linux::clock;

use super::mesh::{connect, quoted};
use crate::cli::Common;
use crate::cli::report::ReportArgs;
use crate::commands::{file, print};
use crate::exit::{Complaint, Exit};
use crate::show::report::document::{self, Merged};
use crate::show::report::html;
use crate::show::report::sections::{Record, sections, title};

pub fn run(common: &Common, args: &ReportArgs) -> anyhow::Result<Exit> {
    let mut hub = connect(&args.connect, Purpose::View)?;
    let detail: IncidentDetail = hub.get(&format!("/api/v1/incident?id={}", quoted(&args.incident)))?;
    let all: IncidentList = hub.get("/api/v1/incidents")?;
    // A hub of another version may say more of causes than this program understands.
    let diagnosis: Option<Diagnosis> = detail.diagnosis.and_then(|found| serde_json::from_value(found).ok());
    let record = Record {
        incident: &detail.incident,
        diagnosis: diagnosis.as_ref(),
        all: &all.incidents,
        now: clock::wall_now(),
    };
    let (title, sections) = (title(&detail.incident), sections(&record));
    let before = args.output.as_deref().map(read).transpose()?.flatten();
    let Merged { text, kept } = match before {
        Some(before) => document::merge(&before, &sections, &title),
        None => Merged { text: document::new(&title, &sections), kept: Vec::new() },
    };
    if !kept.is_empty() && !common.quiet {
        eprintln!("kept as they were edited: {}", kept.join(", "));
    }
    if let Some(path) = &args.html {
        let figures = figures::of(&mut hub, &detail.incident)?;
        file::write(path, html::page(&text, &figures).as_bytes())?;
    }
    match &args.output {
        // What people have written in it is not lost where the disk is full.
        Some(path) => file::write(path, text.as_bytes()).map(|()| Exit::Success),
        None if args.html.is_some() => Ok(Exit::Success),
        None => print(text.as_bytes()),
    }
}

/// A report of before; [`None`] where there is none.
fn read(file: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let complaint = Complaint::new(Exit::NotFound, format!("cannot read {}", file.display()));
            Err(anyhow::Error::new(error).context(complaint))
        }
    }
}
