//! What goes wrong with services: requests that reach a host which has to pass them on.

use super::super::draw::on_log;
use super::super::plan;
use super::ground::{Ground, Planted};

/// A proxy that deals requests over all guests, of which few have the file.
pub(super) fn rerouted_requests(ground: &mut Ground<'_>, severity: f64) -> Option<Planted> {
    let guests = ground.network.testing();
    if !ground.network.overlay || guests.len() < 5 || !ground.network.services.is_empty() {
        return None;
    }
    let name = |host: usize| ground.network.hosts[host].name.clone();
    let [user, portal, origin] = [guests[0], guests[1], guests[2]].map(name);
    let over: Vec<String> = guests[3..].iter().take(6).map(|host| format!("\"{}\"", name(*host))).collect();
    ground.network.services = vec![
        "[[services]]".to_owned(),
        "kind = \"files\"".to_owned(),
        format!("host = \"{origin}\""),
        "files = { \"cube.fits\" = \"10MB\" }".to_owned(),
        "[[services]]".to_owned(),
        "kind = \"proxy\"".to_owned(),
        format!("host = \"{portal}\""),
        format!("over = [{}]", over.join(", ")),
        format!("origin = \"{origin}\""),
        format!("rerouted = {:.2}", on_log(severity, [0.2, 1.0])),
        "overlay = \"ingress\"".to_owned(),
        String::new(),
    ];
    ground.tests.push(plan::downloads([&user, &portal]));
    let planted = ground.on_host("rerouted-requests", guests[1], severity, Vec::new());
    Some(Planted { faults: Vec::new(), ..planted })
}
