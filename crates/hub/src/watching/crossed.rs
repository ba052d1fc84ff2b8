//! Sites and segments that the results of a series depend on, as far as the plan knows them.

use std::collections::{BTreeSet, HashMap};

use mesh::incident::{Element, Series};
use plan::Plan;

use crate::schedule::planned::Planned;

/// A plan, looked up by the names of series.
#[derive(Debug)]
pub(super) struct Crossed<'a> {
    plan: &'a Plan,
    hosts: HashMap<&'a str, usize>,
    /// The network of a test, by its label.
    networks: HashMap<&'a str, Option<usize>>,
}

impl<'a> Crossed<'a> {
    pub(super) fn of(planned: &'a Planned) -> Self {
        let plan = planned.plan();
        let mut networks = HashMap::new();
        for test in &plan.tests {
            networks.entry(test.label.as_str()).or_insert(plan.groups[test.group].network);
        }
        Self {
            plan,
            hosts: plan.hosts.iter().enumerate().map(|(number, host)| (host.name.as_str(), number)).collect(),
            networks,
        }
    }

    /// What a series crosses beyond its hosts.
    pub(super) fn by(&self, series: &Series) -> Vec<Element> {
        let host = |name: &str| self.hosts.get(name).copied();
        let (Some(from), Some(to)) = (host(&series.from), host(&series.to)) else { return Vec::new() };
        let network = self.networks.get(series.test.as_str()).copied().flatten();
        let segments = self.plan.way(from, to, network).into_iter();
        let mut beyond: Vec<Element> =
            segments.map(|segment| Element::Segment(self.plan.segments[segment].name.clone())).collect();
        let site = |host: usize| self.plan.hosts[host].attributes.get("site");
        let sites: BTreeSet<&String> = [from, to].into_iter().filter_map(site).collect();
        beyond.extend(sites.into_iter().map(|site| Element::Site(site.clone())));
        beyond
    }
}
