//! `linerate lab run --virtual`: a scenario in virtual time. It needs no rights, no devices and no quiet machine.
//!
//! Its runs are not kept in the archive: they are no measurements, and a baseline must not know them.

use lab::scenario::Scenario;
use linux::clock;
use path::Seed;
use twin::play::{Setting, play_as};
use units::duration::show;

use crate::cli::Common;
use crate::cli::lab::RunArgs;
use crate::commands::attempt::new_id;
use crate::commands::examine::{Examiner, USUAL_BUDGET, report};
use crate::commands::{file, print};
use crate::exit::Exit;
use crate::show::{json, played};

/// Plays a scenario, and tells of it as of a live one.
pub fn run(common: &Common, args: &RunArgs, scenario: &Scenario) -> anyhow::Result<Exit> {
    let began = clock::now();
    let started = clock::wall_now();
    let play = play_as(scenario, &Setting { seed: Seed(args.seed), id: new_id(started)?, started });
    let took = clock::now().since(began);
    if let Some(path) = &args.evidence {
        file::write(path, &json::document(&play.round)?)?;
    }
    if !common.json {
        print(played::introduction(scenario).as_bytes())?;
        let simulated = show(play.round.elapsed);
        print(format!("Played in virtual time: {simulated} in {}.\n", show(took)).as_bytes())?;
        for (tested, of_round) in play.played.tests.iter().zip(&play.round.tests) {
            print(played::tested(tested, of_round.samples.as_deref()).as_bytes())?;
        }
    }
    if args.why {
        let examiner = Examiner::new(args.budget.unwrap_or(USUAL_BUDGET));
        report(common, &play.round, &examiner.examination(&play.round))?;
        if !common.json {
            print(b"\n")?;
        }
    }
    match (common.json, args.why) {
        (true, true) => Ok(Exit::Success),
        (true, false) => print(&json::document(&play.played)?),
        (false, _) => print(played::truth(&play.played, played::Mode::Virtual).as_bytes()),
    }
}
