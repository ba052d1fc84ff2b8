//! `linerate lab run`.

use std::fs::File;
use std::io::{BufWriter, IsTerminal};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use archive::Archive;
use diagnose::next::Proposal;
use lab::network::Network;
use lab::play::{Audience, Fit, Fitness, PlayError, Setting, Show, play};
use lab::relay::Pace;
use lab::relay::log::Events;
use lab::scenario::{Scenario, Test};
use model::played::{Finding, Played, Tested};
use model::quality::Quality;
use model::round::Round;
use model::series::RunSamples;
use path::Seed;
use round::carrier::Voice;
use units::duration::show;

use super::acquire_rights;
use super::daemon::{check, does_not_live};
use super::simulated;
use super::up::refuse;
use crate::cli::Common;
use crate::cli::lab::RunArgs;
use crate::commands::attempt::{new_id, stop_on_signals};
use crate::commands::examine::{Examiner, USUAL_BUDGET, report};
use crate::commands::{archive as kept, file, print};
use crate::exit::{Complaint, Exit};
use crate::show::{examine, json, played};

pub fn run(common: &Common, args: &RunArgs) -> anyhow::Result<Exit> {
    let scenario = lab::scenario::load(&args.scenario).map_err(refuse)?;
    if args.virtual_time {
        return simulated::run(common, args, &scenario);
    }
    acquire_rights()?;
    check(&scenario)?;
    let program = std::env::current_exe().context("this program does not know where it is")?;
    let archive = if args.no_archive { None } else { Some(kept::open(common)?) };
    let place = archive.as_ref().map(|archive| archive.path().to_owned());
    let stop = stop_on_signals()?;
    let fit = match args.pace {
        Some(percent) => Fit { pace: Pace::of_percent(percent), ..Fit::default() },
        None => fit(common)?.of(&scenario),
    };
    let setting = Setting {
        scenario: &scenario,
        seed: Seed(args.seed),
        program: &program,
        archive: place.as_deref(),
        id: new_id(linux::clock::wall_now())?,
        facts: args.evidence.is_some() || args.why,
        fit,
        voice: if common.quiet || common.json { Voice::Silent } else { Voice::Progress },
        stop: &stop,
    };
    let examiner = args.why.then(|| Examiner::new(args.budget.unwrap_or(USUAL_BUDGET)));
    let mut screen = Screen { common, archive: archive.as_ref(), examiner };
    screen.say(&played::introduction(&scenario))?;
    let Show { played: outcome, mut round, events } = play(&setting, &mut screen).map_err(complain)?;
    if let Some(path) = &args.log {
        write_log(path, &scenario, &events)?;
    }
    if let Some(path) = &args.evidence {
        add_samples(&mut round, archive.as_ref());
        file::write(path, &json::document(&round)?)?;
    }
    if let Some(examiner) = screen.examiner {
        add_samples(&mut round, archive.as_ref());
        report(common, &round, &examiner.examination(&round))?;
        if !common.json {
            print(b"\n")?;
        }
    }
    match (common.json, args.why) {
        (true, true) => {}
        (true, false) => {
            print(&json::document(&outcome)?)?;
        }
        (false, _) => {
            print(played::truth(&outcome, played::Mode::Live).as_bytes())?;
        }
    }
    Ok(exit(&outcome, stop.is_stopped()))
}

/// How the play fits this machine. Where it does not, it is played all the same, and says what is no evidence.
fn fit(common: &Common) -> anyhow::Result<Fit> {
    let fitness = Fitness::measure().context(Complaint::new(Exit::Local, "the emulator cannot be measured here"))?;
    let (because, fit) = match fitness {
        Fitness::Quiet => return Ok(Fit::default()),
        Fitness::Busy { because, fit } => (because, fit),
        Fitness::Unfit { because } => {
            let because = format!("{because}; in virtual time (--virtual) no quiet machine is needed");
            (because, Fit { at_once: 1, ..Fit::default() })
        }
    };
    if !common.quiet {
        eprintln!("this machine is busy: {because}; the paths' clock goes at {} % of real time", fit.pace.percent());
    }
    Ok(fit)
}

/// Tells on the terminal how it goes, unless nobody wants to know.
pub struct Screen<'a> {
    pub common: &'a Common,
    pub archive: Option<&'a Archive>,
    pub examiner: Option<Examiner>,
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

    fn repeats(&mut self, test: &Test, quality: &Quality) {
        if let Some(worst) = quality.disturbances.first() {
            let _ = self.say(&format!("         {:<28} again: {worst}\n", test.label));
        }
    }

    fn wants(&mut self, round: &mut Round) -> Option<Box<Proposal>> {
        self.examiner.as_ref()?;
        add_samples(round, self.archive);
        let proposal = self.examiner.as_mut()?.next(round)?;
        let _ = self.say(&format!("\n{}", examine::asks(&proposal.says)));
        Some(proposal)
    }
}

/// Whoever reads the evidence elsewhere does not have the archive.
pub fn add_samples(round: &mut Round, archive: Option<&Archive>) {
    for tested in round.tests.iter_mut().filter(|tested| tested.samples.is_none()) {
        if let (Finding::Run(run), Some(archive)) = (&tested.finding, archive) {
            tested.samples = archive.samples(&run.id).ok().map(Box::new);
        }
    }
}

fn write_log(path: &Path, scenario: &Scenario, events: &Events) -> anyhow::Result<()> {
    let wires: Vec<String> = scenario.links.iter().map(|link| link.name.clone()).collect();
    let written = File::create(path).and_then(|file| events.write_lines(&wires, BufWriter::new(file)));
    written.with_context(|| Complaint::new(Exit::Local, format!("cannot write to {}", path.display())))
}

/// Why a scenario is not played.
pub fn complain(error: PlayError) -> anyhow::Error {
    match error {
        PlayError::Live(error) => does_not_live(error),
        test @ PlayError::Test { .. } => {
            anyhow::Error::from(test).context(Complaint::new(Exit::Local, "the scenario cannot be played"))
        }
    }
}

/// A test that fails is a result; that the emulation was the limit is not.
fn exit(played: &Played, is_stopped: bool) -> Exit {
    match (is_stopped, played.limited_by_emulation.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Success,
        (false, false) => Exit::Local,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Parser;
    use lab::scenario::{Flow, Scenario, TestKind};

    use round::task::arguments;

    use crate::cli::{Cli, Command};

    /// Flows of a scenario with these keys, from `a` to `b`.
    fn flows(tests: &[&str]) -> Vec<Flow> {
        let tests = tests.iter().map(|keys| format!("[[tests]]\nfrom = \"a\"\nto = \"b\"\n{keys}\n"));
        let text = format!(
            "title = \"t\"\nabout = \"t\"\n[hosts.a]\n[hosts.b]\n[[links]]\nname = \"l\"\nbetween = [\"a\", \"b\"]\n{}\n\
             [truth]\nhealthy = true\n",
            tests.collect::<String>()
        );
        let scenario = Scenario::parse("t.toml", &text).unwrap();
        let flows = scenario.tests.into_iter().map(|test| match test.kind {
            TestKind::Tcp(flow) | TestKind::Udp(flow) => flow,
            other => panic!("{other:?}"),
        });
        flows.collect()
    }

    #[test]
    fn a_flow_of_a_scenario_is_the_test_that_its_arguments_ask_for() {
        let flows = flows(&[
            "kind = \"tcp\"",
            "kind = \"tcp\"\ntime = \"3s\"\nstreams = 4\nreverse = true\ncca = \"cubic\"\nmss = 1400\nfamily = \"ipv6\"",
            "kind = \"tcp\"\nbytes = \"13GiB\"\nbidir = true\npace = \"9.9Gbit/s\"\nwindow = \"64KiB\"\nsend = \"write\"",
            "kind = \"tcp\"\nrate = \"1Mbit/s\"\nomit = \"2s\"\nreceive = \"copy\"\nexpect = \"10Gbit/s\"\nlength = \"1B\"",
            "kind = \"udp\"\ndscp = 46\nlength = \"1200B\"\nno-gso = true\nno-gro = true\nprobe-every = \"0s\"",
            "kind = \"udp\"\nflood = true\nblocks = 1000\nfamily = \"ipv4\"\ninterval = \"500ms\"\nsample-every = \"1ms\"",
        ]);
        for flow in flows {
            let words: Vec<OsString> =
                ["linerate", "test", "192.0.2.1"].map(OsString::from).into_iter().chain(arguments(&flow)).collect();
            let cli = Cli::try_parse_from(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
            let Command::Test(args) = cli.command else { panic!("{words:?}") };
            assert_eq!(args.spec(), flow.spec, "{words:?}");
            assert_eq!(args.expect, flow.expect);
        }
    }
}
