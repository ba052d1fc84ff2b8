//! Hosts and the networks that they have addresses in.

use std::collections::BTreeMap;

use document::{Key, Slip};

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
    let reach = match (text.ssh, text.lab, text.here) {
        (None, None, false) => None,
        (Some(target), None, false) => Some(Reach::Ssh(target)),
        (None, Some(host), false) => Some(Reach::Lab(host)),
        (None, None, true) => Some(Reach::Here),
        _ => {
            names
                .desk
                .complain(&key, Slip::Keys("a host is reached by `ssh`, is in a `lab`, or is `here`: one of them"));
            None
        }
    };
    for (what, value) in [("address", &text.address), ("machine", &text.machine)] {
        if value.as_ref().is_some_and(|value| value.is_empty() || value.contains(char::is_whitespace)) {
            names.desk.complain(&key.at(what), Slip::Keys("this has a letter at least, and no blanks"));
        }
    }
    // What begins with a hyphen would be an option of ssh.
    if matches!(&reach, Some(Reach::Ssh(target)) if target.is_empty() || target.starts_with('-')) {
        names.desk.complain(&key.at("ssh"), Slip::Keys("a target of ssh is `HOST` or `USER@HOST`"));
    }
    let mut addresses = BTreeMap::new();
    for (network, address) in text.addresses {
        let key = key.at("addresses").at(&network);
        if let Some(network) = names.desk.defined(&key, ("network", &network), &names.networks) {
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
        machine: text.machine,
        rate: text.rate,
        forwards: text.forwards,
    }
}
