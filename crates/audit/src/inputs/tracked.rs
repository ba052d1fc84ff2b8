//! Facts that are compared between hosts and times: settings, never counters.

use std::collections::BTreeMap;

use crate::fact::{Fact, FactMap};
use crate::scope::HostFacts;

/// Settings of a host by name, as people read them. What is missing is left out: it is no difference.
pub(super) fn settings(host: &HostFacts) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::new();
    add(&mut settings, "kernel.release", "release", host.facts.get("kernel"));
    for name in ["governors", "smt"] {
        add(&mut settings, &format!("cpu.{name}"), name, host.facts.get("cpu"));
    }
    for namespace in host.namespaces.iter().take(1) {
        if let Some(Fact::Map(sysctls)) = namespace.facts.get("sysctl") {
            for (key, value) in
                sysctls.iter().filter(|(key, _)| !model::host::tracked::VOLATILE.contains(&key.as_str()))
            {
                keep(&mut settings, key.clone(), value);
            }
        }
        for link in &namespace.links {
            of_link(&mut settings, &link.name, &link.facts);
        }
    }
    settings
}

fn of_link(settings: &mut BTreeMap<String, String>, name: &str, facts: &FactMap) {
    let Some(Fact::Map(nic)) = facts.get("nic") else { return };
    for field in ["mtu", "txqlen", "speed_bps"] {
        add(settings, &format!("{name} {field}"), field, facts.get("link"));
    }
    for field in ["kind", "leaves"] {
        add(settings, &format!("{name} qdisc {field}"), field, facts.get("qdisc"));
    }
    for field in ["driver", "firmware"] {
        add(settings, &format!("{name} {field}"), field, facts.get("nic"));
    }
    for (field, fact) in nic.iter().filter(|(field, _)| COMPARED.contains(&field.as_str())) {
        let Fact::Map(fields) = fact else { continue };
        for (inner, value) in fields.iter().filter(|(inner, _)| !inner.ends_with("_frames")) {
            let value = value.as_map().and_then(|feature| feature.get("on")).unwrap_or(value);
            keep(settings, format!("{name} {field} {inner}"), value);
        }
    }
}

fn add(settings: &mut BTreeMap<String, String>, key: &str, field: &str, from: Option<&Fact>) {
    if let Some(found) = from.and_then(Fact::as_map).and_then(|facts| facts.get(field)) {
        keep(settings, key.to_owned(), found);
    }
}

fn keep(settings: &mut BTreeMap<String, String>, key: String, value: &Fact) {
    if !matches!(value, Fact::Missing(_) | Fact::Map(_)) {
        settings.insert(key, value.to_string().trim_matches(['[', ']']).to_owned());
    }
}

/// Parts of a NIC that somebody sets.
const COMPARED: [&str; 5] = ["features", "rings", "channels", "coalesce", "pause"];
