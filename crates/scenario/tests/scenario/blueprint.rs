//! What a scenario is worked out to.

use std::fmt::Write;

use path::{ElementSpec, Seed};
use scenario::Scenario;
use scenario::blueprint::{Blueprint, What};
use scenario::library::load;

#[test]
fn a_route_change_is_worked_out() {
    insta::assert_snapshot!(shown(&load("route-change").unwrap().blueprint(Seed(1))));
}

/// One of everything that is not in the other.
const OVERLAY: &str = r#"
title = "t"
about = "a"
families = ["ipv4"]
[defaults]
congestion-control = "cubic"
mtu = 9000
[groups.vm]
sysctl.net.ipv4.tcp_ecn = 1
[hosts.vm-of-a-very-long-name]
group = "vm"
offloads = { rx-gro = true }
[hosts.switch]
forwards = true
devices.one = { mtu = 1500 }
[hosts.vm-b]
group = "vm"
address = "192.0.2.7"
[hosts.vm-b.facts.interfaces.other]
rings = { rx = 512 }
[[links]]
name = "one"
between = ["vm-of-a-very-long-name", "switch"]
speed = "10Gbit/s"
[[links]]
name = "two"
between = ["switch", "vm-of-a-very-long-name"]
cost = 5
[[links]]
name = "other"
between = ["switch", "vm-b"]
there = [{ port = { rate = "1Gbit/s" } }, { delay = { time = "1ms" } }]
[[routes]]
host = "switch"
to = ["vm-of-a-very-long-name"]
link = "two"
initcwnd = 30
[[overlays]]
kind = "vxlan"
name = "ingress"
hosts = ["vm-of-a-very-long-name", "vm-b"]
id = 256
[[faults]]
id = "merging"
host = "vm-of-a-very-long-name"
link = "two"
from = "1s"
until = "2s"
offloads = { rx-gro = false }
mtu = 1400
[[faults]]
id = "reset"
host = "vm-b"
sysctl = { "net.ipv4.tcp_ecn" = 0 }
[[faults]]
id = "slow"
link = "other"
towards = "vm-b"
from = "1s"
until = "2s"
set = { port = { rate = "10Mbit/s" } }
[[faults]]
id = "loss"
link = "other"
from = "1s"
add = { loss = { every-nth = 3 } }
at = "first"
[[tests]]
kind = "tcp"
from = "vm-of-a-very-long-name.ingress"
to = "vm-b.ingress"
[truth]
healthy = true
"#;

#[test]
fn an_overlay_with_faults_of_every_kind_is_worked_out() {
    insta::assert_snapshot!(shown(&Scenario::parse("overlay.toml", OVERLAY).unwrap().blueprint(Seed(1))));
}

/// A blueprint as short as it can be read.
fn shown(blueprint: &Blueprint) -> String {
    let mut text = String::new();
    for host in &blueprint.hosts {
        writeln!(text, "{} {:?} cpu {:?} {:?}", host.name, host.addresses, host.cpu_share, host.sysctls).unwrap();
        if let Some(facts) = &host.recorded_facts {
            writeln!(text, "  recorded {facts:?}").unwrap();
        }
        for device in &host.devices {
            let (mtu, speed, qdisc) = (device.mtu, device.speed, &device.qdisc);
            write!(text, "  {} is end {} of cable {}: ", device.name, device.end, device.cable).unwrap();
            writeln!(text, "{:?} {mtu} {speed:?} {:?} {qdisc:?}", device.addresses, device.features).unwrap();
        }
        for tunnel in &host.tunnels {
            writeln!(text, "  {tunnel:?}").unwrap();
        }
        for route in &host.routes {
            let ((to, prefix), via) = (route.to, route.via.map(|via| via.to_string()).unwrap_or_default());
            let source = route.source.map(|source| source.to_string()).unwrap_or_default();
            writeln!(text, "  {to}/{prefix} via {via} dev {} src {source} {:?}", route.device, route.metrics).unwrap();
        }
    }
    for cable in &blueprint.cables {
        writeln!(text, "cable {} {:?} reporters {:?}", cable.name, cable.hosts, cable.reporters).unwrap();
        for (chain, arrow) in cable.chains.iter().zip(["->", "<-"]) {
            for stage in chain {
                let changes: Vec<_> = stage.changes.iter().map(|change| (change.at, short(&change.spec))).collect();
                writeln!(text, "  {arrow} {} during {:?} changes {changes:?}", short(&stage.spec), stage.during)
                    .unwrap();
            }
        }
    }
    for alteration in &blueprint.alterations {
        let what = match &alteration.what {
            What::Route(route) => format!("{:?} by {} via {:?}", route.to, route.device, route.via),
            other => format!("{other:?}"),
        };
        writeln!(text, "at {:?} in {}: {what}", alteration.at, blueprint.hosts[alteration.host].name).unwrap();
    }
    text
}

fn short(spec: &ElementSpec) -> String {
    match spec {
        ElementSpec::Port(port) => format!("port of {}", port.rate),
        ElementSpec::Delay(delay) => format!("delay of {:?}", delay.time),
        other => format!("{other:?}"),
    }
}
