//! One execution of a test, from a request to a run with its samples.

use measure::session::client::{self, Request};
use measure::stop::Stop;
use measure::tools::ToolOutcome;
use model::run::{Role, Run, RunId};
use model::series::RunSamples;
use units::{DataRate, WallTime};

use crate::exit::Exit;
use crate::show::progress::{Progress, Talk};

/// A run with its samples.
pub struct Attempt {
    pub run: Run,
    pub samples: RunSamples,
}

/// What a run is given besides its request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Frame {
    /// The line rate that the user declared.
    pub declared_line_rate: Option<DataRate>,
    /// The first run of a repeated test.
    pub batch: Option<RunId>,
}

/// Runs a test. A failure is part of the run.
pub fn attempt(request: &Request, frame: Frame, stop: &Stop, talk: Talk) -> anyhow::Result<Attempt> {
    let started = linux::clock::wall_now();
    let mut progress = Progress::new(request, talk);
    let finished = client::run(request, stop, &mut |event| progress.event(&event));
    progress.finish();
    let outcome = ToolOutcome { command: std::env::args().collect(), spec: request.spec.clone(), finished };
    Attempt::new(started, outcome, frame)
}

impl Attempt {
    /// What came of a test that a program has run.
    pub fn new(started: WallTime, outcome: ToolOutcome, frame: Frame) -> anyhow::Result<Self> {
        let ToolOutcome { command, spec, finished } = outcome;
        let run = Run {
            format: Run::FORMAT,
            id: new_id(started)?,
            started,
            role: Role::Client,
            command,
            spec,
            declared_line_rate: frame.declared_line_rate,
            declared: model::run::Declared::default(),
            batch: frame.batch,
            local: finished.local,
            peer: finished.peer,
            outcome: finished.outcome,
            measurement: finished.measurement,
        };
        Ok(Self { run, samples: finished.samples })
    }
}

/// A new name for a run.
pub fn new_id(started: WallTime) -> anyhow::Result<RunId> {
    use anyhow::Context;
    let random = linux::random::bytes().context("the kernel gives no random bits")?;
    Ok(RunId::new(started, u128::from_ne_bytes(random)))
}

/// The first Ctrl-C ends the work in good order, the second one at once. A terminal that goes away (SIGHUP) ends it too, so
/// that what was measured is kept, unless `nohup` said that it should not.
pub fn stop_on_signals() -> anyhow::Result<Stop> {
    let stop = Stop::default();
    let hangup = (!is_ignored(signal_hook::consts::SIGHUP)).then_some(signal_hook::consts::SIGHUP);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM].into_iter().chain(hangup) {
        signal_hook::flag::register_conditional_shutdown(signal, i32::from(Exit::Interrupted.code()), stop.flag())?;
        signal_hook::flag::register(signal, stop.flag())?;
    }
    Ok(stop)
}

/// Whether whoever started this program wants it to ignore a signal (proc_pid_status(5): SigIgn).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
