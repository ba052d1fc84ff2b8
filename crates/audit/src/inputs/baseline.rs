//! A host compared with itself in better days.

use std::collections::BTreeMap;

use super::tracked::settings;
use crate::fact::{Fact, FactMap, Missing, Reason};
use crate::scope::HostFacts;

pub(super) fn facts(now: &HostFacts, then: &HostFacts) -> Fact {
    let (is, was) = (settings(now), settings(then));
    // The kernel has a rule of its own.
    let differing = was.iter().filter(|(key, _)| key.as_str() != "kernel.release");
    let changed = differing.filter_map(|(key, was)| {
        let now = is.get(key)?;
        let entry = [("key", key), ("was", was), ("now", now)];
        (now != was).then(|| Fact::Map(entry.map(|(name, value)| (name.to_owned(), Fact::Text(value.clone()))).into()))
    });
    let mut facts = FactMap::from([
        ("changed".to_owned(), Fact::List(changed.collect())),
        ("back_to_default".to_owned(), back_to_default(now, &is, &was)),
        ("speed_bps".to_owned(), per_link(then, "link", "speed_bps")),
        ("qdisc".to_owned(), per_link(then, "qdisc", "signature")),
        ("irq_pinned".to_owned(), per_link(then, "irq", "pinned")),
    ]);
    if let Some(release) = was.get("kernel.release") {
        facts.insert("kernel_release".to_owned(), Fact::Text(release.clone()));
    }
    Fact::Map(facts)
}

/// Settings that are another now, and that nothing sets any more: their value is the kernel's default, or no file holds them.
fn back_to_default(now: &HostFacts, is: &BTreeMap<String, String>, was: &BTreeMap<String, String>) -> Fact {
    let own = now.namespaces.first();
    let defaults = own.and_then(|own| own.facts.get("default")).and_then(Fact::as_map);
    let winners = now.facts.get("files").and_then(Fact::as_map).and_then(|files| files.get("winner")?.as_map());
    if defaults.is_none() && winners.is_none() {
        let why = "neither the kernel's defaults nor the files that set values at boot are known";
        return Fact::Missing(Missing::new(Reason::Absent, why));
    }
    let lost = was.iter().filter(|(key, was)| {
        let changed = key.starts_with("net.") && is.get(*key).is_some_and(|now| now != *was);
        let is_default = defaults
            .and_then(|defaults| defaults.get(*key))
            .map(|default| Some(default.to_string().trim_matches(['[', ']'])) == is.get(*key).map(String::as_str));
        changed && is_default.unwrap_or_else(|| winners.is_some_and(|winners| !winners.contains_key(*key)))
    });
    Fact::List(lost.map(|(key, _)| Fact::Text(key.clone())).collect())
}

fn per_link(host: &HostFacts, root: &str, name: &str) -> Fact {
    let links = host.namespaces.iter().take(1).flat_map(|namespace| &namespace.links);
    let named = links.filter_map(|link| {
        let fact = link.facts.get(root)?.as_map()?.get(name)?;
        (!matches!(fact, Fact::Missing(_))).then(|| (link.name.clone(), fact.clone()))
    });
    Fact::Map(named.collect())
}
