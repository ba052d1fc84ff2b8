//! A host on which nobody set anything: what a Linux 6.18 of two processors and a TAP device tells.

use std::collections::BTreeMap;

use model::host::snapshot::Snapshot;

/// Its facts, as docs/formats has them: written down once from a namespace, with nothing of that machine in them.
const HOST: &str = include_str!("host.json");

/// All of them; the one interface has no name. A test holds that the file can be read.
pub(crate) fn snapshot() -> Option<Snapshot> {
    serde_json::from_str(HOST).ok()
}

/// Its kernel settings that have a value.
pub(crate) fn sysctls() -> BTreeMap<String, String> {
    let own = snapshot().and_then(|snapshot| snapshot.namespaces.into_iter().next());
    let sysctls = own.map(|own| own.sysctls).unwrap_or_default();
    sysctls.into_iter().filter_map(|(name, fact)| Some((name, fact.value()?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_of_the_usual_host_can_be_read() {
        let snapshot = snapshot().unwrap();
        assert_eq!(snapshot.own().unwrap().interfaces.len(), 1);
        assert_eq!(sysctls()["net.ipv4.tcp_rmem"], "4096 131072 6291456");
    }
}
