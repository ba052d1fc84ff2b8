//! `linerate round show`.

use plan::Schedule;

use super::reading;
use crate::cli::Common;
use crate::cli::round::ShowArgs;
use crate::commands::print;
use crate::exit::Exit;
use crate::show;

pub fn run(common: &Common, args: &ShowArgs) -> anyhow::Result<Exit> {
    let planned = reading::plan(&args.plan)?;
    if !common.quiet {
        reading::tell(&planned.remarks);
    }
    let schedule = Schedule::new(&planned.plan);
    let report = schedule.report(&planned.plan);
    if common.json {
        return print(&show::json::document(&report)?);
    }
    let times = if args.times { show::round::Times::Listed } else { show::round::Times::Left };
    print(show::round::schedule(&planned.plan, &report, times).as_bytes())
}
