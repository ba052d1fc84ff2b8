//! `linerate gateways lab`: policies on a real cluster, beside the model of it.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use gateways::cluster::faults::{Fault, FaultType};
use gateways::cluster::run;
use gateways::cluster::sampled::Sampled;
use gateways::cluster::settings::Settings;
use gateways::experiment::description::Experiment;
use gateways::policy::definition::Entry;
use gateways::trial::agreement::Values;
use gateways::trial::beside::Beside;
use gateways::trial::evenness::{Evenness, Window, share_of};
use gateways::trial::report::{FORMAT, Judged, LabReport, TrialRun};
use lab::gateways::{GatewaysError, Plan, Played};
use measure::stop::Stop;
use path::Seed;

use super::super::{attempt, print};
use super::find;
use crate::cli::Common;
use crate::cli::gateways::lab::LabArgs;
use crate::exit::{Complaint, Exit};
use crate::show;

/// The experiment that comes with the program.
const SHIPPED: &str = include_str!("../../../../../sweeps/gateways/lab.toml");

pub fn run(common: &Common, args: &LabArgs) -> anyhow::Result<Exit> {
    let experiment = experiment(args.file.as_deref())?;
    let settings = settings(&experiment, args)?;
    let policies = policies(&experiment, args)?;
    let stop = attempt::stop_on_signals()?;
    let trial = Trial { settings: &settings, args, stop: &stop };
    let (mut runs, mut cmsd) = (Vec::new(), String::new());
    'all: for repetition in 1..=args.repetitions {
        for policy in &policies {
            // What was run until then is reported.
            let Some((run, version)) = trial.run(policy, repetition)? else { break 'all };
            if !common.quiet {
                eprint!("{}", show::gateways_lab::run(&run));
            }
            cmsd = version;
            runs.push(run);
        }
    }
    let Judged { policies: agreements, contests } = Judged::new(&runs);
    let report = LabReport {
        format: FORMAT,
        name: experiment.name.clone(),
        cmsd,
        scale: args.scale,
        warm_up_s: args.warm_up.as_secs_f64(),
        time_s: args.time.as_secs_f64(),
        policies: agreements,
        contests,
        runs,
    };
    if common.json {
        print(&show::json::document(&report)?)?;
    } else {
        print(show::gateways_lab::text(&report).as_bytes())?;
    }
    Ok(if stop.is_stopped() { Exit::Interrupted } else { Exit::Success })
}

/// What is the same in all runs.
struct Trial<'a> {
    settings: &'a Settings,
    args: &'a LabArgs,
    stop: &'a Stop,
}

impl Trial<'_> {
    /// A run on the cluster and one of the model, with the version of cmsd; [`None`] where it was stopped.
    fn run(&self, policy: &'static Entry, repetition: u32) -> anyhow::Result<Option<(TrialRun, String)>> {
        let seed = Seed(self.args.seed).part(u64::from(repetition));
        let program = std::env::current_exe().context("this program does not know where it is")?;
        let plan = Plan { settings: self.settings, scale: self.args.scale, policy, seed, program };
        let played = match lab::gateways::run(&plan, self.stop) {
            Ok(played) => played,
            Err(GatewaysError::Stopped) => return Ok(None),
            Err(error) => return Err(complain(error)),
        };
        let modelled = run::sampled(self.settings, policy, seed)?;
        let window = Window { from_s: self.args.warm_up.as_secs_f64(), to_s: self.settings.hours * 3600.0 };
        let even = |sampled: &Sampled| {
            Evenness::of(sampled, self.settings, window).context("the run was too short to be measured")
        };
        let catch_up = self.args.busy.and_then(|gateway| {
            let after = Window { from_s: BUSY_TO_S, to_s: BUSY_TO_S + COUNTED_S };
            let (cluster, model) =
                (share_of(&played.sampled, gateway - 1, after), share_of(&modelled, gateway - 1, after));
            Some(Values { cluster: cluster?, model: model? })
        });
        let run = TrialRun {
            policy: policy.name.to_owned(),
            repetition,
            cluster: even(&played.sampled)?,
            model: even(&modelled)?,
            catch_up,
            beside: Beside::of(&played.readings, &played.deletions),
            fetched: played.fetched,
            failed: played.failed.count,
            anomalies: anomalies(&played),
        };
        Ok(Some((run, played.version)))
    }
}

/// When a busy gateway reports full load, and from when on no more, seconds from the start.
const BUSY_FROM_S: f64 = 20.0;
const BUSY_TO_S: f64 = 35.0;
/// How long its share is taken after that: all of the catching up, however late the manager hears that it is back.
const COUNTED_S: f64 = 15.0;

/// How late clients may be started without a word.
const LATE: Duration = Duration::from_secs(1);

fn anomalies(played: &Played) -> Vec<String> {
    let limited =
        played.limited.iter().flat_map(lab::relay::Limited::worst).map(|limit| format!("links were late: {limit}"));
    let late = (played.latest > LATE).then(|| {
        format!("clients were started up to {} late: this machine was busy", units::duration::show(played.latest))
    });
    played.failed.words.iter().cloned().chain(late).chain(limited).collect()
}

fn experiment(file: Option<&Path>) -> anyhow::Result<Experiment> {
    let text = match file {
        None => SHIPPED.to_owned(),
        Some(file) => std::fs::read_to_string(file)
            .with_context(|| Complaint::new(Exit::NotFound, format!("{} cannot be read", file.display())))?,
    };
    Experiment::read(&text).with_context(|| Complaint::new(Exit::NotFound, "this is no experiment with gateways"))
}

/// The settings of the experiment's first combination, for the time of a run.
fn settings(experiment: &Experiment, args: &LabArgs) -> anyhow::Result<Settings> {
    let cell = experiment.cells.first().context("an experiment has a combination")?;
    let mut settings = cell.settings.clone();
    settings.hours = (args.warm_up + args.time).as_secs_f64() / 3600.0;
    settings.warm_up_hours = 0.0;
    settings.starts_at_hour = 15.0;
    if let Some(gateway) = args.busy {
        let (from_hour, to_hour) = (BUSY_FROM_S / 3600.0, BUSY_TO_S / 3600.0);
        settings.faults.push(Fault { gateway, what: FaultType::Busy, from_hour, to_hour });
    }
    settings.check().with_context(|| Complaint::new(Exit::Usage, "no cluster can be made of these settings"))?;
    Ok(settings)
}

fn policies(experiment: &Experiment, args: &LabArgs) -> anyhow::Result<Vec<&'static Entry>> {
    if !args.policies.is_empty() {
        return args.policies.iter().map(|name| find(name)).collect();
    }
    let mut named: Vec<&str> = Vec::new();
    for cell in &experiment.cells {
        if !named.contains(&cell.policy) {
            named.push(cell.policy);
        }
    }
    named.into_iter().map(find).collect()
}

fn complain(error: GatewaysError) -> anyhow::Error {
    let complaint = Complaint::new(Exit::Local, "the cluster cannot be run");
    let complaint = error.hint().into_iter().fold(complaint, Complaint::hint);
    anyhow::Error::from(error).context(complaint)
}
