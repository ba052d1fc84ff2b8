//! Chains with what faults do to them.

use std::time::Duration;

use path::{Change, ElementSpec, PathElement, Span};
use units::MonoTime;

use crate::Scenario;
use crate::blueprint::FaultEffect;
use crate::fault::{Fault, FaultKind, Position};

/// The elements of one direction of a link, and what faults do to them.
pub(super) struct Direction {
    pub(super) stages: Vec<PathElement>,
    /// By the number of the fault.
    pub(super) parts: Vec<(usize, FaultEffect)>,
}

/// One direction of a link: 0 from end 0 to end 1, 1 back.
pub(super) fn direction(scenario: &Scenario, link: usize, direction: usize) -> Direction {
    let base: Vec<PathElement> =
        scenario.links[link].chains[direction].iter().cloned().map(PathElement::from).collect();
    let mut middle = base.clone();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mut set = Vec::new();
    for (number, fault) in scenario.faults.iter().enumerate() {
        match &fault.what {
            FaultKind::Added { link: of, directions, element, at }
                if *of == link && directions.contains(&direction) =>
            {
                let stage = PathElement { during: during(fault), ..PathElement::from(element.clone()) };
                if *at == Position::First { &mut first } else { &mut last }.push((number, stage));
            }
            FaultKind::Set { link: of, places, element } if *of == link => {
                for (_, place) in places.iter().filter(|(of, _)| *of == direction) {
                    let usual = &base[*place].spec;
                    change(&mut middle[*place], fault, element, usual);
                    set.push((number, *place, [element.clone(), usual.clone()]));
                }
            }
            FaultKind::Added { .. } | FaultKind::Set { .. } | FaultKind::Host { .. } => {}
        }
    }
    for stage in &mut middle {
        stage.changes.sort_by_key(|change| change.at);
    }
    let part = |place: usize, settings| FaultEffect { cable: link, direction, place, settings };
    let behind = first.len() + middle.len();
    let added = first.iter().enumerate().chain((behind..).zip(&last));
    let mut parts: Vec<(usize, FaultEffect)> = added.map(|(place, (number, _))| (*number, part(place, None))).collect();
    parts.extend(set.into_iter().map(|(number, place, both)| (number, part(first.len() + place, Some(both)))));
    let stage = |(_, stage): (usize, PathElement)| stage;
    let stages = first.into_iter().map(stage).chain(middle).chain(last.into_iter().map(stage));
    Direction { stages: stages.collect(), parts }
}

/// An element that a fault sets otherwise, and back.
fn change(stage: &mut PathElement, fault: &Fault, element: &ElementSpec, usual: &ElementSpec) {
    if fault.from.is_zero() {
        stage.spec = element.clone();
    } else {
        stage.changes.push(Change { at: instant(fault.from), spec: element.clone() });
    }
    stage.changes.extend(fault.until.map(|until| Change { at: instant(until), spec: usual.clone() }));
}

/// When a fault is there; [`None`] for all the time.
fn during(fault: &Fault) -> Option<Span> {
    let always = fault.from.is_zero() && fault.until.is_none();
    (!always).then(|| Span { from: instant(fault.from), until: fault.until.map(instant) })
}

fn instant(at: Duration) -> MonoTime {
    MonoTime::from_nanos(0) + at
}
