//! `linerate report`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context as _;
use hub::api::report::{FigureInfo, ReportInfo, SectionInfo};
use hub::trust::token::Purpose;
use postmortem::document::{self, Merged};
use postmortem::html::{self, Figure};
use postmortem::sections::Section;

use super::mesh::{connect, quoted};
use crate::cli::Common;
use crate::cli::report::ReportArgs;
use crate::commands::{file, print};
use crate::exit::{Complaint, Exit};

pub fn run(common: &Common, args: &ReportArgs) -> anyhow::Result<Exit> {
    let mut hub = connect(&args.connect, Purpose::View)?;
    let report: ReportInfo = hub.get(&format!("/api/v1/report?id={}", quoted(&args.incident)))?;
    let before = args.output.as_deref().map(read).transpose()?.flatten();
    let section = |SectionInfo { key, title, text }| Section { key, title, text };
    let Merged { text, kept } = match before {
        Some(before) => {
            let sections: Vec<Section> = report.sections.into_iter().map(section).collect();
            document::merge(&before, &sections, &report.title)
        }
        None => Merged { text: report.text, kept: report.kept },
    };
    if !kept.is_empty() && !common.quiet {
        eprintln!("kept as they were edited: {}", kept.join(", "));
    }
    if let Some(path) = &args.html {
        let figure = |FigureInfo { section, caption, svg }| Figure { section, caption, svg };
        let figures: Vec<Figure> = report.figures.into_iter().map(figure).collect();
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
            Err(error).context(complaint)
        }
    }
}
