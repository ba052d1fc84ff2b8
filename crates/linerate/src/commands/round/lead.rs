//! Running a plan.

use std::path::Path;

use anyhow::Context;
use archive::Archive;
use lab::network::kept::{HostRecord, Kept as Lab, running};
use model::round::Round;
use plan::{Plan, Schedule};
use round::carrier::{Call, Carrier};
use round::leader::roster::Roster;
use round::leader::{Lead, lead};

use super::{reading, show as planned};
use crate::cli::Common;
use crate::cli::round::RunArgs;
use crate::commands::attempt::{new_id, stop_on_signals};
use crate::commands::lab::find;
use crate::commands::{archive as kept, file, print};
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::round::{Kept, Times};
use crate::show::round_live::Screen;

pub fn run(common: &Common, args: &RunArgs) -> anyhow::Result<Exit> {
    // The argument parser lets nothing else pass.
    let path = args.plan.as_deref().context("no plan")?;
    if args.dry_run {
        return planned::of_plan(common, path, Times::Left);
    }
    let read = reading::plan(path)?;
    if !common.quiet {
        reading::tell(&read.remarks);
    }
    let plan = read.plan;
    check(&plan, path)?;
    if let Some(output) = &args.output {
        file::check(output)
            .with_context(|| Complaint::new(Exit::Local, format!("cannot write {}", output.display())))?;
    }
    // Before the tests, so that nobody measures for an hour and then cannot keep the result.
    let mut archive = if args.no_archive { None } else { Some(kept::open(common)?) };
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let stop = stop_on_signals()?;
    let schedule = Schedule::new(&plan);
    let roster = Roster::new(&plan, &program, &in_lab);
    let leading = Lead {
        plan: &plan,
        schedule: &schedule,
        roster: &roster,
        id: new_id(linux::clock::wall_now())?,
        patience: args.patience,
        overtime: args.overtime,
        stop: &stop,
    };
    let mut screen = Screen::new(&plan, &schedule, common.quiet || common.json);
    let round = lead(&leading, &mut screen);
    screen.finish();
    keep(&round, archive.as_mut(), args.output.as_deref())?;
    report(common, &round, if archive.is_some() { Kept::Yes } else { Kept::No })?;
    Ok(if stop.is_stopped() { Exit::Interrupted } else { Exit::Success })
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

/// A host of a lab that is running.
#[derive(Debug)]
struct InLab {
    lab: Lab,
    host: HostRecord,
}

impl Carrier for InLab {
    fn start(&self, call: &Call<'_>) -> std::io::Result<std::process::Child> {
        let gone = || std::io::Error::other("it is gone");
        call.spawn(&mut self.lab.command(&self.host, call.program).ok_or_else(gone)?)
    }

    fn place(&self) -> String {
        format!("host {} of the lab {}", self.host.name, self.lab.record.name)
    }
}

pub fn in_lab(name: &str) -> Result<Box<dyn Carrier>, String> {
    let running = running().map_err(|error| error.to_string())?;
    let (lab, host) = find::host(&running, name).map_err(|error| error.to_string())?;
    let (lab, host) = (lab.record.name.clone(), host.clone());
    let lab = running.into_iter().find(|kept| kept.record.name == lab);
    let lab = lab.ok_or_else(|| format!("no lab is running that has `{name}`"))?;
    Ok(Box::new(InLab { lab, host }))
}
