//! Settings of a network device: link, driver, offloads, rings.

use model::host::interface::Interface;
use model::host::interface::link::Link;
use model::host::interface::tuning::{Channels, Rings};
use model::host::snapshot::Snapshot;

use super::known::Settings;
use super::place::Place;
use super::queueing;
use super::value::{Value, on_off, yes_no};

pub(super) fn add(settings: &mut Settings, namespace: &str, interface: &Interface, snapshot: &Snapshot) {
    let place = Place { namespace, device: &interface.name };
    link(settings, place, interface);
    driver(settings, place, interface, snapshot);
    mode(settings, place, interface);
    tuning(settings, place, interface);
    queueing::add(settings, place, interface, snapshot);
}

/// What kind of device it is. Every device has this setting, so that one without it is not there.
fn kind(interface: &Interface) -> String {
    let Some(link) = interface.link.value() else { return "there".to_owned() };
    match (&link.kind, link.vlan, &link.vxlan) {
        (Some(kind), Some(vlan), _) => format!("{kind} {vlan}"),
        (Some(kind), _, Some(vxlan)) => format!("{kind} {}", vxlan.vni),
        (Some(kind), None, None) => kind.clone(),
        (None, ..) if interface.name == "lo" => "loopback".to_owned(),
        (None, ..) if interface.is_virtual() == Some(true) => "virtual".to_owned(),
        (None, ..) => PHYSICAL.to_owned(),
    }
}

fn link(settings: &mut Settings, place: Place<'_>, interface: &Interface) {
    settings.put(place.key("device"), kind(interface));
    let Some(link) = settings.value_or_why(&place.key("link"), &interface.link) else { return };
    settings.put(place.key("link.up"), yes_no(link.up));
    let numbers = [
        ("mtu", link.mtu),
        ("txqlen", link.txqlen),
        ("tx-queues", link.tx_queues),
        ("rx-queues", link.rx_queues),
        ("gso-max-bytes", link.gso_max),
        ("gso-max-segments", link.gso_max_segments),
        ("gro-max-bytes", link.gro_max),
        ("gso-ipv4-max-bytes", link.gso_ipv4_max),
        ("gro-ipv4-max-bytes", link.gro_ipv4_max),
    ];
    for (name, number) in numbers {
        let key = place.key(format!("link.{name}"));
        // An older `ip -d link` prints fewer of them: `gso_ipv4_max_size` came with iproute2 6.2.
        match (number, settings.partial.clone()) {
            (None, Some(why)) => drop(settings.unknown.insert(key, why)),
            (number, _) => settings.put_some(key, number),
        }
    }
    stacking(settings, place, link);
}

fn stacking(settings: &mut Settings, place: Place<'_>, link: &Link) {
    settings.put_some(place.key("link.on"), link.lower.as_ref());
    settings.put_some(place.key("link.port-of"), link.controller.as_ref());
    settings.put_some(place.key("link.vxlan-port"), link.vxlan.as_ref().and_then(|vxlan| vxlan.port));
    settings.put_some(place.key("link.vxlan-remote"), link.vxlan.as_ref().and_then(|vxlan| vxlan.remote));
    settings.put_some(place.key("link.bond-mode"), link.bond.as_ref().map(|bond| &bond.mode));
    settings.put_some(place.key("link.bond-hash"), link.bond.as_ref().and_then(|bond| bond.transmit_hash.as_ref()));
}

fn driver(settings: &mut Settings, place: Place<'_>, interface: &Interface, snapshot: &Snapshot) {
    if let Some(driver) = settings.value_or_why(&place.key("driver"), &interface.driver) {
        settings.put(place.key("driver.name"), driver.name.as_str());
        // A driver of the kernel's tree has the version of the kernel, which is a setting already.
        let of_kernel = snapshot.machine.kernel_release.value() == Some(&driver.version);
        settings.put_some(place.key("driver.version"), Some(&driver.version).filter(|v| !v.is_empty() && !of_kernel));
        settings.put_some(place.key("driver.firmware"), Some(&driver.firmware).filter(|text| !text.is_empty()));
    }
    if let Some(bus) = settings.value_or_why(&place.key("bus"), &interface.bus) {
        settings.put_some(place.key("bus.kind"), Some(&bus.kind).filter(|kind| !kind.is_empty()));
        settings.put_some(place.key("bus.model"), bus.model.as_ref());
        settings.put_some(place.key("bus.numa-node"), bus.numa_node);
        settings.put_some(place.key("bus.pcie-speed"), bus.pcie_speed.as_ref());
        settings.put_some(place.key("bus.pcie-max-speed"), bus.pcie_max_speed.as_ref());
        settings.put_some(place.key("bus.pcie-width"), bus.pcie_width);
        settings.put_some(place.key("bus.pcie-max-width"), bus.pcie_max_width);
    }
}

fn mode(settings: &mut Settings, place: Place<'_>, interface: &Interface) {
    if let Some(mode) = settings.value_or_why(&place.key("mode"), &interface.mode) {
        settings.put_some(place.key("mode.speed"), mode.speed);
        settings.put_some(place.key("mode.duplex"), mode.full_duplex.map(|full| if full { "full" } else { "half" }));
        settings.put_some(place.key("mode.autonegotiation"), mode.autonegotiation.map(on_off));
        settings.put_some(place.key("mode.lanes"), mode.lanes);
    }
    if let Some(fec) = settings.value_or_why(&place.key("fec"), &interface.fec) {
        settings.put_some(place.key("fec.active"), fec.active.as_ref());
        settings.put(place.key("fec.automatic"), yes_no(fec.automatic));
        settings.put(place.key("fec.configured"), fec.configured.join(" "));
    }
    if let Some(eee) = settings.value_or_why(&place.key("eee"), &interface.eee) {
        settings.put(place.key("eee.enabled"), on_off(eee.enabled));
        settings.put(place.key("eee.active"), on_off(eee.active));
    }
    // What it measures is another thing each time; what it is changes when somebody changes it. Most devices have none, so where
    // it was not read is nothing that has to be told.
    if let Some(optics) = interface.optics.value() {
        settings.put(place.key("optics.vendor"), optics.vendor.as_str());
        settings.put(place.key("optics.part"), optics.part.as_str());
    }
}

fn tuning(settings: &mut Settings, place: Place<'_>, interface: &Interface) {
    if let Some(features) = settings.value_or_why(&place.key("feature"), &interface.features) {
        for (name, feature) in features {
            let value = Value { text: on_off(feature.active).to_owned(), fixed: feature.is_fixed() };
            settings.known.insert(place.key(format!("feature.{name}")), value);
        }
    }
    if let Some(rings) = settings.value_or_why(&place.key("ring"), &interface.rings) {
        numbers(settings, place, "ring", &ring_numbers(rings));
    }
    if let Some(channels) = settings.value_or_why(&place.key("channels"), &interface.channels) {
        numbers(settings, place, "channels", &channel_numbers(channels));
    }
    if let Some(coalesce) = settings.value_or_why(&place.key("coalesce"), &interface.coalesce) {
        settings.put_some(place.key("coalesce.adaptive-rx"), coalesce.adaptive_rx.map(on_off));
        settings.put_some(place.key("coalesce.adaptive-tx"), coalesce.adaptive_tx.map(on_off));
        for (name, value) in &coalesce.values {
            // A driver that adapts it changes it by itself.
            let adapted = (coalesce.adaptive_rx == Some(true) && name.starts_with("rx-"))
                || (coalesce.adaptive_tx == Some(true) && name.starts_with("tx-"));
            if !adapted {
                settings.put(place.key(format!("coalesce.{name}")), value.to_string());
            }
        }
    }
    if let Some(pause) = settings.value_or_why(&place.key("pause"), &interface.pause) {
        settings.put(place.key("pause.autonegotiation"), on_off(pause.autonegotiation));
        settings.put(place.key("pause.rx"), on_off(pause.rx));
        settings.put(place.key("pause.tx"), on_off(pause.tx));
    }
    if let Some(hashing) = settings.value_or_why(&place.key("rss"), &interface.receive_hashing) {
        settings.put_some(place.key("rss.function"), hashing.function.as_ref());
        settings.put(place.key("rss.queues"), hashing.queues.to_string());
        settings.put(place.key("rss.table"), hashing.table_sha256.get(..12).unwrap_or_default());
    }
    if let Some(flags) = settings.value_or_why(&place.key("private-flag"), &interface.private_flags) {
        for (name, on) in flags {
            settings.put(place.key(format!("private-flag.{name}")), on_off(*on));
        }
    }
}

fn numbers(settings: &mut Settings, place: Place<'_>, group: &str, numbers: &[(&str, Option<u32>)]) {
    for (name, number) in numbers {
        settings.put_some(place.key(format!("{group}.{name}")), *number);
    }
}

fn ring_numbers(rings: &Rings) -> [(&'static str, Option<u32>); 9] {
    [
        ("rx", rings.rx),
        ("rx-max", rings.rx_max),
        ("rx-mini", rings.rx_mini),
        ("rx-mini-max", rings.rx_mini_max),
        ("rx-jumbo", rings.rx_jumbo),
        ("rx-jumbo-max", rings.rx_jumbo_max),
        ("tx", rings.tx),
        ("tx-max", rings.tx_max),
        ("rx-buffer-bytes", rings.rx_buffer),
    ]
}

fn channel_numbers(channels: &Channels) -> [(&'static str, Option<u32>); 8] {
    [
        ("rx", channels.rx),
        ("rx-max", channels.rx_max),
        ("tx", channels.tx),
        ("tx-max", channels.tx_max),
        ("other", channels.other),
        ("other-max", channels.other_max),
        ("combined", channels.combined),
        ("combined-max", channels.combined_max),
    ]
}

/// The kind of a device that is hardware, or is so for a guest.
pub(crate) const PHYSICAL: &str = "physical";
