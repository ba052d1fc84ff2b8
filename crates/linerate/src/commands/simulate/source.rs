//! The run or the round that a name on the command line stands for.

use std::path::Path;

use anyhow::Context;
use archive::export::json::MAX_EXPORT_BYTES;
use model::played::Finding;
use model::round::{Round, Tested};
use model::run::Run;
use model::series::RunSamples;
use predict::case::Case;

use crate::cli::Common;
use crate::commands::archive as kept;
use crate::commands::expectation::Facts;
use crate::commands::round::reading;
use crate::commands::runs::resolve_name;
use crate::exit::{Complaint, Exit};

/// What a name stands for.
pub enum Source {
    Round(Box<Round>),
    /// With what the archive knows of its hosts, and the samples that were kept.
    Run {
        run: Box<Run>,
        facts: Box<Facts>,
        samples: RunSamples,
    },
}

impl Source {
    /// Reads what the archive or a file has under a name.
    pub fn read(common: &Common, name: &str) -> anyhow::Result<Self> {
        let path = Path::new(name);
        if path.is_file() {
            return of_file(path);
        }
        let nowhere = || {
            Complaint::new(Exit::NotFound, format!("there is no file, run or round `{name}`"))
                .hint("is the path right? `linerate runs list` and `linerate round list` show what the archive has")
        };
        let archive = kept::open_for_name(common, nowhere)?;
        // Names of runs and of rounds are never alike; `last` is the last run.
        if let Some(id) = archive.resolve_round(name).ok().filter(|_| name != "last") {
            return Ok(Self::Round(Box::new(archive.round(&id)?)));
        }
        let id = resolve_name(&archive, name, nowhere)?;
        let run = archive.run(&id)?;
        let facts = Facts::of(&archive, &run);
        let samples = archive.samples(&id).unwrap_or_default();
        Ok(Self::Run { run: Box::new(run), facts: Box::new(facts), samples })
    }
}

/// A round, or a run as `linerate test --json` prints it or as `runs export` does, with its samples.
fn of_file(path: &Path) -> anyhow::Result<Source> {
    let unreadable = || {
        Complaint::new(Exit::NotFound, format!("{} cannot be read as a run or a round", path.display())).hint(
            "`linerate test HOST --json`, `linerate runs export RUN` and `linerate lab run SCENARIO --evidence FILE` write such files",
        )
    };
    let text = reading::text(path, MAX_EXPORT_BYTES)?;
    if let Ok(round) = Round::from_json(text.as_bytes()) {
        return Ok(Source::Round(Box::new(round)));
    }
    // A run in a file is alone, or exported with its samples.
    let alone = Run::from_json(text.as_bytes()).map(|run| (run, RunSamples::default()));
    let (run, samples) = alone
        .or_else(|_| {
            let export = archive::export::read_export(text.as_bytes(), MAX_EXPORT_BYTES);
            export.map(|export| (export.run, export.samples))
        })
        .with_context(unreadable)?;
    Ok(Source::Run { run: Box::new(run), facts: Box::new(Facts::NONE), samples })
}

/// The test of a round that was named, or its first transfer.
pub fn chosen<'a>(round: &'a Round, label: Option<&str>) -> anyhow::Result<&'a Tested> {
    let is_transfer = |tested: &&Tested| matches!(&tested.finding, Finding::Run(run) if !Case::all(run).is_empty());
    let transfers = || round.tests.iter().filter(is_transfer);
    let is_it = |tested: &&Tested| label.is_none_or(|label| tested.label == label);
    let found = transfers().find(is_it);
    found.with_context(|| {
        let known: Vec<&str> = transfers().map(|tested| tested.label.as_str()).collect();
        let what = label.map_or("no transfer".to_owned(), |label| format!("no transfer is called `{label}`"));
        Complaint::new(Exit::NotFound, format!("{what} in this round")).hint(format!("there are: {}", known.join(", ")))
    })
}
