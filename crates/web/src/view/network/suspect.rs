//! Which part of the network a diagnosis or an incident suspects.

use diagnose::diagnosis::{Diagnosis, FaultLocation};
use mesh::incident::{Element, Incident, Subject};
use model::round::Round;

use super::graph::Graph;
use super::parts::{LinkKind, SuspectPart};
use crate::source::IncidentRecord;

/// Whose suspect is marked.
pub(crate) enum MarkedBy<'a> {
    Incident(&'a IncidentRecord),
    Diagnosis(&'a Diagnosis),
}

/// Marks what is suspect, and says what that is.
pub(super) fn mark(graph: &mut Graph, round: &Round, marked_by: &MarkedBy<'_>) -> Vec<SuspectPart> {
    match marked_by {
        MarkedBy::Diagnosis(diagnosis) => by_diagnosis(graph, round, diagnosis),
        MarkedBy::Incident(record) => by_incident(graph, round, record),
    }
}

fn by_diagnosis(graph: &mut Graph, round: &Round, diagnosis: &Diagnosis) -> Vec<SuspectPart> {
    let mut suspects = Vec::new();
    for problem in &diagnosis.problems {
        let Some(ranked) = problem.ranking.first() else { continue };
        let Some(likely) = ranked.places.first() else { continue };
        mark_location(graph, round, &likely.place);
        suspects.push(SuspectPart {
            place: likely.place.to_string(),
            why: ranked.title.clone(),
            probability: Some(likely.probability),
        });
    }
    suspects
}

/// What its diagnosis says; or else what somebody has said it is, or what all that is worse has in common.
fn by_incident(graph: &mut Graph, round: &Round, record: &IncidentRecord) -> Vec<SuspectPart> {
    let incident = &record.incident;
    let diagnosis = record.diagnosis.as_ref().and_then(|value| model::value::read::<Diagnosis>(value).ok());
    let suspects = diagnosis.map_or_else(Vec::new, |diagnosis| by_diagnosis(graph, round, &diagnosis));
    if !suspects.is_empty() {
        return suspects;
    }
    if let Some(explanation) = &incident.explanation
        && mark_named(graph, round, &explanation.place)
    {
        let (place, why) = (explanation.place.clone(), explanation.cause.clone());
        return vec![SuspectPart { place, why, probability: Some(explanation.probability) }];
    }
    mark_subject(graph, round, incident)
}

/// Marks what a text names as [`FaultLocation`] is shown; whether it names anything.
fn mark_named(graph: &mut Graph, round: &Round, place: &str) -> bool {
    let (name, towards) = match place.split_once(" towards ") {
        Some((name, towards)) => (name, Some(towards.to_owned())),
        None => (place, None),
    };
    let location = if graph.host(name).is_some() {
        FaultLocation::Host { name: name.to_owned() }
    } else if graph.links.iter().any(|link| link.name == name) {
        FaultLocation::Segment { name: name.to_owned(), towards }
    } else if let Some((from, to)) = place.strip_prefix("between ").and_then(|rest| rest.split_once(" and ")) {
        FaultLocation::Path { from: from.to_owned(), to: to.to_owned() }
    } else {
        return false;
    };
    mark_location(graph, round, &location);
    true
}

fn mark_subject(graph: &mut Graph, round: &Round, incident: &Incident) -> Vec<SuspectPart> {
    let suspect = |place: String, why: &str| vec![SuspectPart { place, why: why.to_owned(), probability: None }];
    match &incident.subject {
        Subject::Element(element) => {
            let (place, why) = match element {
                Element::Host(name) => (name, "all that it sends and receives is worse"),
                Element::From(name) => (name, "all that it sends is worse"),
                Element::To(name) => (name, "all that it receives is worse"),
                Element::Site(name) => (name, "all of this site is worse"),
                Element::Segment(name) => (name, "all that crosses it is worse"),
            };
            if matches!(element, Element::Site(_)) {
                for node in graph.nodes.iter_mut().filter(|node| node.site.as_ref() == Some(place)) {
                    node.is_suspect = true;
                }
            } else {
                mark_named(graph, round, place);
            }
            suspect(place.clone(), why)
        }
        Subject::Series(series) => {
            let location = FaultLocation::Path { from: series.from.clone(), to: series.to.clone() };
            mark_location(graph, round, &location);
            suspect(location.to_string(), "one pair alone is worse")
        }
        Subject::Mesh => suspect("the whole mesh".to_owned(), "all of it is worse"),
    }
}

fn mark_location(graph: &mut Graph, round: &Round, location: &FaultLocation) {
    match location {
        FaultLocation::Host { name } => {
            if let Some(node) = graph.host(name) {
                graph.nodes[node].is_suspect = true;
            }
        }
        FaultLocation::Segment { name, towards } => {
            let towards = towards.as_deref().and_then(|towards| graph.host(towards));
            for link in graph.links.iter_mut().filter(|link| link.name == *name && link.kind == LinkKind::Declared) {
                (link.is_suspect, link.suspect_towards) = (true, towards);
            }
        }
        FaultLocation::Path { from, to } => mark_path(graph, round, [from, to]),
        FaultLocation::Balancer => {}
    }
}

/// Marks the segments from one host to another, or what is between them where none is known.
fn mark_path(graph: &mut Graph, round: &Round, [from, to]: [&str; 2]) {
    let mut crossed = round.tests.iter().flat_map(|tested| {
        let there = tested.from.host == *from && tested.to.host == *to;
        let back = tested.from.host == *to && tested.to.host == *from;
        let way = if there {
            tested.way.as_slice()
        } else if back {
            tested.way_back.as_slice()
        } else {
            &[]
        };
        way.iter().map(|passage| passage.segment.as_str())
    });
    let known: std::collections::BTreeSet<&str> = crossed.by_ref().collect();
    let ends = [graph.host(from), graph.host(to)];
    for link in &mut graph.links {
        let is_between_them = ends.iter().flatten().all(|end| link.between.contains(end));
        let leads_off = link.kind == LinkKind::Unknown && ends.iter().flatten().any(|end| link.between.contains(end));
        link.is_suspect |=
            if known.is_empty() { is_between_them || leads_off } else { known.contains(link.name.as_str()) };
    }
}
