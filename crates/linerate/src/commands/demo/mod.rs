//! `linerate demo`: an incident from the first measurement to the proof that it is fixed.
//!
//! * [`stories`]: which there are
//! * [`chapter`]: one network: measured, diagnosed, fixed, measured again
//! * [`virtual_play`]: the same in virtual time, for machines without CPU time to spare
//! * [`retest`]: what is tested again, before the change and after it
//! * [`fix`]: the fix: a setting of a host, or the operators of a network

mod chapter;
mod fix;
mod retest;
mod stories;
mod virtual_play;

use anyhow::Context;
use diagnose::proof::Chapter;
use lab::play::{Fit, Fitness};
use lab::scenario::{Scenario, ScenarioError};

use self::chapter::Demo;
use self::stories::STORIES;
use super::lab::{acquire_rights, daemon, up};
use super::scratch::ScratchDirectory;
use super::{print, print_text};
use crate::cli::Common;
use crate::cli::demo::DemoArgs;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::demo::PlayClock;

/// Plays an incident, or lists which there are.
pub fn run(common: &Common, args: &DemoArgs) -> anyhow::Result<Exit> {
    if args.list {
        let stories: Vec<_> = STORIES.iter().map(|story| (story.name, story.title, story.chapters)).collect();
        return if common.json {
            print(&show::demo::list_json(&stories)?)
        } else {
            print_text(&show::demo::list(&stories))
        };
    }
    let (chapters, left) = chapters(args)?;
    let clock = if args.virtual_time { PlayClock::Virtual } else { play_clock(common, &chapters)? };
    let scratch = ScratchDirectory::new("demo")?;
    let stop = scratch.stop_on_signals()?;
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let demo = Demo { common, seed: args.seed, program, clock, scratch: &scratch, stop };
    let mut played = Vec::new();
    for scenario in chapters {
        let Some(chapter) = demo.play_chapter(scenario)? else { return Ok(Exit::Interrupted) };
        played.push(chapter);
    }
    if common.json {
        let chapters: Vec<&Chapter> = played.iter().map(|played| &played.chapter).collect();
        print(&show::json::document(&chapters)?)?;
    } else {
        print(show::demo::end(&played, &left).as_bytes())?;
    }
    Ok(if played.iter().all(|played| played.chapter.is_fixed()) { Exit::Success } else { Exit::Found })
}

/// On which clock the chapters can be played here now, which is said where it is not the usual one.
fn play_clock(common: &Common, chapters: &[Scenario]) -> anyhow::Result<PlayClock> {
    acquire_rights()?;
    for scenario in chapters {
        daemon::check(scenario)?;
    }
    let fitness = Fitness::measure().context(Complaint::new(Exit::Local, "the emulator cannot be measured here"))?;
    if !common.json {
        print(show::demo::fitness(&fitness).as_bytes())?;
    }
    Ok(match fitness {
        Fitness::Quiet => PlayClock::Live(Fit::default()),
        Fitness::Busy { fit, .. } => PlayClock::Live(fit),
        Fitness::Unfit { .. } => PlayClock::Virtual,
    })
}

/// The chapters to play, and those that are left for another time.
fn chapters(args: &DemoArgs) -> anyhow::Result<(Vec<Scenario>, Vec<Scenario>)> {
    let mut chapters = stories::chapters(&args.name).map_err(|error| {
        let complaint = Complaint::new(Exit::NotFound, "there is no such demonstration")
            .hint("`linerate demo --list` shows the incidents, `linerate lab list` all scenarios");
        match error {
            ScenarioError::Unknown { .. } => anyhow::Error::from(error).context(complaint),
            error => up::refuse(error),
        }
    })?;
    let left = if args.all { Vec::new() } else { chapters.split_off(chapters.len().min(1)) };
    Ok((chapters, left))
}
