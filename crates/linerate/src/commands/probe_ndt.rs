//! `linerate probe ndt`.

use measure::ndt7::client::{self, Ndt7Request};
use measure::ndt7::spec;
use measure::stop::Stop;
use measure::tools::ToolOutcome;
use model::run::{Failure, FailureKind, Outcome};
use model::spec::{Direction, TestSpec};

use super::archive::RunStore;
use super::attempt::{Attempt, Frame};
use super::probe_place::within;
use super::{expectation, print, print_text};
use crate::cli::Common;
use crate::cli::probe::NdtArgs;
use crate::exit::Exit;
use crate::show;
use crate::show::run::Detail;

pub fn run(common: &Common, args: &NdtArgs, stop: &Stop) -> anyhow::Result<Exit> {
    let mut keeper = if args.no_archive { None } else { Some(RunStore::open(common)?) };
    let mut exit = Exit::Success;
    for direction in directions(args) {
        let Attempt { mut run, samples } = attempt(args, direction, stop)?;
        expectation::add(&mut run, keeper.as_ref().and_then(RunStore::archive));
        let shown = if common.json {
            print(&show::json::explained(&run, &samples)?)
        } else {
            let detail = if keeper.is_some() { Detail::Fresh } else { Detail::Unkept };
            print_text(&show::run::text(&run, &samples, detail))
        };
        // What cannot be shown, since nobody reads any more, is kept all the same.
        if let Some(keeper) = &mut keeper {
            keeper.keep(&run, &samples)?;
        }
        shown?;
        if let Outcome::Failed(failure) = &run.outcome {
            show::error::print_failure(failure, &hints(failure, args));
        }
        exit = Exit::of_outcome(&run.outcome);
        if exit != Exit::Success || stop.is_stopped() {
            break;
        }
    }
    Ok(exit)
}

/// Download first, as M-Lab's clients do.
fn directions(args: &NdtArgs) -> Vec<Direction> {
    match (args.download, args.upload, args.url.direction()) {
        (true, ..) => vec![Direction::Reverse],
        (_, true, _) => vec![Direction::Forward],
        (_, _, Some(only)) => vec![only],
        (false, false, None) => vec![Direction::Reverse, Direction::Forward],
    }
}

fn attempt(args: &NdtArgs, direction: Direction, stop: &Stop) -> anyhow::Result<Attempt> {
    let started = linux::clock::wall_now();
    let mut spec = TestSpec {
        family: args.way.family(),
        congestion_control: args.congestion.clone(),
        ..spec(direction, args.time)
    };
    spec.place.netns.clone_from(&args.way.netns);
    let request = Ndt7Request { url: args.url.clone(), spec: spec.clone(), length: args.time };
    let finished = within(&args.way, || client::run(&request, stop))?;
    let outcome = ToolOutcome { command: std::env::args().collect(), spec, finished };
    Attempt::new(started, outcome, Frame { declared_line_rate: args.expect, batch: None })
}

/// The ways out.
fn hints(failure: &Failure, args: &NdtArgs) -> Vec<String> {
    let (host, port) = (args.url.host(), args.url.port());
    match failure.kind {
        FailureKind::Unreachable => {
            vec![format!("is an ndt-server or `linerate serve --ndt7` running on {host}, at port {port}?")]
        }
        FailureKind::Busy => vec!["another test runs there: try again in half a minute".to_owned()],
        FailureKind::Protocol | FailureKind::Refused => {
            vec![format!("does a server of NDT7 listen at port {port} without TLS? An ndt-server takes ws:// at 80")]
        }
        FailureKind::Lost | FailureKind::Local | FailureKind::Interrupted => Vec::new(),
    }
}
