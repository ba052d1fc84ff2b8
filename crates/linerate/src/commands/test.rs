//! `linerate test`.

use archive::Archive;
use archive::export::Export;
use measure::session::client::Request;
use model::run::{Outcome, Run};

use super::attempt::{Attempt, Frame, attempt, stop_on_signals};
use super::hints::hints;
use super::{archive as kept, compare, expectation, hops, plot, print, tool};
use crate::cli::Common;
use crate::cli::test::TestArgs;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::progress::Talk;

pub fn run(common: &Common, args: &TestArgs) -> anyhow::Result<Exit> {
    let spec = args.spec();
    check_place(&spec.place)?;
    // Before the test, so that nobody measures for an hour and then cannot keep the result.
    let mut archive = if args.no_archive { None } else { Some(kept::open(common)?) };
    let against = match (&archive, &args.against) {
        (Some(archive), Some(run)) => Some(compare::batch(archive, run)?),
        _ => None,
    };
    if let Some(path) = &args.plot {
        plot::check(path)?;
    }
    let stop = stop_on_signals()?;
    if args.hops {
        return hops::run(common, args, archive, &stop);
    }
    let request = Request { host: args.host.clone(), port: args.port, spec, queue_wait: args.wait };
    let talk = if common.quiet || common.json || args.nagios { Talk::Nothing } else { Talk::Progress };
    let mut frame = Frame { declared_line_rate: args.expect, batch: None };
    let mut runs: Vec<Run> = Vec::new();
    let mut exit = Exit::Success;
    for _ in 0..args.repeat {
        let attempt = match args.tool {
            Some(program) => tool::attempt(&tool::errand(program.into(), &request), frame, &stop)?,
            None => attempt(&request, frame, &stop, talk)?,
        };
        if args.repeat > 1 {
            frame.batch.get_or_insert(attempt.run.id);
        }
        exit = report(common, args, &mut archive, attempt, &mut runs)?;
        // What cannot be done once cannot be done again; the runs until then are kept.
        if exit != Exit::Success || stop.is_stopped() {
            break;
        }
    }
    if !common.json && !args.nagios && (runs.len() > 1 || against.is_some()) {
        print(show::compare::repeated(&runs, against.as_deref()).as_bytes())?;
    }
    Ok(exit)
}

/// Keeps a run, then shows it.
fn report(
    common: &Common,
    args: &TestArgs,
    archive: &mut Option<Archive>,
    mut attempt: Attempt,
    runs: &mut Vec<Run>,
) -> anyhow::Result<Exit> {
    if args.repeat > 1 {
        attempt.run.batch = Some(runs.first().map_or(attempt.run.id, |first| first.id));
    }
    expectation::add(&mut attempt.run, archive.as_ref());
    let Attempt { mut run, mut samples } = attempt;
    if let Some(archive) = archive {
        kept::keep(archive, &run, &samples)?;
    }
    let exit = if args.nagios {
        let thresholds = show::nagios::Thresholds { warning: args.warning, critical: args.critical };
        let (line, code) = show::nagios::line(&run, thresholds);
        print(line.as_bytes())?;
        Exit::Nagios(code)
    } else {
        if args.samples {
            let export = Export { run, samples };
            print(&show::json::document(&export)?)?;
            Export { run, samples } = export;
        } else if common.json {
            print(&show::json::line(&run)?)?;
        } else {
            print(show::run::text(&run, &samples, show::run::Detail::Fresh).as_bytes())?;
        }
        if let Outcome::Failed(failure) = &run.outcome {
            show::error::print_failure(failure, &hints(failure, &run.peer.target, args.tool.map(Into::into)));
        }
        Exit::of_outcome(&run.outcome)
    };
    if let Some(path) = &args.plot {
        let path = if args.repeat > 1 { &plot::numbered(path, runs.len() + 1) } else { path };
        plot::write(path, &run, &samples)?;
    }
    runs.push(run);
    Ok(exit)
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
