//! Which facts a rule sees: those of a host, and of one of its namespaces, devices or routes.

use crate::fact::{Fact, FactMap, Missing, Path, Reason};
use crate::settings::Settings;
use model::host::snapshot::HostIdentity;

/// For what a rule is asked: once a host, or once for each of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Once.
    Host,
    /// For each network namespace.
    Namespace,
    /// For each device of each namespace.
    Link,
    /// For each device that is hardware, or is so for a guest.
    Nic,
    /// For each route that is a default route or has metrics of its own.
    Route,
}

impl Per {
    /// The word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Namespace => "namespace",
            Self::Link => "link",
            Self::Nic => "nic",
            Self::Route => "route",
        }
    }

    /// Whether a rule of this kind sees the facts under a root. A host's own namespace stands for the host.
    #[must_use]
    pub fn sees(self, root: &str) -> bool {
        match root {
            "route" => self == Self::Route,
            _ if LINK_ROOTS.contains(&root) => matches!(self, Self::Link | Self::Nic),
            _ => true,
        }
    }
}

/// The facts of one host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostFacts {
    /// Name of the host, as its snapshot has it.
    pub name: String,
    /// Which host and namespace it is; what is worked out from these facts is for that one.
    pub identity: HostIdentity,
    /// The facts of the host as a whole, by root.
    pub facts: FactMap,
    /// Its namespaces; the first is that in which the snapshot was taken.
    pub namespaces: Vec<NamespaceFacts>,
    /// What somebody sets of it, for comparing it with other hosts and times.
    pub settings: Settings,
    /// When the facts were read.
    pub taken: Option<Taken>,
}

/// The facts of one network namespace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NamespaceFacts {
    /// What it is called, as `ip netns` or a path has it; empty for the host's own.
    pub name: String,
    /// Its facts, by root.
    pub facts: FactMap,
    /// Network devices, in the kernel's order.
    pub links: Vec<LinkFacts>,
    /// Routes of the main table.
    pub routes: Vec<Fact>,
}

/// The facts of one device.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkFacts {
    /// Name in its namespace.
    pub name: String,
    /// Its facts, by root; it is a NIC where `nic` is among them.
    pub facts: FactMap,
}

/// A moment on the clock of one boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The identity of the boot.
    pub boot_id: String,
    /// Microseconds since then, or since any other moment of it.
    pub micros: u64,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    host: &'a HostFacts,
    namespace: Option<&'a NamespaceFacts>,
    link: Option<&'a LinkFacts>,
    route: Option<&'a Fact>,
    inputs: &'a FactMap,
    before: Option<&'a HostFacts>,
}

impl<'a> Scope<'a> {
    /// The host as a whole.
    #[must_use]
    pub fn of_host(host: &'a HostFacts, before: Option<&'a HostFacts>, inputs: &'a FactMap) -> Self {
        Self { host, namespace: host.namespaces.first(), link: None, route: None, inputs, before }
    }

    /// One of its namespaces.
    #[must_use]
    pub fn in_namespace(self, namespace: &'a NamespaceFacts) -> Self {
        Self { namespace: Some(namespace), ..self }
    }

    /// A device of the namespace.
    #[must_use]
    pub fn on_link(self, link: &'a LinkFacts) -> Self {
        Self { link: Some(link), ..self }
    }

    /// A route of the namespace.
    #[must_use]
    pub fn on_route(self, route: &'a Fact) -> Self {
        Self { route: Some(route), ..self }
    }

    /// The name of the namespace, empty for the host's own.
    #[must_use]
    pub fn namespace(&self) -> &'a str {
        self.namespace.map_or("", |namespace| &namespace.name)
    }

    /// The name of the device.
    #[must_use]
    pub fn link(&self) -> Option<&'a str> {
        self.link.map(|link| link.name.as_str())
    }

    /// The destination of the route.
    #[must_use]
    pub fn route(&self) -> Option<&'a str> {
        self.route?.as_map()?.get("to")?.as_text()
    }

    /// The fact of this host that a path names.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn fact(&self, path: &Path) -> Result<&'a Fact, Missing> {
        path.walk(self.root(&path.root)?)
    }

    fn root(&self, root: &str) -> Result<&'a Fact, Missing> {
        let found = match root {
            "route" => self.route,
            "host_sysctl" => self.host.namespaces.first().and_then(|own| own.facts.get("sysctl")),
            _ if INPUT_ROOTS.contains(&root) => {
                return self.inputs.get(root).ok_or_else(|| Missing::new(Reason::NotGiven, ""));
            }
            _ if LINK_ROOTS.contains(&root) => self.link.and_then(|link| link.facts.get(root)),
            _ if NAMESPACE_ROOTS.contains(&root) => self.namespace.and_then(|namespace| namespace.facts.get(root)),
            _ => self.host.facts.get(root),
        };
        found.ok_or_else(|| Missing::new(Reason::Absent, ""))
    }

    /// By how much a counter, or each counter of a list, grew per second since the snapshot before.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn rate(&self, path: &Path) -> Result<Fact, Missing> {
        let seconds = self.seconds()?;
        grown(self.fact(path)?, self.earlier()?.fact(path)?, &|count| Fact::Float(count / seconds))
    }

    /// By how much a counter, or each counter of a list, grew since the snapshot before.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn increase(&self, path: &Path) -> Result<Fact, Missing> {
        self.seconds()?;
        grown(self.fact(path)?, self.earlier()?.fact(path)?, &Fact::Float)
    }

    /// The same place in the snapshot before.
    fn earlier(&self) -> Result<Scope<'a>, Missing> {
        let before = self.before.ok_or_else(no_earlier)?;
        let gone = |what: &str| Missing::new(Reason::Absent, format!("the earlier snapshot has no such {what}"));
        let mut earlier = Scope::of_host(before, None, self.inputs);
        if let Some(namespace) = self.namespace {
            let same = before.namespaces.iter().find(|other| other.name == namespace.name);
            earlier = earlier.in_namespace(same.ok_or_else(|| gone("namespace"))?);
            if let Some(link) = self.link {
                let same = earlier.namespace.and_then(|other| other.links.iter().find(|other| other.name == link.name));
                earlier = earlier.on_link(same.ok_or_else(|| gone("device"))?);
            }
        }
        Ok(earlier)
    }

    #[expect(clippy::cast_precision_loss, reason = "microseconds of a boot fit into 53 bits for 285 years")]
    fn seconds(&self) -> Result<f64, Missing> {
        let before = self.before.ok_or_else(no_earlier)?;
        let (Some(now), Some(then)) = (&self.host.taken, &before.taken) else {
            return Err(Missing::new(Reason::Absent, "a snapshot does not say when it was taken"));
        };
        if now.boot_id != then.boot_id {
            return Err(Missing::new(Reason::Absent, "the host was restarted between the snapshots"));
        }
        let micros = now.micros.checked_sub(then.micros).filter(|&micros| micros > 0);
        let micros = micros.ok_or_else(|| Missing::new(Reason::Absent, "the earlier snapshot is not earlier"))?;
        Ok(micros as f64 / 1e6)
    }
}

fn no_earlier() -> Missing {
    Missing::new(Reason::NotGiven, "a counter says something only beside an earlier snapshot (--before FILE)")
}

fn grown(now: &Fact, then: &Fact, show: &impl Fn(f64) -> Fact) -> Result<Fact, Missing> {
    if let (Fact::List(now), Fact::List(then)) = (now, then) {
        if now.len() != then.len() {
            return Err(Missing::new(Reason::Absent, "the list has another length now"));
        }
        return now
            .iter()
            .zip(then)
            .map(|(now, then)| grown(now, then, show))
            .collect::<Result<_, _>>()
            .map(Fact::List);
    }
    let (Some(now), Some(then)) = (now.as_number(), then.as_number()) else {
        return Err(Missing::new(Reason::Absent, "that is no counter"));
    };
    if now < then { Err(Missing::new(Reason::Absent, "the counter went backwards")) } else { Ok(show(now - then)) }
}

/// Roots of facts of a device.
pub(crate) const LINK_ROOTS: [&str; 6] = ["link", "nic", "qdisc", "pci", "irq", "queues"];
/// Roots of facts of a namespace.
pub(crate) const NAMESPACE_ROOTS: [&str; 7] =
    ["netns", "sysctl", "default", "proto", "sockets", "tcp_metrics", "links"];
/// Roots of facts that are given to the audit beside the snapshot.
pub(crate) const INPUT_ROOTS: [&str; 7] = ["profile", "peers", "baseline", "probe", "path", "proxy", "log"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Segment;

    fn host(count: i64, micros: u64, boot_id: &str) -> HostFacts {
        let counters = FactMap::from([("Udp.RcvbufErrors".to_owned(), Fact::Int(count))]);
        let facts = FactMap::from([("proto".to_owned(), Fact::Map(counters))]);
        let namespaces = vec![NamespaceFacts { facts, ..NamespaceFacts::default() }];
        HostFacts { namespaces, taken: Some(Taken { boot_id: boot_id.to_owned(), micros }), ..HostFacts::default() }
    }

    fn rate(now: &HostFacts, before: Option<&HostFacts>) -> Result<Fact, String> {
        let path = Path { root: "proto".to_owned(), segments: vec![Segment::Key("Udp.RcvbufErrors".to_owned())] };
        Scope::of_host(now, before, &FactMap::new()).rate(&path).map_err(|missing| missing.to_string())
    }

    #[test]
    fn a_rate_takes_two_snapshots_of_one_boot() {
        let now = host(500, 10_000_000, "a");
        assert_eq!(rate(&now, Some(&host(0, 0, "a"))), Ok(Fact::Float(50.0)));
        assert!(rate(&now, None).unwrap_err().contains("--before"));
        assert!(rate(&now, Some(&host(0, 0, "b"))).unwrap_err().contains("restarted"));
        assert!(rate(&now, Some(&host(501, 0, "a"))).unwrap_err().contains("backwards"));
        assert!(rate(&now, Some(&host(0, 10_000_000, "a"))).unwrap_err().contains("not earlier"));
    }
}
