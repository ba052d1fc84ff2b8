//! Whether packets arrive.

use std::collections::BTreeSet;

use super::plan::{Plan, Topology};
use super::routing::Lost;
use crate::diagnostics::Diagnostics;
use crate::error::Problem;
use crate::service::{Service, ServiceKind};
use crate::test::Test;
use document::Key;

/// Complains about circles anywhere, and about tests, overlays and proxies whose packets would not arrive.
pub(crate) fn check(
    plan: &Plan,
    topology: Topology<'_>,
    services: &[Service],
    tests: &[Test],
    diagnostics: &mut Diagnostics<'_>,
) {
    let Topology { hosts, links, overlays } = topology;
    let name = |host: usize| hosts[host].name.clone();
    let mut circles = BTreeSet::new();
    for from in 0..hosts.len() {
        for to in 0..hosts.len() {
            let Err(Lost::Circle(mut circle)) = plan.routing.walk(links, from, to) else { continue };
            circle.sort_unstable();
            // One complaint for each circle, however many hosts send into it.
            if circles.insert((circle.clone(), to)) {
                let circle = circle.into_iter().map(name).collect::<Vec<_>>().join(", ");
                diagnostics.complain(&Key::top("routes"), Problem::Circle { from: name(from), to: name(to), circle });
            }
        }
    }
    let mut needed = BTreeSet::new();
    for (number, test) in tests.iter().enumerate() {
        needed.insert((test.from.host, test.to.host, format!("tests.{number}")));
    }
    for (number, overlay) in overlays.iter().enumerate() {
        let pairs = overlay.hosts.iter().flat_map(|one| overlay.hosts.iter().map(move |other| (*one, *other)));
        needed.extend(pairs.map(|(one, other)| (one, other, format!("overlays.{number}"))));
    }
    for (number, service) in services.iter().enumerate() {
        let ServiceKind::Proxy(proxy) = &service.kind else { continue };
        for host in &proxy.over {
            needed.insert((service.host, *host, format!("services.{number}")));
            needed.insert((*host, proxy.origin, format!("services.{number}")));
        }
    }
    for (one, other, key) in needed {
        let key = key
            .split_once('.')
            .map_or_else(Key::default, |(list, number)| Key::top(list).nth(number.parse().unwrap_or_default()));
        for (from, to) in [(one, other), (other, one)] {
            if plan.routing.walk(links, from, to) == Err(Lost::NoRoute) {
                diagnostics.complain(&key, Problem::NoRoute { from: name(from), to: name(to) });
            }
        }
    }
}
