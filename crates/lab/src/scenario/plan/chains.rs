//! Chains with what faults do to them.

use std::time::Duration;

use path::{Change, Span, Stage};
use units::MonoTime;

use crate::scenario::Scenario;
use crate::scenario::fault::{Fault, FaultKind, Position};

/// One direction of a link: 0 from end 0 to end 1, 1 back.
pub(super) fn stages(scenario: &Scenario, number: usize, direction: usize) -> Vec<Stage> {
    let base: Vec<Stage> = scenario.links[number].chains[direction].iter().cloned().map(Stage::from).collect();
    let mut middle = base.clone();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for fault in &scenario.faults {
        match &fault.what {
            FaultKind::Added { link, directions, element, at }
                if *link == number && directions.contains(&direction) =>
            {
                let stage = Stage { during: during(fault), ..Stage::from(element.clone()) };
                if *at == Position::First { first.push(stage) } else { last.push(stage) }
            }
            FaultKind::Set { link, places, element } if *link == number => {
                for (_, place) in places.iter().filter(|(of, _)| *of == direction) {
                    let stage = &mut middle[*place];
                    if fault.from.is_zero() {
                        stage.spec = element.clone();
                    } else {
                        stage.changes.push(Change { at: instant(fault.from), spec: element.clone() });
                    }
                    let back = |until| Change { at: instant(until), spec: base[*place].spec.clone() };
                    stage.changes.extend(fault.until.map(back));
                }
            }
            FaultKind::Added { .. } | FaultKind::Set { .. } | FaultKind::Host { .. } => {}
        }
    }
    for stage in &mut middle {
        stage.changes.sort_by_key(|change| change.at);
    }
    first.into_iter().chain(middle).chain(last).collect()
}

/// When a fault is there; [`None`] for all the time.
fn during(fault: &Fault) -> Option<Span> {
    let always = fault.from.is_zero() && fault.until.is_none();
    (!always).then(|| Span { from: instant(fault.from), until: fault.until.map(instant) })
}

fn instant(at: Duration) -> MonoTime {
    MonoTime::from_nanos(0) + at
}
