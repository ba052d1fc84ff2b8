//! Metrics of routes as `ip route` writes them.

use std::collections::BTreeMap;

use foreign::shell::{word, words};
use model::host::namespace::Namespace;
use model::host::route::Route;

/// Metrics by name: `initcwnd 40 mtu lock 8900` has `initcwnd` as `40` and `mtu` as `lock 8900`. [`None`] where a name
/// has no value.
#[must_use]
pub fn metrics(text: &str) -> Option<BTreeMap<String, String>> {
    let mut metrics = BTreeMap::new();
    let mut words = text.split_whitespace();
    while let Some(name) = words.next() {
        let value = match words.next()? {
            "lock" => format!("lock {}", words.next()?),
            value => value.to_owned(),
        };
        metrics.insert(name.to_owned(), value);
    }
    Some(metrics)
}

/// The one route to a destination in the main table; none where there are several or it is of another kind.
#[must_use]
pub fn only<'a>(namespace: &'a Namespace, to: &str) -> Option<&'a Route> {
    let routes = namespace.routes.value()?;
    let mut found = routes.iter().filter(|route| route.destination == to && route.is_in_main_table());
    match (found.next(), found.next()) {
        (Some(only), None) if only.kind == "unicast" => Some(only),
        _ => None,
    }
}

/// The command that makes a route whole, with these metrics. [`None`] for a route over several routers.
#[must_use]
pub fn command(route: &Route, metrics: &BTreeMap<String, String>) -> Option<String> {
    if !route.hops.is_empty() {
        return None;
    }
    let six = route.destination.contains(':');
    let mut line = format!("ip{} route replace {}", if six { " -6" } else { "" }, word(&route.destination));
    let via = route.via.map(|via| if via.is_ipv6() && !six { format!("inet6 {via}") } else { via.to_string() });
    let parts = [
        ("via", via),
        ("dev", route.interface.clone()),
        ("proto", Some(route.protocol.clone())),
        ("src", route.preferred_source.map(|source| source.to_string())),
        ("metric", route.priority.filter(|&priority| priority != 0).map(|priority| priority.to_string())),
    ];
    for (name, value) in parts {
        if let Some(value) = value {
            line.push_str(&format!(" {name} {}", words(&value)));
        }
    }
    for (name, value) in metrics {
        // ip locks this one by itself, and knows no word for it (iproute2 6.1, ip/iproute.c, iproute_modify).
        let value = if name == "rto_min" { value.trim_start_matches("lock ") } else { value };
        line.push_str(&format!(" {} {}", word(name), words(value)));
    }
    Some(line)
}

/// Metrics in one line.
#[must_use]
pub fn written(metrics: &BTreeMap<String, String>) -> String {
    metrics.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read_and_written() {
        let read = metrics("mtu lock 8900 initcwnd 40").unwrap();
        assert_eq!((read["mtu"].as_str(), read["initcwnd"].as_str()), ("lock 8900", "40"));
        assert_eq!(written(&read), "initcwnd 40 mtu lock 8900");
        assert_eq!(metrics("initcwnd"), None);
        assert_eq!(metrics("mtu lock"), None);
    }
}
