//! The way from each host to each other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::diagnostics::Diagnostics;
use crate::error::Problem;
use crate::host::Host;
use crate::link::Link;
use crate::route::Route;
use document::Key;

/// By which link each host sends to each other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Routing {
    /// `next[host][to]`.
    next: Vec<Vec<Option<usize>>>,
}

/// Why packets do not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lost {
    /// A host on the way has no route.
    NoRoute,
    /// These hosts send them round.
    Circle(Vec<usize>),
}

impl Routing {
    /// The shortest ways, of which the file's own routes are then changed; complains about those that cannot be.
    pub(super) fn new(hosts: &[Host], links: &[Link], routes: &[Route], diagnostics: &mut Diagnostics<'_>) -> Self {
        let mut next = vec![vec![None; hosts.len()]; hosts.len()];
        for to in 0..hosts.len() {
            let distances = distances(hosts, links, to);
            for (host, routes) in next.iter_mut().enumerate() {
                routes[to] = first_link(hosts, links, &distances, [host, to]);
            }
        }
        for (number, route) in routes.iter().enumerate() {
            let Some(link) = route.link else { continue };
            let via = far_end(&links[link], route.host);
            for &to in route.to.iter().filter(|to| **to != route.host) {
                if via != to && !hosts[via].forwards {
                    let problem = Problem::NotARouter { via: hosts[via].name.clone(), to: hosts[to].name.clone() };
                    diagnostics.complain(&Key::top("routes").nth(number), problem);
                }
                next[route.host][to] = Some(link);
            }
        }
        Self { next }
    }

    /// The link by which a host sends to another.
    pub(crate) fn link(&self, host: usize, to: usize) -> Option<usize> {
        *self.next.get(host)?.get(to)?
    }

    /// The hosts that packets pass, both ends included.
    ///
    /// # Errors
    /// Why they do not arrive.
    pub(crate) fn walk(&self, links: &[Link], from: usize, to: usize) -> Result<Vec<usize>, Lost> {
        let mut passed = vec![from];
        let mut at = from;
        while at != to {
            let link = self.link(at, to).ok_or(Lost::NoRoute)?;
            at = far_end(&links[link], at);
            if let Some(before) = passed.iter().position(|host| *host == at) {
                return Err(Lost::Circle(passed.split_off(before)));
            }
            passed.push(at);
        }
        Ok(passed)
    }
}

/// The host at the other end.
pub(crate) fn far_end(link: &Link, host: usize) -> usize {
    if link.ends[0] == host { link.ends[1] } else { link.ends[0] }
}

/// How far each host is from `to` over hosts that forward (Dijkstra 1959).
fn distances(hosts: &[Host], links: &[Link], to: usize) -> Vec<Option<u64>> {
    let mut distances = vec![None; hosts.len()];
    let mut open = BinaryHeap::from([(Reverse(0), to)]);
    while let Some((Reverse(distance), host)) = open.pop() {
        if distances[host].is_some() {
            continue;
        }
        distances[host] = Some(distance);
        if host != to && !hosts[host].forwards {
            continue;
        }
        for link in links.iter().filter(|link| link.ends.contains(&host)) {
            open.push((Reverse(distance + u64::from(link.cost)), far_end(link, host)));
        }
    }
    distances
}

/// The link on the shortest way, the first of the file where several are as short.
fn first_link(hosts: &[Host], links: &[Link], distances: &[Option<u64>], [host, to]: [usize; 2]) -> Option<usize> {
    if host == to {
        return None;
    }
    let ways = links.iter().enumerate().filter(|(_, link)| link.ends.contains(&host)).filter_map(|(number, link)| {
        let via = far_end(link, host);
        let usable = via == to || hosts[via].forwards;
        let distance = distances[via].filter(|_| usable)?;
        Some((distance + u64::from(link.cost), number))
    });
    ways.min().map(|(_, number)| number)
}
