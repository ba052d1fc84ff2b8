//! One execution of a test, from a request to a run with its samples.

use measure::session::client::{self, Request};
use measure::stop::Stop;
use measure::tools::Driven;
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
    let driven = Driven { command: std::env::args().collect(), spec: request.spec.clone(), finished };
    Attempt::new(started, driven, frame)
}

impl Attempt {
    /// What came of a test that a program has run.
    pub fn new(started: WallTime, driven: Driven, frame: Frame) -> anyhow::Result<Self> {
        let Driven { command, spec, finished } = driven;
        let run = Run {
            format: Run::FORMAT,
            id: new_id(started)?,
            started,
            role: Role::Client,
            command,
            spec,
            declared_line_rate: frame.declared_line_rate,
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

/// The first Ctrl-C ends the work in good order, the second one at once.
pub fn stop_on_signals() -> anyhow::Result<Stop> {
    let stop = Stop::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, i32::from(Exit::Interrupted.code()), stop.flag())?;
        signal_hook::flag::register(signal, stop.flag())?;
    }
    Ok(stop)
}
