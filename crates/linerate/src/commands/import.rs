//! `linerate import`.

use ::import::round::{Source, UserFacts};
use archive::Archive;
use archive::store::StoreError;
use model::run::Run;
use model::series::RunSamples;

use super::evidence::read;
use super::{archive as kept, print, print_text};
use crate::cli::Common;
use crate::cli::import::ImportArgs;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::import::Storage;

/// Imports each file. One that cannot be read does not keep the others out.
pub fn run(common: &Common, args: &ImportArgs) -> anyhow::Result<Exit> {
    let facts = args.declared.facts(args.expect);
    let mut archive = if args.no_archive { None } else { Some(kept::open(common)?) };
    let mut exit = Exit::Success;
    for file in &args.files {
        match read(file) {
            Ok(source) => import(common, &source, &facts, &mut archive)?,
            Err(error) => {
                show::error::print(&error);
                exit = Exit::of_error(&error);
            }
        }
    }
    Ok(exit)
}

fn import(common: &Common, source: &Source, facts: &UserFacts, archive: &mut Option<Archive>) -> anyhow::Result<()> {
    for (index, test) in source.import.tests.iter().enumerate() {
        let run = source.run(index, test, facts);
        let kept = keep(archive, &run, &test.samples)?;
        if common.json {
            print(&show::import::json(&source.name, test, &run)?)?;
        } else {
            print_text(&show::import::test(&source.name, test, &run, &test.samples, kept))?;
        }
    }
    for (run, samples) in source.own_runs(facts) {
        let kept = keep(archive, &run, &samples)?;
        if common.json {
            print(&show::json::line(&run)?)?;
        } else {
            print_text(&show::import::own(&source.name, &run, &samples, kept))?;
        }
    }
    let about_all = show::import::file(&source.import);
    if common.json {
        eprint!("{about_all}");
    } else {
        print_text(&about_all)?;
    }
    Ok(())
}

/// A file that was imported before is told, and nothing is kept twice.
fn keep(archive: &mut Option<Archive>, run: &Run, samples: &RunSamples) -> anyhow::Result<Storage> {
    let Some(archive) = archive else { return Ok(Storage::NotWanted) };
    match archive.store(run, samples) {
        Ok(()) => Ok(Storage::Stored),
        Err(StoreError::AlreadyStored { .. }) => Ok(Storage::AlreadyStored),
        Err(error) => Err(anyhow::Error::from(error).context(Complaint::new(Exit::Local, "the run cannot be kept"))),
    }
}
