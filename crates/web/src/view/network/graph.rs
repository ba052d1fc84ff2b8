//! What is known from the plan and from hops, as nodes and links.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use model::played::Finding;
use model::probe::hops::{Trace, TraceEnd};
use model::round::{Member, Round, Tested};

use super::parts::{LinkKind, NetworkLink, NetworkNode, NodeKind};

/// Nodes, and links between them by their numbers.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<NetworkNode>,
    pub(super) links: Vec<NetworkLink>,
    /// Nodes of hosts, by name.
    hosts: BTreeMap<String, usize>,
    routers: BTreeMap<IpAddr, usize>,
}

impl Graph {
    pub(super) fn of(round: &Round) -> Self {
        let mut graph = Self::default();
        graph.nodes.extend(round.members.iter().map(host));
        graph.hosts = graph.nodes.iter().enumerate().map(|(number, node)| (node.label.clone(), number)).collect();
        for segment in &round.segments {
            let ends = segment.between.each_ref().map(|name| graph.host(name));
            if let [Some(one), Some(other)] = ends {
                graph.links.push(NetworkLink {
                    name: segment.name.clone(),
                    rate: segment.rate,
                    ..link([one, other], LinkKind::Declared)
                });
            }
        }
        graph.count_crossings(round);
        for tested in &round.tests {
            graph.add_hops_of(tested);
        }
        graph.add_dependencies(round);
        graph.add_unknown(round);
        graph
    }

    /// The node of a host, by its name in the plan.
    pub(super) fn host(&self, name: &str) -> Option<usize> {
        self.hosts.get(name).copied()
    }

    /// For each node the numbers of its links.
    pub(super) fn links_by_node(&self) -> Vec<Vec<usize>> {
        let mut links = vec![Vec::new(); self.nodes.len()];
        for (number, link) in self.links.iter().enumerate() {
            for end in link.between {
                links[end].push(number);
            }
        }
        links
    }

    /// Counts tests on the links that they cross in one direction or both.
    fn count_crossings(&mut self, round: &Round) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tested in &round.tests {
            let passages = tested.way.iter().chain(&tested.way_back);
            for name in passages.map(|passage| passage.segment.as_str()).collect::<BTreeSet<&str>>() {
                *counts.entry(name).or_default() += 1;
            }
        }
        for link in &mut self.links {
            link.tests = counts.get(link.name.as_str()).copied().unwrap_or_default();
        }
    }

    /// Adds the routers that a test of hops has seen on a path of which no link is declared.
    fn add_hops_of(&mut self, tested: &Tested) {
        let Finding::Hops(trace) = &tested.finding else { return };
        let ends = [self.host(&tested.from.host), self.host(&tested.to.host)];
        if let ([Some(from), Some(to)], true) = (ends, tested.way.is_empty()) {
            self.add_hops(trace, [from, to]);
        }
    }

    fn add_hops(&mut self, trace: &Trace, [from, to]: [usize; 2]) {
        let mut last = from;
        let count = trace.hops.len().saturating_sub(usize::from(trace.end == TraceEnd::Destination));
        // A silent hop has no name by which it could be found again on another path.
        let addresses =
            trace.hops.iter().take(count).filter_map(|hop| hop.answers.iter().find_map(|answer| answer.address));
        for address in addresses {
            if self.nodes.len() >= MOST_NODES {
                return;
            }
            let router = self.router(address);
            self.seen_between([last, router]);
            last = router;
        }
        if trace.end == TraceEnd::Destination {
            self.seen_between([last, to]);
        }
    }

    fn router(&mut self, address: IpAddr) -> usize {
        let next = self.nodes.len();
        let router = *self.routers.entry(address).or_insert(next);
        if router == next {
            self.nodes.push(NetworkNode { kind: NodeKind::Router, ..node(address.to_string()) });
        }
        router
    }

    fn seen_between(&mut self, ends: [usize; 2]) {
        let [one, other] = ends;
        if one == other {
            return;
        }
        let is_it = |link: &&mut NetworkLink| link.between.contains(&one) && link.between.contains(&other);
        match self.links.iter_mut().find(is_it) {
            Some(link) => link.tests += 1,
            None => self.links.push(NetworkLink { tests: 1, ..link(ends, LinkKind::Hops) }),
        }
    }

    /// A guest depends on the machine that an attribute of it names.
    fn add_dependencies(&mut self, round: &Round) {
        let mut joined: BTreeSet<[usize; 2]> = self.links.iter().map(|link| sorted(link.between)).collect();
        for member in &round.members {
            for (name, value) in &member.attributes {
                let ends = (self.host(&member.name), self.host(value));
                if let (Some(guest), Some(machine)) = ends
                    && guest != machine
                    && joined.insert(sorted([guest, machine]))
                {
                    let ends = [guest, machine];
                    self.links.push(NetworkLink { name: name.clone(), ..link(ends, LinkKind::DependsOn) });
                }
            }
        }
    }

    /// Joins by an unknown network what tests have crossed and no link is known of.
    fn add_unknown(&mut self, round: &Round) {
        let groups = self.components();
        let of = |name: &str| self.host(name).map(|node| groups[node]);
        let pairs = round.tests.iter().filter_map(|tested| Some((of(&tested.from.host)?, of(&tested.to.host)?)));
        let mut apart: BTreeMap<usize, usize> = BTreeMap::new();
        for (one, other) in pairs.filter(|(one, other)| one != other) {
            for group in [one, other] {
                *apart.entry(group).or_default() += 1;
            }
        }
        if apart.is_empty() {
            return;
        }
        let unknown = self.nodes.len();
        self.nodes.push(NetworkNode { kind: NodeKind::Unknown, ..node("not declared".to_owned()) });
        // What has the most links stands at the edge of its part: the machine of guests.
        let mut edges: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (number, links) in self.links_by_node().iter().enumerate().take(unknown) {
            let edge = edges.entry(groups[number]).or_insert((number, links.len()));
            if links.len() > edge.1 {
                *edge = (number, links.len());
            }
        }
        for (group, tests) in apart {
            if let Some((edge, _)) = edges.get(&group) {
                self.links.push(NetworkLink { tests, ..link([*edge, unknown], LinkKind::Unknown) });
            }
        }
    }

    /// For each node the least number of those that it is connected with.
    pub(super) fn components(&self) -> Vec<usize> {
        let links = self.links_by_node();
        let mut groups: Vec<Option<usize>> = vec![None; self.nodes.len()];
        for first in 0..self.nodes.len() {
            let mut pending = vec![first];
            while let Some(node) = pending.pop() {
                if groups[node].is_none() {
                    groups[node] = Some(first);
                    pending.extend(links[node].iter().flat_map(|link| self.links[*link].between));
                }
            }
        }
        groups.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// Makes one node of hosts that stand alike, and leaves out what could not be drawn. How many hosts are left out.
    pub(super) fn shrink(&mut self) -> usize {
        let mut alike: BTreeMap<(Option<String>, Vec<usize>), Vec<usize>> = BTreeMap::new();
        for (number, links) in self.links_by_node().iter().enumerate() {
            let node = &self.nodes[number];
            let own = || links.iter().map(|link| &self.links[*link]);
            let others: Vec<usize> = own().flat_map(|link| link.between).filter(|end| *end != number).collect();
            let is_plain = node.kind == NodeKind::Host && !node.is_suspect && others.len() == 1;
            if is_plain && !own().any(|link| link.is_suspect) {
                alike.entry((node.site.clone(), others)).or_default().push(number);
            }
        }
        let mut gone: BTreeSet<usize> = BTreeSet::new();
        for ((site, _), hosts) in alike.into_iter().filter(|(_, hosts)| hosts.len() > MOST_ALIKE) {
            let names: Vec<String> = hosts.iter().map(|host| self.nodes[*host].label.clone()).collect();
            let first = &mut self.nodes[hosts[0]];
            first.label =
                format!("{} hosts{}", names.len(), site.map_or_else(String::new, |site| format!(" of {site}")));
            (first.kind, first.hosts) = (NodeKind::Hosts, names);
            gone.extend(&hosts[1..]);
        }
        let left: Vec<usize> = (0..self.nodes.len()).filter(|node| !gone.contains(node)).skip(MOST_NODES).collect();
        let left_out = left.iter().map(|node| self.nodes[*node].hosts.len()).sum();
        gone.extend(left);
        self.remove(&gone);
        left_out
    }

    fn remove(&mut self, gone: &BTreeSet<usize>) {
        let mut number = 0;
        let numbers: Vec<Option<usize>> = (0..self.nodes.len())
            .map(|node| {
                let stays = !gone.contains(&node);
                number += usize::from(stays);
                stays.then(|| number - 1)
            })
            .collect();
        let links = std::mem::take(&mut self.links).into_iter();
        self.links = links
            .filter_map(|link| {
                let [one, other] = link.between;
                let between = [numbers[one]?, numbers[other]?];
                let suspect_towards = link.suspect_towards.and_then(|node| numbers[node]);
                Some(NetworkLink { between, suspect_towards, ..link })
            })
            .collect();
        let nodes = std::mem::take(&mut self.nodes).into_iter().enumerate();
        self.nodes = nodes.filter(|(node, _)| !gone.contains(node)).map(|(_, node)| node).collect();
    }
}

fn sorted(mut ends: [usize; 2]) -> [usize; 2] {
    ends.sort_unstable();
    ends
}

fn host(member: &Member) -> NetworkNode {
    let attribute = |name: &str| member.attributes.get(name).cloned();
    NetworkNode {
        site: attribute("site"),
        role: attribute("role"),
        hosts: vec![member.name.clone()],
        ..node(member.name.clone())
    }
}

const fn node(label: String) -> NetworkNode {
    NetworkNode {
        label,
        kind: NodeKind::Host,
        site: None,
        role: None,
        hosts: Vec::new(),
        is_suspect: false,
        column: 0,
        row: 0.0,
    }
}

const fn link(between: [usize; 2], kind: LinkKind) -> NetworkLink {
    NetworkLink { name: String::new(), kind, between, rate: None, tests: 0, is_suspect: false, suspect_towards: None }
}

/// Hosts of a site with the same link that are drawn one by one.
const MOST_ALIKE: usize = 8;
/// More cannot be told apart in a picture.
const MOST_NODES: usize = 300;
