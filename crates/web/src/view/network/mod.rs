//! The network of a round as far as it is known: hosts, routers, links between them, and the suspect part of it.
//!
//! * `graph`: what is known from the plan and from hops
//! * `suspect`: which part a diagnosis or an incident suspects
//! * `parts`: nodes, links and suspects as a page has them
//! * `layout`: where each node stands in a picture
//!
//! Nothing is guessed: hosts between which no link is declared and no hop was seen are joined by a network that is called unknown.

mod graph;
mod layout;
mod parts;
mod suspect;

use mesh::incident::IncidentId;
use model::round::Round;

use graph::Graph;

pub use parts::{LinkKind, NetworkLink, NetworkNode, NetworkView, NodeKind, SuspectPart};
pub(crate) use suspect::MarkedBy;

impl NetworkView {
    pub(crate) fn of(round: &Round, marked_by: &MarkedBy<'_>) -> Self {
        let mut graph = Graph::of(round);
        let suspects = suspect::mark(&mut graph, round, marked_by);
        let left_out = graph.shrink();
        layout::place(&mut graph);
        let incident = match marked_by {
            MarkedBy::Incident(record) => {
                let IncidentId(id) = &record.incident.id;
                Some(id.clone())
            }
            MarkedBy::Diagnosis(_) => None,
        };
        let Graph { nodes, links, .. } = graph;
        Self { round: round.id, title: round.title.clone(), incident, suspects, nodes, links, left_out }
    }
}
