//! What hosts are called by the tests of a round.

use std::collections::BTreeMap;
use std::net::IpAddr;

use model::probe::Subject;
use model::run::{Role, Run};

use crate::evidence::{OneWaySeries, THIS_HOST};
use crate::merge::Stored;
use crate::one_way;
use crate::parsed::host_of;

/// What hosts are called, so that a test and an echo to the same host meet.
pub(super) struct Names {
    pub(super) client: String,
    /// Names by what else the host is called: target, address.
    by_alias: BTreeMap<String, String>,
}

impl Names {
    pub(super) fn of(runs: &[Stored]) -> Self {
        let mut names = Self { client: THIS_HOST.to_owned(), by_alias: BTreeMap::new() };
        for (run, _) in runs {
            let (local, peer) = (names.local(run), names.peer(run));
            // A series in one direction is printed at either of its hosts.
            if run.role == Role::Client && one_way::one_way_tool(run).is_none() {
                names.client.clone_from(&local);
            }
            let aliases = run.peer.address.as_deref().map(host_of).into_iter().chain([run.peer.target.as_str()]);
            names.by_alias.extend(aliases.map(|alias| (alias.to_owned(), peer.clone())).collect::<Vec<_>>());
        }
        names
    }

    pub(super) fn local(&self, run: &Run) -> String {
        let address = || run.measurement.as_ref()?.flows.first().map(|flow| host_of(&flow.local_address).to_owned());
        let name = run.local.name.clone().or_else(|| address().filter(|address| !address.is_empty()));
        name.unwrap_or_else(|| if run.role == Role::Client { THIS_HOST } else { "the server" }.to_owned())
    }

    pub(super) fn peer(&self, run: &Run) -> String {
        // A socket's target is an address with its port.
        // Who refuses is named as it was called.
        if run.peer.host.name.is_none() && run.measurement.is_some() && is_loopback(&run.peer.target) {
            return self.local(run);
        }
        run.peer.host.name.clone().unwrap_or_else(|| without_port(&run.peer.target).to_owned())
    }

    /// The two hosts of a series as the tests call them.
    pub(super) fn rename(&self, series: &OneWaySeries) -> OneWaySeries {
        let known = |name: &String| match self.by_alias.get(name) {
            Some(known) => known.clone(),
            None if name == THIS_HOST => self.client.clone(),
            None => name.clone(),
        };
        OneWaySeries { from: known(&series.from), to: known(&series.to), ..series.clone() }
    }

    pub(super) fn known(&self, subject: &Subject) -> String {
        let address = subject.address.map(|address| address.to_string());
        let aliases = [Some(subject.target.clone()), address];
        let known = aliases.iter().flatten().find_map(|alias| self.by_alias.get(alias)).cloned();
        known.unwrap_or_else(|| subject.target.clone())
    }
}

/// Whether a target is the host that calls it.
fn is_loopback(target: &str) -> bool {
    let host = without_port(target);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The host of a target, which may be a name, an address, or either with a port.
pub(super) fn without_port(target: &str) -> &str {
    if target.parse::<IpAddr>().is_ok() { target } else { host_of(target) }
}

/// Whether two names are of one host: a prompt has the first label of a name only.
pub(super) fn same_host([one, other]: [&str; 2]) -> bool {
    let is_address = |name: &str| without_port(name).parse::<IpAddr>().is_ok();
    let label = |name: &str| name.split('.').next().unwrap_or_default().to_lowercase();
    one == other || (!is_address(one) && !is_address(other) && label(one) == label(other))
}
