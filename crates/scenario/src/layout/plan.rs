//! Addresses and routes of a scenario: what is known before its devices.

use std::collections::BTreeSet;

use model::spec::Family;

use super::addresses::Addresses;
use super::routing::Routing;
use crate::diagnostics::Diagnostics;
use crate::host::Host;
use crate::link::Link;
use crate::overlay::Overlay;
use crate::route::Route;

/// What a network is made of, as its file describes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Topology<'a> {
    pub(crate) hosts: &'a [Host],
    pub(crate) links: &'a [Link],
    pub(crate) overlays: &'a [Overlay],
}

/// What a scenario's parts come to together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    pub(crate) addresses: Addresses,
    pub(crate) routing: Routing,
}

impl Plan {
    pub(crate) fn new(
        topology: Topology<'_>,
        routes: &[Route],
        families: &BTreeSet<Family>,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Self {
        let Topology { hosts, links, overlays } = topology;
        let addresses = Addresses::new(hosts, links.len(), families);
        addresses.check(hosts, overlays, diagnostics);
        Self { addresses, routing: Routing::new(hosts, links, routes, diagnostics) }
    }
}
