//! Options of kernel modules that matter to the network: those of drivers in use, and of TCP.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use model::host::fact::{Fact, Source};
use model::host::namespace::Namespace;

use super::file;

pub(super) fn read(namespaces: &[Namespace]) -> Fact<BTreeMap<String, String>> {
    let source = Source::file("/sys/module/*/parameters");
    let interfaces = namespaces.iter().flat_map(|namespace| &namespace.interfaces);
    let drivers = interfaces.filter_map(|interface| Some(interface.driver.value()?.name.replace('-', "_")));
    let mut wanted: BTreeSet<String> = drivers.collect();
    let modules = match fs::read_dir("/sys/module") {
        Ok(entries) => entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()),
        Err(error) => return Fact::missing(file::missing(&error), source),
    };
    wanted.extend(modules.filter(|name| name.starts_with("tcp_") || ALWAYS.contains(&name.as_str())));
    let mut options = BTreeMap::new();
    for module in wanted.iter().filter(|module| !module.contains('/')) {
        let directory = format!("/sys/module/{module}/parameters");
        for entry in fs::read_dir(&directory).into_iter().flatten().filter_map(Result::ok).take(MAX_OPTIONS) {
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            // Some may be read by root only, some not at all.
            options.extend(file::optional(entry.path()).map(|value| (format!("{module}.{name}"), value)));
        }
    }
    Fact::known(options, source)
}

const ALWAYS: [&str; 3] = ["bonding", "nf_conntrack", "vxlan"];

/// Most options of one module.
const MAX_OPTIONS: usize = 256;
