//! Facts of a network namespace: settings, counters, routes, and its devices.

use std::collections::BTreeMap;

use model::host::connection::Connection;
use model::host::namespace::Namespace;
use model::host::route::Route;
use model::host::snapshot::Snapshot;

use super::stack;
use super::value::{absent, int, known, map, named, setting, text};
use crate::fact::{Fact, FactMap, Missing, Reason};
use crate::scope::NamespaceFacts;

pub(super) fn all(snapshot: &Snapshot) -> Vec<NamespaceFacts> {
    let each = snapshot.namespaces.iter().enumerate();
    each.map(|(index, namespace)| facts(namespace, index == 0, snapshot)).collect()
}

fn facts(namespace: &Namespace, own: bool, snapshot: &Snapshot) -> NamespaceFacts {
    let sysctl: FactMap =
        namespace.sysctls.iter().map(|(key, value)| (key.clone(), known(value, |value| setting(value)))).collect();
    let proto = known(&namespace.counters, |counters| {
        Fact::Map(counters.iter().map(|(name, &count)| (name.clone(), int(count))).collect())
    });
    let metrics = known(&namespace.tcp_metrics, |metrics| {
        let entry = |entry: &model::host::route::TcpMetrics| {
            map([("to", text(entry.destination.to_string())), ("ssthresh_segments", int(entry.ssthresh.unwrap_or(0)))])
        };
        Fact::List(metrics.iter().map(entry).collect())
    });
    let links = super::link::all(namespace, snapshot);
    let facts = named([
        ("netns", map([("own", Fact::Bool(own))])),
        ("sysctl", Fact::Map(sysctl)),
        ("default", super::defaults::facts(snapshot)),
        ("proto", proto),
        ("sockets", known(&namespace.connections, |all| Fact::List(all.iter().map(connection).collect()))),
        ("tcp_metrics", metrics),
        ("links", Fact::List(namespace.interfaces.iter().filter_map(summary).collect())),
    ]);
    NamespaceFacts {
        // The namespace of the reader is nameless, another without a name is told by its number.
        name: if own { String::new() } else { name(namespace) },
        facts,
        links,
        routes: routes(namespace),
    }
}

fn connection(connection: &Connection) -> Fact {
    let size = |bytes: Option<u32>| bytes.map_or_else(|| absent("the kernel does not say"), int);
    let locked = |locked: Option<bool>| {
        let denied = || Fact::Missing(Missing::new(Reason::Denied, "its program may not be traced"));
        locked.map_or_else(denied, Fact::Bool)
    };
    map([
        ("remote", text(connection.remote.to_string())),
        ("mss_bytes", size(connection.mss_bytes)),
        ("pmtu_bytes", size(connection.pmtu_bytes)),
        ("reordering", size(connection.reordering)),
        ("window_scaling", connection.window_scaling.map_or_else(|| absent("the kernel does not say"), Fact::Bool)),
        ("receive_buffer_bytes", size(connection.receive_buffer_bytes)),
        ("send_buffer_bytes", size(connection.send_buffer_bytes)),
        ("receive_buffer_locked", locked(connection.receive_buffer_locked)),
        ("send_buffer_locked", locked(connection.send_buffer_locked)),
    ])
}

fn name(namespace: &Namespace) -> String {
    namespace.name.clone().unwrap_or_else(|| namespace.inode.map_or_else(String::new, |inode| format!("net:[{inode}]")))
}

/// A device that is up, for rules about a namespace.
fn summary(interface: &model::host::interface::Interface) -> Option<Fact> {
    let link = interface.link.value()?;
    if interface.name == "lo" || !link.up {
        return None;
    }
    let hardware = stack::is_nic(interface);
    let speed = if hardware { super::link::speed(interface) } else { Fact::Int(0) };
    Some(map([
        ("name", text(interface.name.as_str())),
        ("kind", text(link.kind.as_deref().unwrap_or("physical"))),
        ("mtu", link.mtu.map_or_else(|| absent(""), int)),
        ("speed_bps", speed),
    ]))
}

/// Default routes, and those with windows of their own.
fn routes(namespace: &Namespace) -> Vec<Fact> {
    let Some(routes) = namespace.routes.value() else { return Vec::new() };
    let own_windows = |route: &Route| route.metrics.keys().any(|name| name.starts_with("init"));
    let chosen = routes.iter().filter(|route| stack::is_default(route) || own_windows(route));
    let metric = |metrics: &BTreeMap<String, String>, name: &str| {
        metrics.get(name).map_or(Fact::Int(0), |value| setting(value.trim_start_matches("lock ")))
    };
    let fact = |route: &Route| {
        map([
            ("to", text(route.destination.as_str())),
            ("initcwnd", metric(&route.metrics, "initcwnd")),
            ("initrwnd", metric(&route.metrics, "initrwnd")),
        ])
    };
    chosen.take(MOST_ROUTES).map(fact).collect()
}

/// A router may have a full table of the Internet; rules are about the few routes that somebody set by hand.
const MOST_ROUTES: usize = 256;
