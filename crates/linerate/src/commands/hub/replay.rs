//! `linerate hub replay`: a scenario as the history of a hub, in virtual time.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Context as _;
use hub::history::History;
use hub::server::directory::{Directory, Settings};
use hub::store::sqlite::Sqlite;
use lab::scenario::Scenario;
use linux::clock;
use mesh::clock::{earlier, later};
use mesh::incident::{Action, Incident, IncidentId};
use model::round::Round;
use path::Seed;
use twin::play::{Setting, planted, play_as};
use units::WallTime;

use super::files::{complain, no_database};
use crate::cli::Common;
use crate::cli::replay::ReplayArgs;
use crate::commands::attempt::new_id;
use crate::commands::lab::up::refuse;
use crate::commands::{print, print_as_it_is};
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::replay as say;

pub(super) fn run(common: &Common, args: &ReplayArgs) -> anyhow::Result<Exit> {
    let scenario = lab::scenario::load(&args.scenario).map_err(refuse)?;
    if scenario.faults.is_empty() {
        let nothing =
            Complaint::new(Exit::Usage, format!("nothing goes wrong in {}: it has no [[faults]]", scenario.name));
        return Err(nothing
            .hint("`linerate lab list` lists the library; docs/formats/scenario.md says how a fault is written")
            .into());
    }
    let mut usual = scenario.clone();
    usual.faults.clear();
    let settings = Settings::new(([127, 0, 0, 1], 8443).into(), vec!["localhost".to_owned()]);
    let directory = Directory::at(&args.directory);
    directory.init(&settings, None).map_err(|error| complain(error, &args.directory))?;
    let store = Arc::new(Sqlite::open(&directory.database()).context(no_database(&directory))?);
    let rounds =
        Rounds { args, began: earlier(clock::wall_now(), args.every * (args.before + args.during + args.after)) };
    let first = rounds.play(&usual, 0)?;
    let mut history = History::begin(store, &settings, &first, args.every)?;
    let quiet = common.quiet || common.json;
    let mut teller = Teller { quiet, known: BTreeSet::new() };
    teller.say(&say::introduction(&scenario, args))?;
    history.add(&first)?;
    for number in 1..args.before {
        history.add(&rounds.play(&usual, number)?)?;
        teller.follow(&history)?;
    }
    teller.line(rounds.at(args.before), &say::faults(&scenario))?;
    for number in args.before..args.before + args.during {
        history.add(&rounds.play(&scenario, number)?)?;
        teller.follow(&history)?;
    }
    let fixed = args.before + args.during;
    if args.after > 0 {
        fix(&history, &scenario, rounds.at(fixed))?;
        teller.line(rounds.at(fixed), say::TAKEN_OUT)?;
    }
    for number in fixed..fixed + args.after {
        history.add(&rounds.play(&usual, number)?)?;
        teller.follow(&history)?;
    }
    let incidents = history.incidents();
    let truth = planted(&scenario);
    let is_named = |incident: &Incident| {
        incident.explanation.as_ref().is_some_and(|one| truth.iter().any(|planted| planted.cause == one.cause))
    };
    let exit = if incidents.iter().any(is_named) { Exit::Success } else { Exit::Found };
    if common.json {
        print(&show::json::document(&hub::api::mesh::IncidentList { incidents })?)?;
    } else {
        print(say::end(&args.directory, &incidents).as_bytes())?;
    }
    Ok(exit)
}

/// The rounds of the history, played as they are needed.
struct Rounds<'a> {
    args: &'a ReplayArgs,
    began: WallTime,
}

impl Rounds<'_> {
    fn at(&self, number: u32) -> WallTime {
        later(self.began, self.args.every * number)
    }

    fn play(&self, scenario: &Scenario, number: u32) -> anyhow::Result<Round> {
        let started = self.at(number);
        let seed = Seed(self.args.seed).part(u64::from(number));
        Ok(play_as(scenario, &Setting { seed, id: new_id(started)?, started }).round)
    }
}

/// Says in the record of each incident that is open what was done.
fn fix(history: &History, scenario: &Scenario, at: WallTime) -> anyhow::Result<()> {
    for incident in history.incidents().into_iter().filter(|incident| incident.status.is_bad()) {
        let act = |action| history.act(&incident.id, action, at);
        act(Action::Acknowledge { by: "replay".to_owned() })?;
        act(Action::Fix { by: "replay".to_owned(), text: say::fix(scenario) })?;
    }
    Ok(())
}

/// Says what happens, each thing once.
struct Teller {
    quiet: bool,
    known: BTreeSet<(IncidentId, String)>,
}

impl Teller {
    fn follow(&mut self, history: &History) -> anyhow::Result<()> {
        for incident in history.incidents() {
            for entry in &incident.timeline {
                let line = format!("{}: {}", incident.id, entry.occurrence);
                if self.known.insert((incident.id.clone(), format!("{:?} {line}", entry.at))) {
                    self.line(entry.at, &line)?;
                }
            }
        }
        Ok(())
    }

    fn line(&self, at: WallTime, text: &str) -> anyhow::Result<()> {
        self.say(&say::line(at, text))
    }

    fn say(&self, text: &str) -> anyhow::Result<()> {
        if self.quiet { Ok(()) } else { print_as_it_is(text.as_bytes()).map(drop) }
    }
}
