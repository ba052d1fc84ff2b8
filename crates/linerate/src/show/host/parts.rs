//! Parts of the summary of a host: interfaces, and facts that are not known.

use std::collections::BTreeMap;

use comfy_table::Table;
use model::host::fact::Fact;
use model::host::interface::Interface;
use model::host::interface::tuning::Feature;
use model::host::qdisc::Qdisc;

use crate::show::table;

/// A text, or why it is not known.
pub fn or_unknown(fact: &Fact<String>) -> String {
    fact.value().filter(|text| !text.is_empty()).cloned().unwrap_or_else(|| state(fact))
}

/// Why a fact is not known, in brackets.
pub fn state<T>(fact: &Fact<T>) -> String {
    match &fact.reading {
        Ok(_) => "(empty)".to_owned(),
        Err(missing) => format!("({missing})"),
    }
}

/// A line for each interface.
pub fn interfaces(interfaces: &[Interface]) -> String {
    let mut rows = Table::new();
    rows.set_header(["INTERFACE", "DRIVER", "SPEED", "MTU", "QUEUEING", "RX RING", "TX RING", "QUEUES", "OFF", "LOST"]);
    for interface in interfaces.iter().take(MAX_INTERFACES) {
        rows.add_row([
            name(interface),
            driver(interface),
            interface.reported_speed().map_or_else(dash, |speed| speed.to_string()),
            interface.link.value().and_then(|link| link.mtu).map_or_else(dash, |mtu| mtu.to_string()),
            interface.qdiscs.value().map_or_else(dash, |qdiscs| queueing(qdiscs)),
            interface.rings.value().map_or_else(dash, |rings| of(rings.rx, rings.rx_max)),
            interface.rings.value().map_or_else(dash, |rings| of(rings.tx, rings.tx_max)),
            queues(interface),
            interface.features.value().map_or_else(dash, off),
            lost(interface),
        ]);
    }
    let mut text = table::text(rows);
    if interfaces.len() > MAX_INTERFACES {
        text.push_str(&format!("and {} more: --json has them all\n", interfaces.len() - MAX_INTERFACES));
    }
    text
}

fn name(interface: &Interface) -> String {
    let down = interface.link.value().is_some_and(|link| !link.up);
    let recorded = interface.driver.source.is_recorded();
    format!("{}{}{}", interface.name, if down { " (down)" } else { "" }, if recorded { " (recorded)" } else { "" })
}

fn driver(interface: &Interface) -> String {
    let kind = interface.link.value().and_then(|link| link.kind.clone());
    let driver = interface.driver.value().map(|driver| driver.name.clone()).filter(|name| !name.is_empty());
    let detail = interface.link.value().and_then(|link| {
        let vlan = link.vlan.map(|number| format!(" {number}"));
        vlan.or_else(|| link.vxlan.as_ref().map(|vxlan| format!(" {}", vxlan.vni)))
    });
    match (driver, kind) {
        (_, Some(kind)) => format!("{kind}{}", detail.unwrap_or_default()),
        (Some(driver), None) => driver,
        (None, None) => dash(),
    }
}

/// The discipline of the whole interface, and those of its queues where they have their own.
fn queueing(qdiscs: &[Qdisc]) -> String {
    let Some(root) = qdiscs.iter().find(|qdisc| qdisc.is_root()) else { return dash() };
    let mut leaves: Vec<&str> = qdiscs
        .iter()
        .filter(|qdisc| !qdisc.is_root() && qdisc.parent != model::host::qdisc::INGRESS)
        .map(|qdisc| qdisc.kind.as_str())
        .collect();
    leaves.sort_unstable();
    leaves.dedup();
    match (root.classes.len(), leaves.is_empty()) {
        (0, true) => root.kind.clone(),
        (0, false) => format!("{} of {}", root.kind, leaves.join(", ")),
        (1, _) => format!("{} of 1 class", root.kind),
        (classes, _) => format!("{} of {classes} classes", root.kind),
    }
}

fn queues(interface: &Interface) -> String {
    let channels = interface.channels.value();
    let combined = channels.and_then(|channels| channels.combined.filter(|&count| count > 0));
    let separate = channels.and_then(|channels| channels.rx.zip(channels.tx));
    let link = || interface.link.value().and_then(|link| link.rx_queues.zip(link.tx_queues));
    match (combined, separate.or_else(link)) {
        (Some(combined), _) => of(Some(combined), channels.and_then(|channels| channels.combined_max)),
        (None, Some((rx, tx))) if rx == tx => rx.to_string(),
        (None, Some((rx, tx))) => format!("{rx} rx, {tx} tx"),
        (None, None) => dash(),
    }
}

/// Offloads that a fast interface mostly has, and that this one has not, as `ethtool -K` calls them.
fn off(features: &BTreeMap<String, Feature>) -> String {
    let off: Vec<&str> = OFFLOADS
        .iter()
        .filter(|(feature, _)| features.get(*feature).is_some_and(|feature| !feature.active))
        .map(|(_, name)| *name)
        .collect();
    if off.is_empty() { dash() } else { off.join(",") }
}

/// What the interface and its queues have lost, one after the other.
fn lost(interface: &Interface) -> String {
    let counters = interface.counters.value();
    let counted = |names: &[&str]| -> u64 { names.iter().filter_map(|name| counters?.get(*name)).sum() };
    let queued: u64 = interface
        .qdiscs
        .value()
        .into_iter()
        .flatten()
        .filter(|qdisc| qdisc.is_root())
        .filter_map(|qdisc| qdisc.counters.get("drops"))
        .sum();
    let received = counted(&["rx_dropped", "rx_missed_errors", "rx_errors"]);
    let sent = counted(&["tx_dropped", "tx_errors"]);
    let parts = [("rx", received), ("tx", sent), ("qdisc", queued)];
    let parts: Vec<String> =
        parts.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} {count}")).collect();
    if parts.is_empty() { dash() } else { parts.join(", ") }
}

fn of(current: Option<u32>, most: Option<u32>) -> String {
    match (current, most) {
        (Some(current), Some(most)) => format!("{current} of {most}"),
        (Some(current), None) => current.to_string(),
        _ => dash(),
    }
}

fn dash() -> String {
    "-".to_owned()
}

const OFFLOADS: [(&str, &str); 4] =
    [("rx-gro", "gro"), ("tx-tcp-segmentation", "tso"), ("tx-generic-segmentation", "gso"), ("rx-checksum", "rx")];

/// Most interfaces that are listed; container hosts have hundreds.
const MAX_INTERFACES: usize = 24;
