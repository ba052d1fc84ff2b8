//! `linerate probe ndt`.

use std::path::Path;

use anyhow::Context;
use measure::ndt7::client::{self, Ndt7Request};
use measure::ndt7::spec;
use measure::ndt7::tls::{Ndt7Trust, SYSTEM_AUTHORITIES};
use measure::ndt7::url::Security;
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
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::run::Detail;

pub fn run(common: &Common, args: &NdtArgs, stop: &Stop) -> anyhow::Result<Exit> {
    let mut keeper = if args.no_archive { None } else { Some(RunStore::open(common)?) };
    let trust = trust(args)?;
    let mut exit = Exit::Success;
    for direction in directions(args) {
        let Attempt { mut run, samples } = attempt(args, trust.as_ref(), direction, stop)?;
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

/// Whose certificates are taken, of a server that shows one.
fn trust(args: &NdtArgs) -> anyhow::Result<Option<Ndt7Trust>> {
    if args.url.security() == Security::Plain {
        return Ok(None);
    }
    let file = args.ca.as_deref().unwrap_or(Path::new(SYSTEM_AUTHORITIES));
    let complaint =
        || Complaint::new(Exit::Local, "no authorities are known for wss://").hint("--ca names a file of them");
    Ndt7Trust::read(file).with_context(complaint).map(Some)
}

fn attempt(args: &NdtArgs, trust: Option<&Ndt7Trust>, direction: Direction, stop: &Stop) -> anyhow::Result<Attempt> {
    let started = linux::clock::wall_now();
    let mut spec = TestSpec {
        family: args.way.family(),
        congestion_control: args.congestion.clone(),
        ..spec(direction, args.time)
    };
    spec.place.netns.clone_from(&args.way.netns);
    let request = Ndt7Request { url: args.url.clone(), spec: spec.clone(), trust: trust.cloned(), length: args.time };
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
