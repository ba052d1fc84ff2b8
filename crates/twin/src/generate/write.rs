//! An incident as a scenario file.

use super::draw::whole;
use super::faults::Planted;
use super::network::{Host, Link, Network};
use super::plan::{Pair, Test};

/// All that a file is made of.
pub(super) struct Parts<'a> {
    pub(super) number: u64,
    pub(super) network: &'a Network,
    pub(super) pairs: &'a [Pair],
    pub(super) tests: &'a [Test],
    pub(super) planted: &'a [Planted],
}

/// The text of the file.
pub(super) fn text(parts: &Parts<'_>) -> String {
    let mut lines = vec![
        format!("title = \"Incident {}\"", parts.number),
        format!("about = \"\"\"{}\"\"\"", about(parts)),
        "families = [\"ipv4\"]".to_owned(),
        String::new(),
    ];
    for host in &parts.network.hosts {
        lines.extend(of_host(host, parts.network));
    }
    for link in &parts.network.links {
        lines.extend(of_link(link, parts.network));
    }
    if parts.network.overlay {
        lines.extend(overlay(parts.network));
    }
    lines.extend(parts.network.services.iter().cloned());
    let length: f64 = parts.tests.iter().map(|test| test.length + AROUND).sum();
    for (number, planted) in parts.planted.iter().enumerate() {
        lines.extend(of_fault(number, planted, length));
    }
    for test in parts.tests {
        lines.extend(of_test(test, parts));
    }
    lines.extend(truth(parts.planted));
    lines.join("\n") + "\n"
}

fn about(parts: &Parts<'_>) -> String {
    let network = parts.network;
    let said: Vec<String> = parts
        .planted
        .iter()
        .map(|planted| {
            format!("{} with severity {:.2} ({})", planted.cause, planted.severity, planted.place.join(", "))
        })
        .collect();
    let wrong = if said.is_empty() { "nothing is wrong".to_owned() } else { said.join("; ") };
    format!(
        "Drawn from seed {}: {} hosts, {} Mbit/s, RTT {:.1} ms. Planted: {}.",
        parts.number,
        network.hosts.len(),
        whole(network.rate / 1e6),
        network.rtt * 1e3,
        wrong.replace('"', "'")
    )
}

fn of_host(host: &Host, network: &Network) -> Vec<String> {
    let mut lines = vec![format!("[hosts.{}]", host.name), format!("group = \"{}\"", host.group)];
    if host.forwards {
        lines.push("forwards = true".to_owned());
    }
    lines.push(format!("congestion-control = \"{}\"", host.control));
    let marks = if host.marks { ", \"net.ipv4.tcp_ecn\" = 1" } else { "" };
    lines.push(format!(
        "sysctl = {{ \"net.ipv4.tcp_rmem\" = \"4096 131072 {}\", \"net.ipv4.tcp_wmem\" = \"4096 16384 {}\"{marks} }}",
        host.receive_buffer, host.send_buffer
    ));
    if let Some(rate) = host.paced {
        let rate = whole(rate / 1e3);
        lines.push(format!("qdisc = {{ tbf = {{ rate = \"{rate}kbit/s\", burst = \"16kB\", limit = \"8MB\" }} }}"));
    }
    if let Some(share) = host.cpu_share {
        lines.push(format!("cpu-share = {share:.3}"));
    }
    if let Some(machine) = host.machine {
        lines.push(format!("attributes = {{ vm-host = \"{}\" }}", network.hosts[machine].name));
    }
    lines.extend(host.facts.iter().map(|line| line.replace('@', &host.name)));
    lines.push(String::new());
    lines
}

fn of_link(link: &Link, network: &Network) -> Vec<String> {
    let [one, other] = link.ends.map(|host| &network.hosts[host].name);
    let rate = whole(link.rate / 1e3);
    let mut chain = vec![format!(
        "{{ port = {{ rate = \"{rate}kbit/s\", queue = {{ bytes = \"{}B\" }}{} }} }}",
        whole(link.queue),
        link.cross_setting()
    )];
    let jitter =
        if link.jitter > 1e-6 { format!(", jitter = \"{}us\"", whole(link.jitter * 1e6)) } else { String::new() };
    chain.push(format!("{{ delay = {{ time = \"{}us\"{jitter} }} }}", whole(link.delay * 1e6).max(1)));
    chain.extend(link.besides.iter().cloned());
    vec![
        "[[links]]".to_owned(),
        format!("name = \"{}\"", link.name),
        format!("between = [\"{one}\", \"{other}\"]"),
        format!("mtu = {}", network.mtu),
        format!("speed = \"{}kbit/s\"", whole(link.speed.unwrap_or(link.rate) / 1e3)),
        format!("cost = {}", if link.is_spare { SPARE_COST } else { 1 }),
        format!("both = [{}]", chain.join(", ")),
        String::new(),
    ]
}

fn overlay(network: &Network) -> Vec<String> {
    let guests = network.hosts.iter().filter(|host| host.machine.is_some());
    let guests: Vec<String> = guests.map(|host| format!("\"{}\"", host.name)).collect();
    vec![
        "[[overlays]]".to_owned(),
        "kind = \"vxlan\"".to_owned(),
        "name = \"ingress\"".to_owned(),
        format!("hosts = [{}]", guests.join(", ")),
        "id = 256".to_owned(),
        format!("mtu = {}", network.overlay_mtu),
        String::new(),
    ]
}

fn of_fault(number: usize, planted: &Planted, length: f64) -> Vec<String> {
    let mut lines = Vec::new();
    for (part, fault) in planted.faults.iter().enumerate() {
        lines.push("[[faults]]".to_owned());
        lines.push(format!("id = \"{}\"", id(number, part)));
        if let Some(from) = planted.from {
            lines.push(format!("from = \"{}ms\"", whole(from * length * 1e3)));
        }
        if let Some(until) = planted.until {
            lines.push(format!("until = \"{}ms\"", whole(until * length * 1e3)));
        }
        lines.extend(fault.iter().cloned());
        lines.push(String::new());
    }
    lines
}

fn id(number: usize, part: usize) -> String {
    format!("fault-{}{}", number + 1, if part == 0 { String::new() } else { format!("-{part}") })
}

fn of_test(test: &Test, parts: &Parts<'_>) -> Vec<String> {
    if test.kind == "http" {
        let kind = ["[[tests]]", "kind = \"http\""].map(str::to_owned);
        return kind.into_iter().chain(test.keys.iter().cloned()).chain([String::new()]).collect();
    }
    let pair = &parts.pairs[test.pair];
    let name = |host: usize| {
        let host = &parts.network.hosts[host];
        let is_inside = parts.network.overlay && matches!(test.kind, "tcp");
        if is_inside { format!("{}.ingress", host.name) } else { host.name.clone() }
    };
    let mut lines = vec![
        "[[tests]]".to_owned(),
        format!("kind = \"{}\"", test.kind),
        format!("from = \"{}\"", name(pair.from)),
        format!("to = \"{}\"", name(pair.to)),
    ];
    lines.extend(test.keys.iter().cloned());
    if test.kind == "tcp" && !test.keys.iter().any(|key| key.starts_with("expect")) {
        lines.push(format!("expect = \"{}kbit/s\"", whole(pair.rate / 1e3)));
    }
    lines.push(String::new());
    lines
}

fn truth(planted: &[Planted]) -> Vec<String> {
    let mut lines = vec!["[truth]".to_owned()];
    if planted.is_empty() {
        lines.push("healthy = true".to_owned());
    }
    for (number, planted) in planted.iter().enumerate() {
        lines.push("[[truth.causes]]".to_owned());
        lines.push(format!("id = \"{}\"", planted.cause));
        lines.extend(planted.place.iter().cloned());
        if !planted.faults.is_empty() {
            lines.push(format!("fault = \"{}\"", id(number, 0)));
        }
    }
    lines
}

/// What a link of the second way counts for in shortest paths: no path takes it by itself.
const SPARE_COST: u32 = 10;
/// Seconds that a test takes besides its length, about.
const AROUND: f64 = 0.3;
