//! `linerate round show`.

use std::path::Path;

use plan::Schedule;

use super::reading::{self, Named};
use crate::cli::Common;
use crate::cli::round::ShowArgs;
use crate::commands::print;
use crate::exit::Exit;
use crate::show;

pub fn run(common: &Common, args: &ShowArgs) -> anyhow::Result<Exit> {
    if let Named::Round(round) = reading::named(common, &args.what)? {
        if common.json {
            return print(&show::json::round(&round)?);
        }
        return print(show::round::round(&round).as_bytes());
    }
    let times = if args.times { show::round::Times::Listed } else { show::round::Times::Left };
    of_plan(common, &args.what, times)
}

/// What a plan would do.
pub fn of_plan(common: &Common, path: &Path, times: show::round::Times) -> anyhow::Result<Exit> {
    let plan = reading::plan(common, path)?;
    let report = Schedule::new(&plan).report(&plan);
    if common.json {
        return print(&show::json::document(&report)?);
    }
    print(show::round::schedule(&plan, &report, times).as_bytes())
}
