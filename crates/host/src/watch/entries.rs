//! Changes as entries of the log.

use std::collections::BTreeMap;

use archive::changes::watched::WatchedHost;
use audit::compare::Change;
use audit::settings::{Key, Value};
use model::host::change::{Actor, ChangeEntry, ChangeSource};
use units::WallTime;

use super::actors::Acts;

/// How a reading came about.
pub(super) struct Reading<'a> {
    pub(super) host: &'a WatchedHost,
    /// When it was made, or when what led to it was heard.
    pub(super) time: WallTime,
    /// When everything was as it was known before.
    pub(super) after: Option<WallTime>,
    pub(super) source: ChangeSource,
    /// Who acted, by the name of the namespace.
    pub(super) acts: BTreeMap<String, Acts>,
    /// Why it is not known who made a change that came without an event.
    pub(super) why: &'a str,
}

impl Reading<'_> {
    /// The entries of changes. A route that came or went is one, with all that it is.
    pub(super) fn entries(&self, changes: &[Change]) -> Vec<ChangeEntry> {
        let routes = whole_routes(changes);
        let mut entries = Vec::new();
        for change in changes {
            match routes.get(&place(&change.key)) {
                // All parts of a route stand together; the first tells of all.
                Some(route) if route.first() == Some(&change) => entries.push(self.route(route)),
                Some(_) => {}
                None => entries.push(self.entry(change)),
            }
        }
        entries
    }

    fn route(&self, parts: &[&Change]) -> ChangeEntry {
        let words = |value: fn(&Change) -> Option<&Value>| {
            let parts = parts.iter().filter_map(|part| Some((part.key.name.rsplit_once("].")?.1, value(part)?)));
            let mut words: Vec<(usize, String)> =
                parts.map(|(name, value)| RoutePart { name, value: &value.text }.words()).collect();
            words.sort();
            let words: Vec<String> =
                words.into_iter().map(|(_, words)| words).filter(|words| !words.is_empty()).collect();
            Some(words.join(" ")).filter(|words| !words.is_empty())
        };
        let (old, new) = (words(|part| part.old.as_ref()), words(|part| part.new.as_ref()));
        let mut entry = parts.first().map_or_else(|| self.note(ROUTE), |part| self.entry(part));
        entry.fact = entry.fact.rsplit_once("].").map_or(ROUTE.to_owned(), |(route, _)| format!("{route}]"));
        (entry.old, entry.new) = (old, new);
        entry
    }

    /// The entry of a change.
    fn entry(&self, change: &Change) -> ChangeEntry {
        let key = &change.key;
        let found = self.acts.get(&key.namespace).map(|acts| acts.of(key));
        let mut entry = self.note(&fact(key));
        entry.namespace = Some(key.namespace.clone()).filter(|name| !name.is_empty());
        entry.subject.clone_from(&key.device);
        entry.old = change.old.as_ref().map(text);
        entry.new = change.new.as_ref().map(text);
        if let Some((actor, at)) = found.and_then(|found| Some((found.actor, found.at?))) {
            // It was heard, so the moment is known, even where everything was being read.
            (entry.actor, entry.time, entry.after, entry.source) = (actor, at, None, ChangeSource::Watch);
        }
        entry
    }

    /// An entry of something that is no setting.
    pub(super) fn note(&self, fact: &str) -> ChangeEntry {
        let mut entry = ChangeEntry::new(self.time, &self.host.name, fact, self.source);
        entry.boot.clone_from(&self.host.boot);
        // A clock may have been set back while nobody watched.
        entry.after = self.after.map(|after| after.min(self.time));
        entry.actor = Actor::Unknown { reason: self.why.to_owned() };
        entry
    }
}

/// A part of a route.
struct RoutePart<'a> {
    name: &'a str,
    value: &'a str,
}

impl RoutePart<'_> {
    /// As ip-route(8) prints it, with its place in the line.
    fn words(&self) -> (usize, String) {
        let value = self.value;
        match self.name {
            "kind" => (0, if value == "unicast" { String::new() } else { value.to_owned() }),
            "via" => (1, format!("via {value}")),
            "interface" => (2, format!("dev {value}")),
            "made-by" => (3, format!("proto {value}")),
            "source" => (4, format!("src {value}")),
            "hops" => (6, value.split(", ").map(|hop| format!("nexthop {hop}")).collect::<Vec<_>>().join(" ")),
            metric => (5, format!("{metric} {value}")),
        }
    }
}

/// The changes of each route of which all is new, or gone.
fn whole_routes(changes: &[Change]) -> BTreeMap<(&str, &str), Vec<&Change>> {
    let mut routes: BTreeMap<(&str, &str), Vec<&Change>> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.key.group() == ROUTE) {
        routes.entry(place(&change.key)).or_default().push(change);
    }
    routes.retain(|_, parts| {
        // Every route has a kind.
        let has_kind = parts.iter().any(|part| part.key.name.ends_with("].kind"));
        has_kind && (parts.iter().all(|part| part.old.is_none()) || parts.iter().all(|part| part.new.is_none()))
    });
    routes
}

/// The namespace, and the name without what is asked of the route: `route[default]`.
fn place(key: &Key) -> (&str, &str) {
    (&key.namespace, key.name.rsplit_once("].").map_or(key.name.as_str(), |(route, _)| route))
}

const ROUTE: &str = "route";

fn fact(key: &Key) -> String {
    key.as_sysctl().unwrap_or_else(|| key.name.clone())
}

fn text(value: &Value) -> String {
    value.text.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(key: &str, old: Option<&str>, new: Option<&str>) -> Change {
        Change { key: key.parse().unwrap(), old: old.map(Value::new), new: new.map(Value::new) }
    }

    #[test]
    fn route_that_came_is_one_entry_and_one_that_changed_tells_what() {
        let host = WatchedHost { name: "dtn1".to_owned(), boot: None };
        let (time, after) = (WallTime::from_unix_nanos(5), Some(WallTime::from_unix_nanos(9)));
        let source = ChangeSource::Comparison;
        let reading = Reading { host: &host, time, after, source, acts: BTreeMap::new(), why: "nobody watched" };
        let changes = [
            change("net.ipv4.tcp_ecn", Some("2"), Some("1")),
            change("route[192.0.2.0/24].initcwnd", Some("10"), Some("40")),
            change("route[198.51.100.0/24].initcwnd", None, Some("40")),
            change("route[198.51.100.0/24].interface", None, Some("eth0")),
            change("route[198.51.100.0/24].kind", None, Some("unicast")),
            change("route[198.51.100.0/24].via", None, Some("192.0.2.2")),
            change("route[198.51.100.0/24].kind in a", Some("blackhole"), None),
        ];
        let entries = reading.entries(&changes);
        let shown = |value: &Option<String>| value.clone().unwrap_or_default();
        let shown: Vec<String> =
            entries.iter().map(|entry| format!("{} {}|{}", entry.fact, shown(&entry.old), shown(&entry.new))).collect();
        assert_eq!(
            shown,
            [
                "net.ipv4.tcp_ecn 2|1",
                "route[192.0.2.0/24].initcwnd 10|40",
                "route[198.51.100.0/24] |via 192.0.2.2 dev eth0 initcwnd 40",
                "route[198.51.100.0/24] blackhole|",
            ]
        );
        assert!(entries.iter().all(|entry| entry.after == Some(time)), "a clock that was set back");
    }
}
