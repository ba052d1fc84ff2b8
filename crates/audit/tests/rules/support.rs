//! Hosts from few facts: what is not said is missing, as on a host where it could not be read.

use audit::fact::{Fact, FactMap, Path, Segment};
use audit::inputs::merge;
use audit::report::Answer;
use audit::scope::{HostFacts, LinkFacts, NamespaceFacts, Taken};
use audit::{Case, Inputs, Keep, Profile, Report, Rules, audit};
use serde_json::Value;

/// Roots that a device has.
const LINK_ROOTS: [&str; 6] = ["link", "nic", "qdisc", "pci", "irq", "queues"];
const NAMESPACE_ROOTS: [&str; 7] = ["netns", "sysctl", "default", "proto", "sockets", "tcp_metrics", "links"];
const INPUT_ROOTS: [&str; 6] = ["peers", "baseline", "probe", "path", "proxy", "log"];

/// A host with what is wanted of it and what is known besides.
#[derive(Clone)]
pub(crate) struct Situation {
    /// Facts by root, `profile` among them.
    pub(crate) now: Fact,
    /// What was different ten seconds earlier.
    pub(crate) before: Option<Fact>,
}

impl Situation {
    /// Facts by root, over a DTN of 10 Gbit/s at 100 ms.
    pub(crate) fn new(now: Value, before: Option<Value>) -> Self {
        let usual = serde_json::json!({"profile": {"roles": ["dtn"], "target_rate": "10Gbit/s", "rtt": "100ms"}});
        let mut facts = Fact::from_json(usual);
        merge(&mut facts, Fact::from_json(now));
        Self { now: facts, before: before.map(Fact::from_json) }
    }

    /// Other facts over these.
    pub(crate) fn with(&self, over: Value) -> Self {
        let mut other = self.clone();
        merge(&mut other.now, Fact::from_json(over));
        other
    }

    /// The same without a fact, now.
    pub(crate) fn without(&self, path: &Path) -> Self {
        let mut other = self.clone();
        remove(&mut other.now, path);
        other
    }

    /// What all rules say.
    pub(crate) fn audit(&self, rules: &Rules) -> Report {
        let Fact::Map(now) = &self.now else { panic!("facts have names") };
        let profile: Profile = serde_json::from_value(now["profile"].to_json()).expect("a profile");
        let before = self.before.as_ref().map(|over| {
            let mut then = self.now.clone();
            merge(&mut then, over.clone());
            host(then.as_map().unwrap(), 0)
        });
        let known = now.iter().filter(|(root, _)| INPUT_ROOTS.contains(&root.as_str()));
        let facts: Value = known.map(|(root, fact)| (root.clone(), fact.to_json())).collect();
        let mut inputs = Inputs { before, facts: FactMap::new() };
        inputs.add(facts, rules.language().vocabulary()).expect("inputs that some rule could use");
        audit(rules, &Case { host: &host(now, 10), profile: &profile, inputs: &inputs, keep: Keep::Everything })
    }
}

/// The answers of one rule.
pub(crate) fn answers(report: &Report, rule: &str) -> Vec<Answer> {
    let findings = report.findings.iter().filter(|finding| finding.rule == rule).map(|_| Answer::Fail);
    let unknown = report.unknown.iter().filter(|unknown| unknown.rule == rule).map(|_| Answer::Unknown);
    let others = report.others.iter().filter(|other| other.rule == rule).map(|other| other.answer);
    findings.chain(unknown).chain(others).collect()
}

/// One namespace with one device and one route; a second namespace where the host's own is told apart.
fn host(facts: &FactMap, seconds: u64) -> HostFacts {
    let pick = |roots: &[&str]| -> FactMap {
        facts.iter().filter(|(root, _)| roots.contains(&root.as_str())).map(|(a, b)| (a.clone(), b.clone())).collect()
    };
    let mut of_link = pick(&LINK_ROOTS);
    let name = Fact::Text("eth0".to_owned());
    let link = of_link.entry("link".to_owned()).or_insert_with(|| Fact::Map(FactMap::new()));
    if let Fact::Map(link) = link
        && !link.contains_key("removed")
    {
        link.entry("name".to_owned()).or_insert(name);
    }
    let mut of_namespace = pick(&NAMESPACE_ROOTS);
    let own = !facts.contains_key("host_sysctl");
    let netns = of_namespace.entry("netns".to_owned()).or_insert_with(|| Fact::Map(FactMap::new()));
    merge(netns, Fact::Map(FactMap::from([("own".to_owned(), Fact::Bool(own))])));
    let namespace = NamespaceFacts {
        name: if own { String::new() } else { "/run/docker/netns/ingress_sbox".to_owned() },
        facts: of_namespace,
        links: vec![LinkFacts { name: "eth0".to_owned(), facts: of_link }],
        routes: facts.get("route").cloned().into_iter().collect(),
    };
    let mut namespaces = vec![namespace];
    if let Some(sysctl) = facts.get("host_sysctl") {
        let netns = Fact::Map(FactMap::from([("own".to_owned(), Fact::Bool(true))]));
        let facts = FactMap::from([("sysctl".to_owned(), sysctl.clone()), ("netns".to_owned(), netns)]);
        namespaces.insert(0, NamespaceFacts { facts, ..NamespaceFacts::default() });
    }
    let taken = Some(Taken { boot_id: "boot".to_owned(), micros: seconds * 1_000_000 });
    HostFacts { name: "host".to_owned(), facts: facts.clone(), namespaces, taken, ..HostFacts::default() }
}

fn remove(fact: &mut Fact, path: &Path) {
    let mut keys: Vec<&str> = vec![path.root.as_str()];
    keys.extend(path.segments.iter().map_while(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    }));
    let Some((last, way)) = keys.split_last() else { return };
    let mut at = fact;
    for key in way {
        let Fact::Map(map) = at else { return };
        let Some(below) = map.get_mut(*key) else { return };
        at = below;
    }
    if let Fact::Map(map) = at {
        map.remove(*last);
        if path.to_string() == "link.name" {
            map.insert("removed".to_owned(), Fact::Bool(true));
        }
    }
}
