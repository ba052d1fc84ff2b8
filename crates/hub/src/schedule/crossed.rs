//! What a plan knows of a series: the sites and segments that its results depend on, and what they should be.

use std::collections::{BTreeSet, HashMap};

use baseline::expectation::Expectation;
use mesh::expected::{self, Tested};
use mesh::incident::{Element, Series};
use plan::Plan;

/// What of a plan is looked up by the names of series: of a mesh of a thousand hosts a million of them come new in its first round.
#[derive(Debug)]
pub(super) struct Crossed {
    /// The place of a host in the plan.
    hosts: HashMap<String, usize>,
    /// The first test of a label.
    tests: HashMap<String, usize>,
}

impl Crossed {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut tests = HashMap::new();
        for (number, test) in plan.tests.iter().enumerate() {
            tests.entry(test.label.clone()).or_insert(number);
        }
        Self { hosts: plan.hosts.iter().enumerate().map(|(number, host)| (host.name.clone(), number)).collect(), tests }
    }

    /// What a series crosses beyond its hosts; `plan` is the one that this is of.
    pub(super) fn by(&self, plan: &Plan, series: &Series) -> Vec<Element> {
        let Some([from, to]) = self.ends(series) else { return Vec::new() };
        let test = self.tests.get(series.test.as_str());
        let network = test.and_then(|test| plan.groups[plan.tests[*test].group].network);
        let segments = plan.way(from, to, network).into_iter();
        let mut beyond: Vec<Element> =
            segments.map(|segment| Element::Segment(plan.segments[segment].name.clone())).collect();
        let site = |host: usize| plan.hosts[host].attributes.get("site");
        let sites: BTreeSet<&String> = [from, to].into_iter().filter_map(site).collect();
        beyond.extend(sites.into_iter().map(|site| Element::Site(site.clone())));
        beyond
    }

    /// What the results of a series should be; `plan` is the one that this is of.
    pub(super) fn expected(&self, plan: &Plan, series: &Series) -> Option<Expectation> {
        let [from, to] = self.ends(series)?;
        let test = self.tests.get(series.test.as_str()).copied()?;
        expected::of(plan, Tested { test, from, to }, series.metric)
    }

    fn ends(&self, series: &Series) -> Option<[usize; 2]> {
        let host = |name: &str| self.hosts.get(name).copied();
        host(&series.from).zip(host(&series.to)).map(<[usize; 2]>::from)
    }
}
