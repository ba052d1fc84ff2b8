//! Settings of a device's queues: disciplines, steering of packets, interrupts.

use std::collections::BTreeMap;

use model::host::interface::Interface;
use model::host::interface::queues::{Interrupt, Queues};
use model::host::qdisc::{INGRESS, Qdisc, ROOT};
use model::host::snapshot::Snapshot;

use super::known::Settings;
use super::place::Place;
use super::value::counted;

pub(super) fn add(settings: &mut Settings, place: Place<'_>, interface: &Interface, snapshot: &Snapshot) {
    if let Some(qdiscs) = settings.value_or_why(&place.key("qdisc"), &interface.qdiscs) {
        tree(settings, place, qdiscs);
    }
    if let Some(queues) = settings.value_or_why(&place.key("queues"), &interface.queues) {
        steering(settings, place, queues);
    }
    if let Some(interrupts) = settings.value_or_why(&place.key("irq"), &interface.interrupts) {
        let balanced = snapshot.services.each.get("irqbalance").and_then(|service| service.value());
        affinity(settings, place, interrupts, balanced.is_some_and(|service| service.running));
    }
}

/// The tree of disciplines. Numbers that the kernel gave out are not told: what hangs on a discipline for many queues is
/// counted, what hangs on a class has the number of the class, which somebody chose.
fn tree(settings: &mut Settings, place: Place<'_>, qdiscs: &[Qdisc]) {
    let owner = |parent: &str| {
        let major = major(parent);
        let by_number = qdiscs.iter().find(|qdisc| qdisc.parent != INGRESS && self::major(&qdisc.handle) == major);
        by_number.or_else(|| qdiscs.iter().find(|qdisc| qdisc.is_root()))
    };
    let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for qdisc in qdiscs {
        let name = match qdisc.parent.as_str() {
            ROOT | INGRESS => format!("qdisc.{}", qdisc.parent),
            parent => {
                let kind = owner(parent).map_or("root", |owner| &owner.kind);
                if matches!(kind, "mq" | "mqprio") {
                    format!("qdisc.each-queue-of-{kind}")
                } else {
                    format!("qdisc.{kind}-class-{}", parent.split_once(':').map_or(parent, |(_, minor)| minor))
                }
            }
        };
        alike.entry(name).or_default().push(described(qdisc));
        for class in &qdisc.classes {
            let above = if class.parent == ROOT { "the discipline" } else { class.parent.as_str() };
            let name = place.key(format!("qdisc.{}-class-{}-rate", qdisc.kind, class.minor()));
            settings.put(name, format!("{} below {above}", options(&class.options).trim_start()));
        }
    }
    for (name, descriptions) in alike {
        settings.put(place.key(name), counted(descriptions.iter().map(String::as_str)));
    }
}

fn major(number: &str) -> &str {
    number.split(':').next().unwrap_or_default()
}

fn described(qdisc: &Qdisc) -> String {
    format!("{}{}", qdisc.kind, options(&qdisc.options))
}

/// Options with a blank before each.
fn options(options: &BTreeMap<String, u64>) -> String {
    options.iter().map(|(name, value)| format!(" {name}={value}")).collect()
}

fn steering(settings: &mut Settings, place: Place<'_>, queues: &Queues) {
    let listed = |values: Vec<&str>| if values.is_empty() { None } else { Some(runs(&values)) };
    let flows: Vec<String> = queues.rx.iter().filter_map(|queue| queue.rps_flows).map(|n| n.to_string()).collect();
    settings.put_some(
        place.key("queues.rps-cpus"),
        listed(queues.rx.iter().filter_map(|queue| queue.rps_cpus.as_deref()).collect()),
    );
    settings.put_some(place.key("queues.rps-flow-cnt"), listed(flows.iter().map(String::as_str).collect()));
    settings.put_some(
        place.key("queues.xps-cpus"),
        listed(queues.tx.iter().filter_map(|queue| queue.xps_cpus.as_deref()).collect()),
    );
}

/// Interrupts have other numbers after each start, so they are told in their order. A balancer moves them by itself.
fn affinity(settings: &mut Settings, place: Place<'_>, interrupts: &[Interrupt], balanced: bool) {
    let allowed: Vec<&str> = interrupts.iter().filter_map(|interrupt| interrupt.allowed_cpus.as_deref()).collect();
    if balanced && !allowed.is_empty() {
        settings.put(place.key("irq.affinity"), "left to irqbalance");
    } else if !allowed.is_empty() {
        settings.put(place.key("irq.affinity"), runs(&allowed));
    }
}

/// Values of queues in their order: `0-15` where all have it, else `0, 1, 2, 3`, with runs of the same as `ff x 8`.
fn runs(values: &[&str]) -> String {
    if values.iter().all(|value| *value == values[0]) {
        return values[0].to_owned();
    }
    let run = |run: &[&str]| if run.len() > 1 { format!("{} x {}", run[0], run.len()) } else { run[0].to_owned() };
    values.chunk_by(|one, next| one == next).map(run).collect::<Vec<_>>().join(", ")
}
