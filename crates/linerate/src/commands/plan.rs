//! `linerate plan`.

use std::time::Duration;

use anyhow::Context;
use mesh::check::Checked;
use path::Seed;
use plan::Plan;
use plan::downloads::Downloads;
use plan::init::FirstPlan;

use super::host::sides::Sides;
use super::print;
use super::round::reading;
use crate::cli::Common;
use crate::cli::plan::{CheckArgs, DownloadsArgs, InitArgs, PlanAction, PlanArgs};
use crate::exit::{Complaint, Exit};
use crate::show;

/// Does what was asked for.
pub fn run(common: &Common, args: &PlanArgs) -> anyhow::Result<Exit> {
    match &args.action {
        PlanAction::Init(args) => init(common, args),
        PlanAction::Downloads(args) => downloads(args),
        PlanAction::Check(args) => check(common, args),
    }
}

fn init(common: &Common, args: &InitArgs) -> anyhow::Result<Exit> {
    let snapshots = Sides::new(common).read(&args.hosts)?;
    let first = FirstPlan::of(&snapshots);
    if first.plan.hosts.len() < 2 {
        let count = first.plan.hosts.len();
        return Err(Complaint::new(Exit::NotFound, format!("{count} of {} hosts can be tested", snapshots.len()))
            .hint("a plan needs two hosts with an address each: `linerate host snapshot --json > HOST.json` at each")
            .into());
    }
    for remark in &first.remarks {
        eprintln!("note: {remark}");
    }
    print(first.plan.to_toml().as_bytes())
}

fn downloads(args: &DownloadsArgs) -> anyhow::Result<Exit> {
    let DownloadsArgs { file, site, server, proxy, every } = args.clone();
    let plan = Downloads { file, sites: site, servers: server, proxies: proxy, every }.plan();
    // A plan that a hub would refuse is not written.
    let text = plan.to_toml();
    Plan::parse("plan", &text).context(Complaint::new(Exit::Usage, "this makes no plan"))?;
    print(text.as_bytes())
}

fn check(common: &Common, args: &CheckArgs) -> anyhow::Result<Exit> {
    let plan = reading::plan(common, &args.plan)?;
    let midnight = units::WallTime::from(std::time::SystemTime::now()).unix_seconds() / DAY * DAY;
    let from = units::WallTime::from_unix_nanos(midnight * 1_000_000_000);
    let checked = Checked::new(&plan, Seed(args.seed), from, Duration::from_secs(DAY));
    if common.json {
        print(&show::json::document(&checked)?)?;
    } else {
        let times = if args.times { show::round::Times::Listed } else { show::round::Times::Left };
        print(show::plan::checked(&checked, times).as_bytes())?;
    }
    Ok(if checked.fits() { Exit::Success } else { Exit::Found })
}

const DAY: u64 = 86_400;
