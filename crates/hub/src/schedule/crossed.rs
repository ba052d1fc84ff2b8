//! Sites and segments that the results of a series depend on, as far as the plan knows them.

use std::collections::{BTreeSet, HashMap};

use mesh::incident::{Element, Series};
use plan::Plan;

/// What of a plan is looked up by the names of series: of a mesh of a thousand hosts a million of them come new in its first round.
#[derive(Debug)]
pub(super) struct Crossed {
    /// The place of a host in the plan.
    hosts: HashMap<String, usize>,
    /// The network of a test, by its label.
    networks: HashMap<String, Option<usize>>,
}

impl Crossed {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut networks = HashMap::new();
        for test in &plan.tests {
            networks.entry(test.label.clone()).or_insert(plan.groups[test.group].network);
        }
        Self {
            hosts: plan.hosts.iter().enumerate().map(|(number, host)| (host.name.clone(), number)).collect(),
            networks,
        }
    }

    /// What a series crosses beyond its hosts; `plan` is the one that this is of.
    pub(super) fn by(&self, plan: &Plan, series: &Series) -> Vec<Element> {
        let host = |name: &str| self.hosts.get(name).copied();
        let (Some(from), Some(to)) = (host(&series.from), host(&series.to)) else { return Vec::new() };
        let network = self.networks.get(series.test.as_str()).copied().flatten();
        let segments = plan.way(from, to, network).into_iter();
        let mut beyond: Vec<Element> =
            segments.map(|segment| Element::Segment(plan.segments[segment].name.clone())).collect();
        let site = |host: usize| plan.hosts[host].attributes.get("site");
        let sites: BTreeSet<&String> = [from, to].into_iter().filter_map(site).collect();
        beyond.extend(sites.into_iter().map(|site| Element::Site(site.clone())));
        beyond
    }
}
