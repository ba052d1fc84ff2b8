//! Red herrings, and noise of hosts and networks (docs/incidents.md, "What else is true").

use super::draw::{Draw, whole};
use super::network::Network;
use super::plan::Pair;

/// Adds both to a network.
pub(super) fn add(network: &mut Network, pairs: &[Pair], draw: &mut Draw) {
    if draw.is(0.4) {
        for _ in 0..=draw.below(2) {
            herring(network, pairs, draw);
        }
    }
    if draw.is(0.5) {
        noise(network, pairs, draw);
    }
}

fn herring(network: &mut Network, pairs: &[Pair], draw: &mut Draw) {
    let testing = network.testing();
    let host = testing[draw.below(testing.len())];
    match draw.below(7) {
        0 => {
            // Less than its peers have, and more than its paths need.
            let of_host = pairs.iter().filter(|pair| pair.from == host || pair.to == host);
            let need = of_host.map(|pair| pair.rate * pair.rtt / 8.0).fold(0.0, f64::max);
            let enough = whole(need * 3.0).next_power_of_two().max(1 << 20);
            network.hosts[host].receive_buffer = enough.min(network.hosts[host].receive_buffer);
            network.hosts[host].send_buffer = enough.min(network.hosts[host].send_buffer);
        }
        1 => {
            if let Some(idle) = idle_host(network, pairs) {
                (network.hosts[idle].receive_buffer, network.hosts[idle].send_buffer) = (6 << 20, 4 << 20);
            }
        }
        2 => {
            if let Some(link) = idle_link(network, pairs) {
                network.links[link].rate /= 10.0;
            }
        }
        3 => {
            let link = draw.below(network.links.len());
            network.links[link].besides.push("{ loss = { random = 1e-6 } }".to_owned());
        }
        4 => {
            network.record_first(host, &["rings = { rx = 1024, rx_max = 8192, tx = 1024, tx_max = 8192 }"]);
        }
        5 => {
            // Of a cable that was changed long ago.
            let damaged = whole(draw.log([1e3, 1e5]));
            let counters = format!("counters = {{ rx_crc_errors = {damaged}, rx_errors = {damaged} }}");
            network.record_first(host, &[&counters]);
        }
        _ => {
            let frames = whole(draw.log([1e4, 1e6]));
            network.record_first(host, &[&format!("driver_counters = {{ rx_flow_control_xoff = {frames} }}")]);
        }
    }
}

fn idle_host(network: &Network, pairs: &[Pair]) -> Option<usize> {
    network.testing().into_iter().find(|host| !pairs.iter().any(|pair| pair.from == *host || pair.to == *host))
}

fn idle_link(network: &Network, pairs: &[Pair]) -> Option<usize> {
    let is_used = |link: &usize| pairs.iter().any(|pair| pair.path.iter().any(|(used, _)| used == link));
    (0..network.links.len()).find(|link| !is_used(link))
}

fn noise(network: &mut Network, pairs: &[Pair], draw: &mut Draw) {
    for pair in pairs {
        for host in [pair.from, pair.to] {
            if draw.is(0.25) {
                network.hosts[host].cpu_share = Some(draw.between([0.7, 0.97]));
            }
        }
    }
    let (jitter, others) = (draw.between([0.01, 0.05]), draw.between([0.02, 0.15]));
    for link in &mut network.links {
        link.jitter = link.delay * jitter;
        if link.is_long {
            link.cross = link.rate * others;
        }
    }
}
