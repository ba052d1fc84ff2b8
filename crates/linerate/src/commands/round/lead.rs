//! Running a plan.

use std::path::Path;

use anyhow::Context;
use archive::Archive;
use archive::rounds::has_result;
use archive::running;
use measure::stop::Stop;
use model::round::Round;
use plan::Plan;
use round::leader::journal::{Interrupted, Journal, interrupted};
use round::leader::lead;

use super::ready::{Limits, Ready};
use super::{reading, show as planned};
use crate::cli::Common;
use crate::cli::round::RunArgs;
use crate::commands::{archive as kept, file, print, print_as_it_is};
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::live::round::Screen;
use crate::show::progress::Talk;
use crate::show::round::{Kept, Times};

pub fn run(common: &Common, args: &RunArgs) -> anyhow::Result<Exit> {
    // The argument parser lets nothing else pass.
    let path = args.plan.as_deref().context("no plan")?;
    if args.dry_run {
        return planned::of_plan(common, path, Times::Left);
    }
    let plan = reading::plan(common, path)?;
    check(&plan, path)?;
    if let Some(output) = &args.output {
        file::check(output)
            .with_context(|| Complaint::new(Exit::Local, format!("cannot write {}", output.display())))?;
    }
    // Before the tests, so that nobody measures for an hour and then cannot keep the result.
    let mut archive = if args.no_archive { None } else { Some(kept::open(common)?) };
    let ready = Ready::new(&plan)?;
    let running = Running::prepare(common, args, path, &ready, archive.as_mut())?;
    let limits = Limits { patience: args.patience, overtime: args.overtime, repeats: args.repeats };
    let leading = ready.lead(limits, running.journal.as_ref(), running.resumed.as_ref());
    let talk = if common.quiet || common.json { Talk::Nothing } else { Talk::Progress };
    let mut screen = Screen::new(&plan, &ready.schedule, talk);
    let round = lead(&leading, &mut screen);
    screen.finish();
    // Shown before it is kept, and kept where it cannot be shown: neither a full disk nor a reader that has gone costs what
    // was measured.
    let shown = report(common, &round, if archive.is_some() { Kept::Yes } else { Kept::No });
    if let Err(error) = keep(&round, archive.as_mut(), args.output.as_deref()) {
        return Err(match running.spilled() {
            Some(hint) => error.context(Complaint::new(Exit::Local, "the round cannot be kept").hint(hint)),
            None => error,
        });
    }
    running.done();
    shown?;
    Ok(ending(&round, &ready.stop))
}

/// How the command ends: a round of which no test gave a result has measured nothing.
fn ending(round: &Round, stop: &Stop) -> Exit {
    let has_any = round.tests.iter().any(|tested| has_result(&tested.finding));
    match (stop.is_stopped(), has_any || round.tests.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Success,
        (false, false) => Exit::NothingMeasured,
    }
}

/// What is on disk of the round while it runs, and the one that goes on.
struct Running {
    journal: Option<Journal>,
    resumed: Option<Interrupted>,
}

impl Running {
    /// Keeps rounds that nobody leads any more, or goes on with the last of this plan.
    fn prepare(
        common: &Common,
        args: &RunArgs,
        path: &Path,
        ready: &Ready<'_>,
        archive: Option<&mut Archive>,
    ) -> anyhow::Result<Self> {
        let Some(archive) = archive else {
            return Ok(Self { journal: None, resumed: None });
        };
        let directory = running::directory(archive.path());
        let unusable = || Complaint::new(Exit::Local, format!("cannot use {}", directory.display()));
        let plan = host::digest::sha256(&std::fs::read(path).with_context(unusable)?);
        let mut left = interrupted(&directory).with_context(unusable)?;
        let last = left.iter().rposition(|round| round.plan == plan).filter(|_| args.resume);
        let resumed = last.map(|place| left.remove(place));
        if args.resume && resumed.is_none() {
            let complaint = Complaint::new(Exit::NotFound, format!("no round of {} was interrupted", path.display()));
            return Err(complaint.hint("without --resume a new one begins").into());
        }
        for round in left {
            let (id, tests, is_same) = (round.round.id, round.tests.len(), round.plan == plan);
            archive.keep_round(&round.round()).with_context(unusable)?;
            round.done().with_context(unusable)?;
            if !common.quiet {
                let instead = if is_same { "; --resume would have gone on with it" } else { "" };
                eprintln!("round {id} was interrupted after {tests} tests, which are kept now{instead}");
            }
        }
        let journal = match &resumed {
            Some(interrupted) => Journal::resume(interrupted),
            None => Journal::begin(&directory, &ready.id.to_string(), &plan),
        };
        Ok(Self { journal: Some(journal.with_context(unusable)?), resumed })
    }

    /// Where the round is, if its journal has all of it.
    fn spilled(&self) -> Option<String> {
        let journal = self.journal.as_ref().filter(|journal| journal.failure().is_none())?;
        Some(format!("it is in {}, and the next `linerate round` keeps it", journal.path().display()))
    }

    /// The round is kept.
    fn done(self) {
        if let Some(journal) = self.journal {
            // What stays is kept once more by the next round, under the same name.
            let _ = journal.done();
        }
    }
}

/// A plan in which nothing can be started measures nothing.
fn check(plan: &Plan, path: &Path) -> anyhow::Result<()> {
    if plan.hosts.iter().all(|host| host.reach.is_none()) {
        let what = format!("{} does not say how any of its hosts is reached", path.display());
        let hint =
            "give hosts `ssh = \"USER@HOST\"`, `netns`, `lab`, or `here = true` for this one: docs/formats/plan.md";
        return Err(Complaint::new(Exit::Usage, what).hint(hint).into());
    }
    Ok(())
}

/// The archive first: nothing that was measured is lost by a file that cannot be written.
fn keep(round: &Round, archive: Option<&mut Archive>, output: Option<&Path>) -> anyhow::Result<()> {
    if let Some(archive) = archive {
        archive.keep_round(round).context(Complaint::new(Exit::Local, "the round cannot be kept"))?;
    }
    if let Some(path) = output {
        file::write(path, &show::json::round(round)?)?;
    }
    Ok(())
}

fn report(common: &Common, round: &Round, is_kept: Kept) -> anyhow::Result<Exit> {
    if common.json {
        return print(&show::json::round(round)?);
    }
    let grids = diagnose::grid::grids(round);
    print_as_it_is(show::round::outcome(round, &grids, is_kept).as_bytes())
}
