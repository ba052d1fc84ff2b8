//! `linerate test`.

use std::io::IsTerminal;

use measure::session::client::{self, Finished, Request};
use measure::stop::Stop;
use model::run::{FailureKind, Outcome, Role, Run};
use units::WallTime;

use super::archive as kept;
use super::print;
use crate::cli::Common;
use crate::cli::test::TestArgs;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::progress::Progress;

pub fn run(common: &Common, args: &TestArgs) -> anyhow::Result<Exit> {
    let spec = args.spec();
    check_place(&spec.place)?;
    // Before the test, so that nobody measures for an hour and then cannot keep the result.
    let mut archive = if args.no_archive { None } else { Some(kept::open(common)?) };
    let stop = stop_on_signals()?;
    let started = linux::clock::wall_now();
    let request = Request { host: args.host.clone(), port: args.port, spec, queue_wait: args.wait };
    let mut progress = Progress::new(&request, common.quiet || common.json || args.nagios);
    let finished = client::run(&request, &stop, &mut |event| progress.event(&event));
    progress.finish();
    let (run, samples) = into_run(request, started, finished)?;
    if let Some(archive) = &mut archive {
        kept::keep(archive, &run, &samples)?;
    }
    if args.nagios {
        let thresholds = show::nagios::Thresholds { warning: args.warning, critical: args.critical };
        let (line, code) = show::nagios::line(&run, thresholds);
        print(line.as_bytes())?;
        return Ok(Exit::Nagios(code));
    }
    if common.json {
        print(&show::json::line(&run)?)?;
    } else {
        print(show::run::text(&run, archive.is_some(), width()).as_bytes())?;
    }
    show_failure(&run, common);
    Ok(Exit::of_outcome(&run.outcome))
}

/// A namespace that does not exist is a slip of the user, not a run.
fn check_place(place: &model::spec::Place) -> anyhow::Result<()> {
    let Some(netns) = place.netns.as_deref() else { return Ok(()) };
    let entered = linux::netns::NetnsRef::parse(netns)
        .map_err(anyhow::Error::from)
        .and_then(|netns| linux::netns::with_netns(&netns, || ()).map_err(anyhow::Error::from));
    entered.map_err(|error| {
        error.context(
            Complaint::new(Exit::Usage, format!("network namespace `{netns}` cannot be entered"))
                .hint("`ip netns list` and `lsns -t net` show those there are; a path or `pid:N` works as well"),
        )
    })
}

pub fn into_run(
    request: Request,
    started: WallTime,
    finished: Finished,
) -> anyhow::Result<(Run, model::series::RunSamples)> {
    let run = Run {
        format: Run::FORMAT,
        id: kept::new_id(started)?,
        started,
        role: Role::Client,
        command: std::env::args().collect(),
        spec: request.spec,
        local: finished.local,
        peer: finished.peer,
        outcome: finished.outcome,
        measurement: finished.measurement,
    };
    Ok((run, finished.samples))
}

/// The first Ctrl-C ends the test in good order, the second one at once.
pub fn stop_on_signals() -> anyhow::Result<Stop> {
    let stop = Stop::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, i32::from(Exit::Interrupted.code()), stop.flag())?;
        signal_hook::flag::register(signal, stop.flag())?;
    }
    Ok(stop)
}

fn show_failure(run: &Run, common: &Common) {
    if let Outcome::Failed(failure) = &run.outcome {
        show::error::print_failure(failure, &hints(failure.kind, run));
        let _ = common;
    }
}

/// What to do next, by the kind of failure.
fn hints(kind: FailureKind, run: &Run) -> Vec<String> {
    match kind {
        FailureKind::Unreachable => vec![
            format!("is `linerate serve` or `iperf3 -s` running on {}?", run.peer.target),
            "a firewall that drops instead of refusing looks like silence".to_owned(),
        ],
        FailureKind::Busy => vec!["--wait 10min waits longer in a linerate's queue; an iperf3 has none".to_owned()],
        FailureKind::Lost => vec!["what was measured until then is kept: `linerate runs show last`".to_owned()],
        FailureKind::Refused | FailureKind::Protocol | FailureKind::Local | FailureKind::Interrupted => Vec::new(),
    }
}

fn width() -> show::run::Width {
    if std::io::stdout().is_terminal() { show::run::Width::Terminal } else { show::run::Width::Plain }
}
