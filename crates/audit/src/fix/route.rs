//! Metrics of routes as `ip route` writes them.

use std::collections::BTreeMap;

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
