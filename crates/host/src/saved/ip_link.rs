//! `ip -d link` and `ip -d address`, perhaps with statistics.

use std::collections::BTreeMap;
use std::net::IpAddr;

use model::host::interface::link::{Bond, Link, Vxlan};
use model::host::route::Address;

use super::Read;

/// Devices and their addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown {
    /// Each device with its name.
    pub devices: Vec<Device>,
    /// Addresses of the devices.
    pub addresses: Vec<Address>,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Device {
    /// Interface name, without the `@` and what stands behind it.
    pub name: String,
    /// What is shown of it.
    pub link: Link,
    /// What it has counted, where that is shown.
    pub counters: BTreeMap<String, u64>,
}

/// Reads the text.
#[must_use]
pub fn read(text: &str) -> Read<Shown> {
    let mut read = Read::<Shown>::default();
    // The names of the columns of counters, whose values are in the next line.
    let mut columns: Option<Vec<String>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if !line.starts_with(char::is_whitespace) {
            columns = None;
            match head(&words) {
                Some(device) => read.value.devices.push(device),
                None => read.note(number, "not `NUMBER: NAME: <FLAGS> …`"),
            }
            continue;
        }
        let Some(device) = read.value.devices.last_mut() else {
            read.note(number, "details of no device");
            continue;
        };
        if let Some(names) = columns.take() {
            device.counters.extend(names.into_iter().zip(words.iter().filter_map(|word| word.parse().ok())));
            continue;
        }
        columns = columns_of(&words);
        if columns.is_some() {
            continue;
        }
        match words.as_slice() {
            ["inet" | "inet6", address, rest @ ..] => match own_address(&device.name, address, rest) {
                Some(address) => read.value.addresses.push(address),
                None => read.note(number, "an address that is not understood"),
            },
            [kind, address, rest @ ..] if kind.starts_with("link/") => {
                device.link.address = Some((*address).to_owned()).filter(|address| address.contains(':'));
                details(rest, &mut device.link);
            }
            ["valid_lft" | "altname" | "alias", ..] => {}
            words => details(words, &mut device.link),
        }
    }
    read
}

/// `2: eth0.96@eth0: <BROADCAST,UP> mtu 1500 qdisc mq master br0 state UP mode DEFAULT qlen 1000`.
fn head(words: &[&str]) -> Option<Device> {
    let [index, name, flags, rest @ ..] = words else { return None };
    let index = index.strip_suffix(':')?.parse().ok()?;
    let name = name.strip_suffix(':')?;
    let (name, lower) = name.split_once('@').map_or((name, None), |(name, lower)| (name, Some(lower)));
    let flags = flags.strip_prefix('<')?.strip_suffix('>')?;
    let mut link = Link { index, up: flags.split(',').any(|flag| flag == "UP"), ..Link::default() };
    match lower.and_then(|lower| lower.strip_prefix("if")).and_then(|number| number.parse().ok()) {
        // In another namespace only its number is known.
        Some(number) => link.lower_elsewhere = Some(number),
        None => link.lower = lower.filter(|lower| *lower != "NONE").map(str::to_owned),
    }
    details(rest, &mut link);
    Some(Device { name: name.to_owned(), link, counters: BTreeMap::new() })
}

/// Pairs of a name and a value, among words that stand alone. Some names belong to the kind that was named before.
fn details(words: &[&str], link: &mut Link) {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let next = words.get(at + 1).copied().unwrap_or_default();
        at += if property(word, next, link) || of_kind(word, next, words.get(at + 2).copied(), link) { 2 } else { 1 };
    }
}

fn property(word: &str, next: &str, link: &mut Link) -> bool {
    let number = next.parse::<u32>().ok();
    let place = match word {
        "mtu" => &mut link.mtu,
        "maxmtu" => &mut link.max_mtu,
        "qlen" => &mut link.txqlen,
        "numtxqueues" => &mut link.tx_queues,
        "numrxqueues" => &mut link.rx_queues,
        "gso_max_size" => &mut link.gso_max,
        "gso_max_segs" => &mut link.gso_max_segments,
        "gro_max_size" => &mut link.gro_max,
        "gso_ipv4_max_size" => &mut link.gso_ipv4_max,
        "gro_ipv4_max_size" => &mut link.gro_ipv4_max,
        "state" => {
            // A port of a bridge or bond has a state too, in its own details; the first is that of the link.
            link.operational.get_or_insert_with(|| next.to_lowercase());
            return true;
        }
        "master" => {
            link.controller = Some(next.to_owned());
            return true;
        }
        _ => return false,
    };
    if place.is_none() {
        *place = number;
    }
    number.is_some()
}

/// Details of a kind. What follows `bridge_slave` and the like belongs to the port, not to a kind.
fn of_kind(word: &str, next: &str, third: Option<&str>, link: &mut Link) -> bool {
    match (word, link.kind.as_deref()) {
        ("vxlan", None) if next == "id" => {
            let vni = third.and_then(|number| number.parse().ok()).unwrap_or_default();
            link.kind = Some("vxlan".to_owned());
            link.vxlan = Some(Vxlan { vni, ..Vxlan::default() });
        }
        ("vlan", None) if next == "protocol" => link.kind = Some("vlan".to_owned()),
        ("bond", None) if next == "mode" => {
            link.kind = Some("bond".to_owned());
            link.bond = Some(Bond { mode: third.unwrap_or_default().to_owned(), transmit_hash: None });
        }
        (kind @ ("bridge" | "veth" | "tun" | "dummy" | "geneve" | "ipip" | "gre" | "macvlan" | "ipvlan"), None) => {
            link.kind = Some(kind.to_owned());
            return false;
        }
        ("id", Some("vlan")) if link.vlan.is_none() => link.vlan = next.parse().ok(),
        ("xmit_hash_policy", Some("bond")) => {
            if let Some(bond) = &mut link.bond {
                bond.transmit_hash = Some(next.to_owned());
            }
        }
        (_, Some("vxlan")) => return of_vxlan(word, next, link),
        _ => return false,
    }
    true
}

fn of_vxlan(word: &str, next: &str, link: &mut Link) -> bool {
    let Some(vxlan) = &mut link.vxlan else { return false };
    match word {
        "local" => vxlan.local = next.parse().ok(),
        "remote" | "group" => vxlan.remote = next.parse().ok(),
        "dstport" => vxlan.port = next.parse().ok(),
        "dev" => link.lower = Some(next.to_owned()),
        _ => return false,
    }
    true
}

/// The names of counters that the next line holds: `RX: bytes packets errors dropped missed mcast`, or as
/// `RX errors: length crc frame fifo overrun`. [`None`] for any other line.
fn columns_of(words: &[&str]) -> Option<Vec<String>> {
    let (direction, names) = match words {
        ["RX:" | "RX", rest @ ..] => ("rx", rest),
        ["TX:" | "TX", rest @ ..] => ("tx", rest),
        _ => return None,
    };
    let names = names.strip_prefix(&["errors:"]).unwrap_or(names);
    let name = |column: &&str| {
        let name = match *column {
            "missed" => "missed_errors",
            "carrier" => "carrier_errors",
            "crc" => "crc_errors",
            "length" => "length_errors",
            "frame" => "frame_errors",
            "fifo" => "fifo_errors",
            "overrun" | "overrun_errors" => "over_errors",
            "aborted" => "aborted_errors",
            "window" => "window_errors",
            "heartbt" | "heartbeat" => "heartbeat_errors",
            "mcast" => return "multicast".to_owned(),
            "collsns" => return "collisions".to_owned(),
            "transns" => return "carrier_changes".to_owned(),
            other => other,
        };
        format!("{direction}_{name}")
    };
    Some(names.iter().map(name).collect())
}

fn own_address(interface: &str, address: &str, rest: &[&str]) -> Option<Address> {
    let (address, prefix) = address.split_once('/').unwrap_or((address, ""));
    let address: IpAddr = address.parse().ok()?;
    let whole = if address.is_ipv4() { 32 } else { 128 };
    // On a point-to-point link the prefix is the peer's.
    let prefix = if prefix.is_empty() { whole } else { prefix.parse().ok().filter(|&prefix| prefix <= whole)? };
    let scope = rest.iter().skip_while(|word| **word != "scope").nth(1).copied().unwrap_or("global");
    Some(Address { interface: interface.to_owned(), address, prefix, scope: scope.to_owned() })
}
