//! `linerate test HOST --hops`: the way, and towards each hop what can be tested there.

use std::net::IpAddr;
use std::time::Duration;

use linux::netns::{NetnsRef, with_netns};
use measure::echo::hops::trace;
use measure::echo::path_mtu::path_mtu;
use measure::echo::series::series;
use measure::session::client::Request;
use measure::stop::Stop;
use model::probe::along::{Along, HopTests};
use model::probe::echo::EchoSpec;
use model::probe::hops::{Hop, HopsSpec, TraceEnd};
use model::probe::path_mtu::PathMtuSpec;
use model::run::{FailureKind, Outcome, Run};
use model::spec::{Direction, TestSpec};

use super::archive::RunStore;
use super::attempt::{Frame, attempt};
use super::hints::hints;
use super::print;
use crate::cli::Common;
use crate::cli::test::TestArgs;
use crate::exit::Exit;
use crate::show;
use crate::show::progress::Talk;

/// Traces, tests, and says what becomes worse where.
pub fn run(common: &Common, args: &TestArgs, mut archive: Option<RunStore>, stop: &Stop) -> anyhow::Result<Exit> {
    let spec = args.spec();
    let say = |text: &str| {
        if !common.quiet && !common.json {
            eprintln!("{text}");
        }
    };
    say(&format!("tracing the path to {}", args.peer()));
    let trace = inside(&spec, || trace(args.peer(), &HopsSpec { dscp: spec.dscp, ..of(&spec) }, stop))?;
    let mut along = Along { trace, hops: Vec::new() };
    let hops: Vec<(u8, IpAddr)> = along.trace.hops.iter().filter_map(|hop| Some((hop.number, address(hop)?))).collect();
    for (number, address) in hops {
        if stop.is_stopped() {
            break;
        }
        say(&format!("testing towards hop {number}, {address}"));
        along.hops.push(towards(args, &spec, (number, address), archive.as_mut(), stop)?);
    }
    if common.json {
        print(&show::json::document(&along)?)?;
    } else {
        print(show::hops::text(&along).as_bytes())?;
    }
    if let Outcome::Failed(failure) = &along.trace.outcome {
        show::error::print_failure(failure, &hints(failure, args.peer(), None));
    }
    match along.trace.end {
        // Nothing is known of a path whose end never answered.
        TraceEnd::Limit | TraceEnd::Unreachable if along.trace.outcome == Outcome::Complete => Ok(Exit::Unreachable),
        _ => Ok(Exit::of_outcome(&along.trace.outcome)),
    }
}

fn of(spec: &TestSpec) -> HopsSpec {
    HopsSpec { family: spec.family, bind: spec.place.bind, ..HopsSpec::default() }
}

/// All that can be tested towards one hop.
fn towards(
    args: &TestArgs,
    spec: &TestSpec,
    (number, address): (u8, IpAddr),
    mut archive: Option<&mut RunStore>,
    stop: &Stop,
) -> anyhow::Result<HopTests> {
    let target = address.to_string();
    let echoes = EchoSpec {
        count: ECHOES,
        interval: BETWEEN_ECHOES,
        dscp: spec.dscp,
        bind: spec.place.bind,
        ..EchoSpec::default()
    };
    let sizes = PathMtuSpec { dscp: spec.dscp, bind: spec.place.bind, ..PathMtuSpec::default() };
    let (echo, path_mtu) = inside(spec, || (series(&target, &echoes, stop), path_mtu(&target, &sizes, stop)))?;
    let mut flow = |direction| {
        if stop.is_stopped() {
            return Ok(None);
        }
        let spec = TestSpec { direction, connect_timeout: spec.connect_timeout.min(FOR_A_PARTNER), ..spec.clone() };
        flow(
            args,
            &Request { host: target.clone(), port: args.port, spec, queue_wait: args.wait, ticket: None },
            &mut archive,
            stop,
        )
    };
    let there = flow(Direction::Forward)?;
    // Where nobody answered once, nobody is asked again.
    let back = if there.is_some() { flow(Direction::Reverse)? } else { None };
    Ok(HopTests { number, address, echo, path_mtu, there, back })
}

/// A flow, where a partner answers.
fn flow(
    args: &TestArgs,
    request: &Request,
    archive: &mut Option<&mut RunStore>,
    stop: &Stop,
) -> anyhow::Result<Option<Box<Run>>> {
    let done = attempt(request, Frame { declared_line_rate: args.expect, batch: None }, stop, Talk::Nothing)?;
    if matches!(&done.run.outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Unreachable) {
        return Ok(None);
    }
    if let Some(archive) = archive {
        archive.keep(&done.run, &done.samples)?;
    }
    Ok(Some(Box::new(done.run)))
}

/// In the namespace that was asked for, which exists: that was looked at before.
fn inside<T: Send>(spec: &TestSpec, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
    match spec.place.netns.as_deref() {
        None => Ok(work()),
        Some(netns) => Ok(with_netns(&NetnsRef::parse(netns)?, work)?),
    }
}

/// The address of a hop: the first that has answered.
fn address(hop: &Hop) -> Option<IpAddr> {
    hop.answers.iter().find_map(|answer| answer.address)
}

/// Two seconds of each hop: a loss of one in a hundred shows in two of three series, one of a twentieth in all but few.
const ECHOES: u32 = 100;
const BETWEEN_ECHOES: Duration = Duration::from_millis(20);
/// A router that drops what it does not serve is waited for so long.
const FOR_A_PARTNER: Duration = Duration::from_secs(2);
