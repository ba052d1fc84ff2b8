//! Tests besides those of the file: what a diagnosis asks for, between hosts of the scenario.

use diagnose::next::Proposal;
use model::round::Endpoint;

use crate::scenario::Scenario;
use crate::test::{Point, Test};

impl Scenario {
    /// A proposal as the file would have it, one test for each of its tasks; none where the scenario has no such host.
    #[must_use]
    pub fn tests_of(&self, proposal: &Proposal) -> Vec<Test> {
        let (Some(from), Some(to)) = (self.point(&proposal.from), self.point(&proposal.to)) else {
            return Vec::new();
        };
        let tasks = proposal.tasks.iter().map(|task| task.expecting(proposal.expected));
        tasks.map(|kind| Test { label: proposal.label.clone(), from, to, start: None, family: None, kind }).collect()
    }

    fn point(&self, end: &Endpoint) -> Option<Point> {
        let host = self.hosts.iter().position(|host| host.name == end.host)?;
        let overlay = match &end.network {
            None => None,
            Some(name) => Some(self.overlays.iter().position(|overlay| overlay.name == *name)?),
        };
        Some(Point { host, overlay })
    }
}
