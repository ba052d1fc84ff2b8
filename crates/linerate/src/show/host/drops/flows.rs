//! Sockets that dropped datagrams, by flow, over all intervals.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use host::drops::series::Series;

/// What one flow dropped.
pub(super) struct DroppedFlow {
    pub(super) local: SocketAddr,
    /// None of a socket that takes datagrams of everybody.
    pub(super) remote: Option<SocketAddr>,
    pub(super) datagrams: u64,
    /// Intervals in which it dropped any.
    pub(super) active: usize,
    /// Intervals in which sockets were read.
    pub(super) known: usize,
}

/// Flows that dropped, those that dropped most first.
pub(super) fn dropped(series: &Series) -> Vec<DroppedFlow> {
    let intervals: Vec<_> = series.intervals.iter().filter_map(|each| each.flows.as_ref()?.value()).collect();
    let known = intervals.len();
    let mut flows: BTreeMap<(SocketAddr, Option<SocketAddr>), DroppedFlow> = BTreeMap::new();
    for flow in intervals.into_iter().flatten() {
        let (local, remote) = (flow.local, flow.remote);
        let none = DroppedFlow { local, remote, datagrams: 0, active: 0, known };
        let dropped = flows.entry((local, remote)).or_insert(none);
        dropped.datagrams += flow.datagrams;
        dropped.active += 1;
    }
    let mut flows: Vec<DroppedFlow> = flows.into_values().collect();
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.datagrams));
    flows
}
