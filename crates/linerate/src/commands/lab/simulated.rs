//! `linerate lab run --virtual`: a scenario in virtual time. It needs no rights, no devices and no quiet machine.
//!
//! Its runs are not kept in the archive: they are no measurements, and a baseline must not know them.

use lab::scenario::Scenario;
use linux::clock;
use path::Seed;
use twin::play::{Setting, play_on};
use units::duration::show;

use crate::cli::Common;
use crate::cli::lab::RunArgs;
use crate::commands::attempt::new_id;
use crate::commands::examine::{Examiner, USUAL_BUDGET, report};
use crate::commands::{file, print};
use crate::exit::Exit;
use crate::show::examine::asks;
use crate::show::{json, played};

/// Plays a scenario, and tells of it as of a live one.
pub fn run(common: &Common, args: &RunArgs, scenario: &Scenario) -> anyhow::Result<Exit> {
    let began = clock::now();
    let started = clock::wall_now();
    let setting = Setting { seed: Seed(args.seed), id: new_id(started)?, started };
    let mut examiner = args.why.then(|| Examiner::in_virtual_time(args.budget.unwrap_or(USUAL_BUDGET)));
    let play = play_on(scenario, &setting, &mut |round| examiner.as_mut()?.next(round));
    let took = clock::now().since(began);
    let examination = examiner.map(|examiner| examiner.examination(&play.round));
    if let Some(path) = &args.evidence {
        file::write(path, &json::document(&play.round)?)?;
    }
    if !common.json {
        print(played::introduction(scenario).as_bytes())?;
        let simulated = show(play.round.elapsed);
        print(format!("Played in virtual time: {simulated} in {}.\n", show(took)).as_bytes())?;
        let mut asked = examination.iter().flat_map(|examination| &examination.asked).peekable();
        for (number, (tested, of_round)) in play.played.tests.iter().zip(&play.round.tests).enumerate() {
            let is_besides = number >= scenario.tests.len();
            if let Some(asked) = asked.next_if(|asked| is_besides && asked.label == tested.label) {
                print(format!("\n{}", asks(&asked.says)).as_bytes())?;
            }
            print(played::tested(tested, of_round.samples.as_deref()).as_bytes())?;
        }
    }
    if let Some(examination) = examination {
        report(common, &play.round, &examination)?;
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
