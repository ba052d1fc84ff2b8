//! The flows of a round, as its tests have them, and all that is observed of each.

use model::measurement::{DirectionTotal, Heading};
use model::played::Finding;
use model::quality::{DisturbanceKind, Quality};
use model::round::{Round, Tested};
use model::run::{Role, Run};
use model::spec::Protocol;
use predict::target::Targets;
use predict::target::flow::{requested, settled};
use units::ByteCount;

use super::flow::{Flow, FlowEnds, FlowKind, Shape};
use super::{allowed, limit, numbers, probes, queues, relations, vanished};

/// How far a test can be trusted, by what disturbed the measurement itself. Traffic of others and drops in a host are what a diagnosis
/// looks for, and no disturbance here.
fn trust(tested: &Tested) -> f64 {
    let disturbs = |kind: &DisturbanceKind| {
        !matches!(
            kind,
            DisturbanceKind::CrossTraffic { .. }
                | DisturbanceKind::SoftnetDrops { .. }
                | DisturbanceKind::SoftnetSqueezes { .. }
                | DisturbanceKind::ClockUncertain { .. }
        )
    };
    let quality = Quality::of(tested);
    let disturbances = quality.disturbances.iter().filter(|found| disturbs(&found.kind));
    let weight: f64 = disturbances.map(|found| 1.0 - found.severity.clamp(0.0, 1.0)).product();
    weight.max(LEAST_WEIGHT)
}

/// However poor a measurement is, it says something.
const LEAST_WEIGHT: f64 = 0.15;

/// The flows of a round, with all that was seen of each.
#[must_use]
pub fn flows(round: &Round) -> Vec<Flow> {
    let mut flows: Vec<Flow> = Vec::new();
    let targets = Targets::of(round);
    for (number, tested) in round.tests.iter().enumerate() {
        match &tested.finding {
            Finding::Run(run) => flows.extend(of_run(round, &targets, (number, tested), run)),
            Finding::Downloads(downloads) => {
                let target = targets.get(number, Heading::Inbound).ok();
                flows.extend(probes::of_downloads(round, (number, tested), downloads, target));
            }
            Finding::Echo(_) | Finding::PathMtu(_) | Finding::Hops(_) | Finding::Nothing { .. } => {}
        }
    }
    flows.extend(probes::alone(round, &flows));
    probes::add(round, &mut flows);
    flows.retain(|flow| flow.kind != FlowKind::Echo || flow.is_told());
    relations::judge_downloads(&mut flows);
    relations::judge_sizes(&mut flows);
    queues::add(&mut flows);
    allowed::add(round, &mut flows);
    vanished::add(round, &mut flows);
    relations::add(&mut flows);
    limit::keep_those_of_one_pair(&mut flows);
    flows
}

fn of_run(round: &Round, targets: &Targets, (number, tested): (usize, &Tested), run: &Run) -> Vec<Flow> {
    let Some(measurement) = &run.measurement else { return Vec::new() };
    let totals = measurement.totals.iter().filter(|total| total.received.or(total.sent).is_some());
    totals.map(|total| of_direction(round, targets, (number, tested), (run, total))).collect()
}

fn of_direction(
    round: &Round,
    targets: &Targets,
    (test, tested): (usize, &Tested),
    (run, total): (&Run, &DirectionTotal),
) -> Flow {
    let target = targets.get(test, total.heading);
    let spec = &run.spec;
    let kind = if spec.protocol == Protocol::Tcp { FlowKind::Tcp } else { FlowKind::Udp };
    let mut flow = Flow {
        goodput: settled(run, total),
        not_judged: target.as_ref().err().map(|why| why.reason.clone()),
        target: target.ok().cloned(),
        weight: trust(tested),
        shape: Shape {
            streams: spec.streams.into(),
            paced: requested(spec),
            send_buffer: send_buffer(run, total),
            asked_window: run.spec.window,
            ..Shape::default()
        },
        ..Flow::unobserved(test, tested, FlowEnds::of(round, tested, total.heading), kind)
    };
    numbers::add(&mut flow, tested, run, total);
    flow
}

/// The buffer that a client of iperf 2 asked for: it sets those of its own socket, where iperf3 sets those of both ends.
fn send_buffer(run: &Run, total: &DirectionTotal) -> Option<ByteCount> {
    let is_iperf2 = run.local.software.as_deref().is_some_and(|software| software.starts_with("iperf 2"));
    let is_sender = run.role == Role::Client && total.heading == Heading::Outbound;
    run.spec.window.filter(|_| is_iperf2 && is_sender)
}
