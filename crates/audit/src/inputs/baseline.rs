//! A host compared with itself in better days.

use crate::compare::{Change, changes};
use crate::fact::{Fact, FactMap, Missing, Reason};
use crate::scope::HostFacts;
use crate::settings::{Key, Reading};

pub(super) fn facts(now: &HostFacts, then: &HostFacts) -> Fact {
    let kernel = Key::host(KERNEL);
    let mut changed = changes(&then.settings, &now.settings);
    // The kernel has a rule of its own.
    changed.retain(|change| change.key != kernel);
    let mut facts = FactMap::from([
        ("changed".to_owned(), Fact::List(changed.iter().map(entry).collect())),
        ("back_to_default".to_owned(), back_to_default(now, &changed)),
        ("speed_bps".to_owned(), per_link(then, "link", "speed_bps")),
        ("qdisc".to_owned(), per_link(then, "qdisc", "signature")),
        ("irq_pinned".to_owned(), per_link(then, "irq", "pinned")),
    ]);
    if let Reading::Known(release) = then.settings.get(&kernel) {
        facts.insert("kernel_release".to_owned(), Fact::Text(release.text.clone()));
    }
    Fact::Map(facts)
}

fn entry(change: &Change) -> Fact {
    let shown =
        |value: Option<&crate::settings::Value>| value.map_or_else(|| "none".to_owned(), |value| value.text.clone());
    let entry =
        [("key", change.key.to_string()), ("was", shown(change.old.as_ref())), ("now", shown(change.new.as_ref()))];
    Fact::Map(entry.map(|(name, value)| (name.to_owned(), Fact::Text(value))).into())
}

/// Sysctls that are another now, and that nothing sets any more: their value is the kernel's default, or no file holds them.
fn back_to_default(now: &HostFacts, changed: &[Change]) -> Fact {
    let own = now.namespaces.first();
    let defaults = own.and_then(|own| own.facts.get("default")).and_then(Fact::as_map);
    let winners = now.facts.get("files").and_then(Fact::as_map).and_then(|files| files.get("winner")?.as_map());
    if defaults.is_none() && winners.is_none() {
        let why = "neither the kernel's defaults nor the files that set values at boot are known";
        return Fact::Missing(Missing::new(Reason::Absent, why));
    }
    let lost = changed.iter().filter(|change| change.key.namespace.is_empty()).filter_map(|change| {
        let name = change.key.as_sysctl().filter(|name| name.starts_with("net."))?;
        let value = &change.new.as_ref()?.text;
        let is_default = defaults
            .and_then(|defaults| defaults.get(&name))
            .map(|default| default.to_string().trim_matches(['[', ']']) == value);
        let is_lost = is_default.unwrap_or_else(|| winners.is_some_and(|winners| !winners.contains_key(&name)));
        is_lost.then_some(Fact::Text(name))
    });
    Fact::List(lost.collect())
}

const KERNEL: &str = "machine.kernel";

fn per_link(host: &HostFacts, root: &str, name: &str) -> Fact {
    let links = host.namespaces.iter().take(1).flat_map(|namespace| &namespace.links);
    let named = links.filter_map(|link| {
        let fact = link.facts.get(root)?.as_map()?.get(name)?;
        (!matches!(fact, Fact::Missing(_))).then(|| (link.name.clone(), fact.clone()))
    });
    Fact::Map(named.collect())
}
