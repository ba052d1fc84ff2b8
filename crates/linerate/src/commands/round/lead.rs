//! Running a plan.

use std::path::Path;

use anyhow::Context;
use archive::Archive;
use model::round::Round;
use plan::Plan;
use round::leader::lead;

use super::ready::{Limits, Ready};
use super::{reading, show as planned};
use crate::cli::Common;
use crate::cli::round::RunArgs;
use crate::commands::{archive as kept, file, print};
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
    let leading = ready.lead(Limits { patience: args.patience, overtime: args.overtime });
    let talk = if common.quiet || common.json { Talk::Nothing } else { Talk::Progress };
    let mut screen = Screen::new(&plan, &ready.schedule, talk);
    let round = lead(&leading, &mut screen);
    screen.finish();
    keep(&round, archive.as_mut(), args.output.as_deref())?;
    report(common, &round, if archive.is_some() { Kept::Yes } else { Kept::No })?;
    Ok(if ready.stop.is_stopped() { Exit::Interrupted } else { Exit::Success })
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
        file::write(path, &show::json::document(round)?)?;
    }
    Ok(())
}

fn report(common: &Common, round: &Round, is_kept: Kept) -> anyhow::Result<Exit> {
    if common.json {
        return print(&show::json::document(round)?);
    }
    let grids = diagnose::grid::grids(round);
    print(show::round::outcome(round, &grids, is_kept).as_bytes())
}
