//! Hosts and the networks that they have addresses in.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use document::{DocumentError, Key, Reference};

use super::names::Names;
use super::text::{HostText, NetworkText};
use crate::plan::{Host, Network, Reach};

pub(super) fn networks(mut texts: BTreeMap<String, NetworkText>, names: &Names<'_>) -> Vec<Network> {
    let about = |name: &String| texts.remove(name).and_then(|text| text.about);
    names
        .networks
        .iter()
        .map(about)
        .zip(&names.networks)
        .map(|(about, name)| Network { name: name.clone(), about })
        .collect()
}

pub(super) fn hosts(mut texts: BTreeMap<String, HostText>, names: &mut Names<'_>) -> Vec<Host> {
    let in_order: Vec<_> = names.hosts.iter().filter_map(|name| Some((name.clone(), texts.remove(name)?))).collect();
    in_order.into_iter().map(|(name, text)| host(name, text, names)).collect()
}

fn host(name: String, text: HostText, names: &mut Names<'_>) -> Host {
    let key = Key::top("hosts").at(&name);
    let ways = [
        text.ssh.map(Reach::Ssh),
        text.lab.map(Reach::Lab),
        text.netns.map(Reach::Netns),
        text.here.then_some(Reach::Here),
    ];
    let mut ways = ways.into_iter().flatten();
    let reach = ways.next();
    if ways.next().is_some() {
        let slip = "a host is reached by `ssh`, is in a `lab` or a `netns`, or is `here`: one of them";
        names.desk.complain(&key, DocumentError::Keys(slip));
    }
    for (what, value) in [("address", &text.address), ("machine", &text.machine)] {
        if value.as_ref().is_some_and(|value| value.is_empty() || value.contains(char::is_whitespace)) {
            names.desk.complain(&key.at(what), DocumentError::Keys("this has a letter at least, and no blanks"));
        }
    }
    // What begins with a hyphen would be an option of ssh.
    if matches!(&reach, Some(Reach::Ssh(target)) if target.is_empty() || target.starts_with('-')) {
        names.desk.complain(&key.at("ssh"), DocumentError::Keys("a target of ssh is `HOST` or `USER@HOST`"));
    }
    if matches!(&reach, Some(Reach::Netns(netns)) if netns.is_empty()) {
        names.desk.complain(&key.at("netns"), DocumentError::Keys("a namespace is a name, a path, or `pid:N`"));
    }
    if text.program.as_ref().is_some_and(String::is_empty) {
        names.desk.complain(&key.at("program"), DocumentError::Keys("a program is a name or a path"));
    }
    let mut addresses = BTreeMap::new();
    for (network, address) in text.addresses {
        let key = key.at("addresses").at(&network);
        if let Some(network) = names.desk.defined(&key, Reference { what: "network", name: &network }, &names.networks)
        {
            addresses.insert(network, address);
        }
    }
    Host {
        name,
        address: text.address,
        addresses,
        roles: text.roles,
        attributes: text.attributes,
        reach,
        program: text.program,
        serves: text.serves,
        port: text.port.map(NonZeroU16::get),
        http_port: text.http_port.map(NonZeroU16::get),
        machine: text.machine,
        rate: text.rate,
        forwards: text.forwards,
    }
}
