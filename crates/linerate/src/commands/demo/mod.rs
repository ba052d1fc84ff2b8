//! `linerate demo`: an incident from the first measurement to the proof that it is mended.
//!
//! * [`stories`]: which there are
//! * [`chapter`]: one network: measured, diagnosed, mended, measured again
//! * [`again`]: what is tested again, before the change and after it
//! * [`mend`]: what mends it: a setting of a host, or the people who run a network

mod again;
mod chapter;
mod mend;
mod stories;

use anyhow::Context;
use lab::scenario::Scenario;

use self::chapter::Teller;
use self::stories::STORIES;
use super::desk::Desk;
use super::lab::{acquire_rights, keeper, up};
use super::print;
use crate::cli::Common;
use crate::cli::demo::DemoArgs;
use crate::exit::Exit;
use crate::show;

/// Tells an incident, or says which there are.
pub fn run(common: &Common, args: &DemoArgs) -> anyhow::Result<Exit> {
    if args.list {
        let stories: Vec<_> = STORIES.iter().map(|story| (story.name, story.title, story.chapters)).collect();
        return if common.json {
            print(&show::demo::list_json(&stories)?)
        } else {
            print(show::demo::list(&stories).as_bytes())
        };
    }
    let (chapters, left) = chapters(args)?;
    acquire_rights()?;
    for scenario in &chapters {
        keeper::check(scenario)?;
    }
    let desk = Desk::new("demo")?;
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let teller = Teller { common, seed: args.seed, program, desk: &desk, stop: desk.stop_on_signals()? };
    let mut told = Vec::new();
    for scenario in chapters {
        let Some(chapter) = teller.tell(scenario)? else { return Ok(Exit::Interrupted) };
        told.push(chapter);
    }
    if common.json {
        print(&show::json::document(&told)?)?;
    } else {
        print(show::demo::end(&told, &left).as_bytes())?;
    }
    Ok(if told.iter().all(|chapter| chapter.is_mended()) { Exit::Success } else { Exit::Found })
}

/// The chapters to tell, and those that are left for another time.
fn chapters(args: &DemoArgs) -> anyhow::Result<(Vec<Scenario>, Vec<Scenario>)> {
    let mut chapters = stories::chapters(&args.name).map_err(up::refuse)?;
    let left = if args.all { Vec::new() } else { chapters.split_off(chapters.len().min(1)) };
    Ok((chapters, left))
}
