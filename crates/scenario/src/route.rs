//! Routes that differ from the shortest.

use std::collections::BTreeMap;

use document::{DocumentError, Entry, Key};
use serde::Deserialize;
use units::Mtu;

use crate::diagnostics::Diagnostics;
use crate::error::Problem;

/// A route of a host that the file gives.
#[derive(Debug, Clone)]
pub struct Route {
    /// Whose route it is.
    pub host: usize,
    /// To which hosts.
    pub to: Vec<usize>,
    /// By which of its links; by the shortest way where it is [`None`].
    pub link: Option<usize>,
    /// Its metrics, by the names that ip route knows.
    pub metrics: BTreeMap<String, String>,
}

/// A route without its host: what `[[routes]]` and a fault's `route` share.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RouteText {
    host: Option<String>,
    to: Option<Vec<String>>,
    via: Option<String>,
    link: Option<String>,
    initcwnd: Option<u32>,
    initrwnd: Option<u32>,
    mtu: Option<Mtu>,
    congctl: Option<String>,
}

impl RouteText {
    /// The route of the host that it names.
    pub(crate) fn settle(self, key: &Key, diagnostics: &mut Diagnostics<'_>) -> Option<Route> {
        let name = diagnostics.needed(key, "a route", Entry { key: "host", value: self.host.clone() })?;
        let host = diagnostics.host(&key.at("host"), &name)?;
        self.settle_for(host, key, diagnostics)
    }

    /// The route of a host that is known from elsewhere.
    pub(crate) fn settle_for(self, host: usize, key: &Key, diagnostics: &mut Diagnostics<'_>) -> Option<Route> {
        if self.host.as_ref().is_some_and(|name| *name != diagnostics.hosts[host]) {
            diagnostics.complain(&key.at("host"), DocumentError::Keys("the route is that of the fault's own host"));
        }
        let to = match &self.to {
            Some(names) => diagnostics.hosts(&key.at("to"), names),
            None => (0..diagnostics.hosts.len()).filter(|other| *other != host).collect(),
        };
        let link = match (&self.via, &self.link) {
            (_, Some(link)) => {
                let link = diagnostics.link(&key.at("link"), link)?;
                diagnostics.end(&key.at("link"), link, host)?;
                Some(link)
            }
            (Some(via), None) => Some(link_to(host, via, &key.at("via"), diagnostics)?),
            (None, None) => None,
        };
        let metrics = self.metrics();
        if link.is_none() && metrics.is_empty() {
            diagnostics.complain(key, DocumentError::Keys("a route needs `via`, `link` or a metric"));
        }
        Some(Route { host, to, link, metrics })
    }

    fn metrics(self) -> BTreeMap<String, String> {
        let entries = [
            ("initcwnd", self.initcwnd.map(|segments| segments.to_string())),
            ("initrwnd", self.initrwnd.map(|segments| segments.to_string())),
            ("mtu", self.mtu.map(|mtu| mtu.get().to_string())),
            ("congctl", self.congctl),
        ];
        entries.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// The link to a neighbour, the first if there are several.
fn link_to(host: usize, via: &str, key: &Key, diagnostics: &mut Diagnostics<'_>) -> Option<usize> {
    let neighbour = diagnostics.host(key, via)?;
    let joins = |ends: &[usize; 2]| ends.contains(&host) && ends.contains(&neighbour) && host != neighbour;
    let found = diagnostics.links.iter().position(|(_, ends)| joins(ends));
    if found.is_none() {
        let problem = Problem::NotNeighbours { one: diagnostics.hosts[host].clone(), other: via.to_owned() };
        diagnostics.complain(key, problem);
    }
    found
}
