//! What goes wrong with routes, in networks that have a second way.

use super::super::draw::on_log;
use super::super::network::SPARE;
use super::super::plan::{self, Pair};
use super::ground::{Claim, Ground, Planted};

/// One direction goes over the second way, which is worse.
pub(super) fn asymmetric_route(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let detour = detour(ground, &pair)?;
    let what = if ground.draw.is(0.6) {
        vec![format!("add = {{ loss = {{ random = {:.6} }} }}", on_log(severity, [1e-4, 2e-2]))]
    } else {
        ground.port(detour.last, pair.rate * on_log(severity, [0.7, 0.05]), "bytes = \"1MB\"")
    };
    ground.tests.push(plan::tcp(&pair, number, &["reverse = true"]));
    ground.tests.push(plan::hops(number));
    let mut planted = ground.on_link("asymmetric-route", [detour.last, detour.direction], severity, what);
    planted.faults.push(detour.route);
    planted.claims.extend([Claim::Link(detour.first, 0), Claim::Link(detour.first, 1)]);
    Some(Planted { from: None, ..planted })
}

/// The direct way is withdrawn while it is used.
pub(super) fn route_change(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let (number, pair) = ground.pair();
    let detour = detour(ground, &pair)?;
    let (direct, direction) = *pair.path.iter().find(|(link, _)| ground.network.links[*link].is_long)?;
    ground.tests.insert(0, plan::tcp(&pair, number, &[]));
    ground.tests.push(plan::tcp(&pair, number, &[]));
    let mut planted = ground.on_link("route-change", [direct, direction], severity, Vec::new());
    planted.place.truncate(1);
    let from = Some(ground.draw.between([0.3, 0.7]));
    let claims = vec![Claim::Link(direct, 0), Claim::Link(direct, 1)];
    Some(Planted { faults: vec![detour.route], from, claims, ..planted })
}

/// The second way of a pair.
struct Detour {
    /// The fault that sends its packets there.
    route: Vec<String>,
    first: usize,
    last: usize,
    /// Of the data, on its last link.
    direction: usize,
}

fn detour(ground: &Ground<'_>, pair: &Pair) -> Option<Detour> {
    let (hosts, links) = (&ground.network.hosts, &ground.network.links);
    let (direct, direction) = *pair.path.iter().find(|(link, _)| links[*link].is_long)?;
    let [from, to] = [links[direct].ends[direction], links[direct].ends[1 - direction]];
    let spare = |end: usize| links.iter().position(|link| link.is_spare && link.ends.contains(&end));
    let (first, last) = (spare(from)?, spare(to)?);
    let behind = links.iter().filter(|link| link.ends[1] == to && !hosts[link.ends[0]].forwards);
    let behind: Vec<String> = behind.map(|link| format!("\"{}\"", hosts[link.ends[0]].name)).collect();
    let route = vec![
        format!("host = \"{}\"", hosts[from].name),
        format!("route = {{ to = [{}, \"{}\"], via = \"{SPARE}\" }}", behind.join(", "), hosts[to].name),
    ];
    Some(Detour { route, first, last, direction: usize::from(links[last].ends[0] == to) })
}
