//! `linerate lab run`.

use std::fs::File;
use std::io::{BufWriter, IsTerminal};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use archive::Archive;
use lab::network::Network;
use lab::play::{Audience, PlayError, Setting, Voice, play};
use lab::relay::log::Events;
use lab::scenario::{Scenario, Test};
use model::played::{Finding, Played, Tested};
use model::series::RunSamples;
use path::Seed;
use units::duration::show;

use super::acquire_rights;
use super::keeper::check;
use super::up::refuse;
use crate::cli::Common;
use crate::cli::lab::RunArgs;
use crate::commands::attempt::stop_on_signals;
use crate::commands::{archive as kept, print};
use crate::exit::{Complaint, Exit};
use crate::show::{json, played};

pub fn run(common: &Common, args: &RunArgs) -> anyhow::Result<Exit> {
    let scenario = lab::scenario::load(&args.scenario).map_err(refuse)?;
    acquire_rights()?;
    check(&scenario)?;
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let archive = if args.no_archive { None } else { Some(kept::open(common)?) };
    let file = archive.as_ref().map(|archive| archive.path().to_owned());
    let stop = stop_on_signals()?;
    let setting = Setting {
        scenario: &scenario,
        seed: Seed(args.seed),
        program: &program,
        archive: file.as_deref(),
        voice: if common.quiet || common.json { Voice::Silent } else { Voice::Progress },
        stop: &stop,
    };
    let mut screen = Screen { common, archive: archive.as_ref() };
    screen.say(&played::introduction(&scenario))?;
    let (outcome, events) = play(&setting, &mut screen).map_err(complain)?;
    if let Some(path) = &args.log {
        write_log(path, &scenario, &events)?;
    }
    if common.json {
        print(&json::document(&outcome)?)?;
    } else {
        print(played::truth(&outcome).as_bytes())?;
    }
    Ok(exit(&outcome, stop.is_stopped()))
}

/// Tells on the terminal how it goes, unless nobody wants to know.
struct Screen<'a> {
    common: &'a Common,
    archive: Option<&'a Archive>,
}

impl Screen<'_> {
    fn say(&self, text: &str) -> anyhow::Result<()> {
        if !self.common.json {
            print(text.as_bytes())?;
        }
        Ok(())
    }

    /// The samples of a run, which its program has put into the archive.
    fn samples(&self, tested: &Tested) -> Option<RunSamples> {
        let Finding::Run(run) = &tested.finding else { return None };
        self.archive?.samples(&run.id).ok()
    }
}

impl Audience for Screen<'_> {
    fn raised(&mut self, network: &Network, took: Duration) {
        // A terminal that is gone is noticed at the end.
        let _ = self.say(&format!("The network is up: {} hosts, in {}.\n", network.hosts().len(), show(took)));
    }

    fn begins(&mut self, test: &Test, at: Duration) {
        if std::io::stderr().is_terminal() && !self.common.quiet {
            eprintln!("{:5.1} s  {} …", at.as_secs_f64(), test.label);
        }
    }

    fn ended(&mut self, _test: &Test, tested: &Tested) {
        let _ = self.say(&played::tested(tested, self.samples(tested).as_ref()));
    }
}

fn write_log(path: &Path, scenario: &Scenario, events: &Events) -> anyhow::Result<()> {
    let wires: Vec<String> = scenario.links.iter().map(|link| link.name.clone()).collect();
    let written = File::create(path).and_then(|file| events.write_lines(&wires, BufWriter::new(file)));
    written.with_context(|| Complaint::new(Exit::Local, format!("cannot write to {}", path.display())))
}

fn complain(error: PlayError) -> anyhow::Error {
    anyhow::Error::from(error).context(
        Complaint::new(Exit::Local, "the scenario cannot be played")
            .hint("`linerate lab check` says what this machine can and cannot do"),
    )
}

/// A test that fails is a result; that the emulation was the limit is not.
fn exit(played: &Played, is_stopped: bool) -> Exit {
    match (is_stopped, played.limited_by_emulation.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Success,
        (false, false) => Exit::Local,
    }
}
