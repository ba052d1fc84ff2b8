//! Each rule fires and passes over a real snapshot: that of a machine, in which only what the case is about is another value,
//! at the place where a reader of hosts puts it. So a fact that no snapshot ever gives makes its rule fail here.

use std::collections::BTreeSet;

use audit::fact::Fact;
use audit::inputs::Inputs;
use audit::report::Answer;
use audit::scope::HostFacts;
use audit::{Case, Keep, Profile, Report, Rules, audit};
use model::host::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::cases::{Written, cases};
use crate::support::answers;

/// What rules are given beside a snapshot, by design: other snapshots, tests, the change log.
const GIVEN: [&str; 6] = ["peers", "baseline", "probe", "path", "proxy", "log"];

fn snapshot(facts: &Value, earlier: bool) -> (HostFacts, Vec<String>) {
    let mut snapshot: Value = serde_json::from_str(include_str!("../snapshot.json")).unwrap();
    crate::plant::usual(&mut snapshot);
    let unplanted = crate::plant::all(&mut snapshot, facts);
    if earlier {
        let taken = snapshot["taken_mono_ns"].as_u64().unwrap();
        snapshot["taken_mono_ns"] = json!(taken - 10_000_000_000);
    }
    let read = Snapshot::read(snapshot.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}: {facts}"));
    (HostFacts::of(&read), unplanted)
}

fn asked(rules: &Rules, case: &Written, more: Option<&Value>) -> (Report, Vec<String>) {
    let mut facts = case.fires.clone();
    more.into_iter().for_each(|more| merge(&mut facts, more));
    let (host, mut unplanted) = snapshot(&facts, false);
    let mut then = facts.clone();
    case.before.iter().for_each(|before| merge(&mut then, before));
    let (earlier, also) = snapshot(&then, true);
    unplanted.extend(also);
    let mut profile = json!({ "roles": ["dtn"], "target_rate": "10Gbit/s", "rtt": "100ms" });
    let mut given = json!({});
    for (root, fact) in facts.as_object().unwrap() {
        if root == "profile" {
            merge(&mut profile, fact);
        } else if GIVEN.contains(&root.as_str()) {
            given[root] = fact.clone();
        }
    }
    // A baseline that is as the case says is as this host is: how a tree is written out is not the case's matter.
    if facts["qdisc"]["signature"].is_string() && given["baseline"]["qdisc"]["eth0"] == facts["qdisc"]["signature"] {
        let nic = host.namespaces[0].links.iter().find(|link| link.name == "eth0").unwrap();
        given["baseline"]["qdisc"]["eth0"] = nic.facts["qdisc"].as_map().unwrap()["signature"].to_json();
    }
    let profile: Profile = serde_json::from_value(profile).unwrap();
    let mut inputs = Inputs { before: Some(earlier), ..Inputs::default() };
    let given = given.as_object().unwrap().iter();
    inputs.facts = given.map(|(root, fact)| (root.clone(), Fact::from_json(fact.clone()))).collect();
    (audit(rules, &Case { host: &host, profile: &profile, inputs: &inputs, keep: Keep::Everything }), unplanted)
}

fn merge(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                merge(under.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}

#[test]
fn every_rule_fires_and_passes_over_a_real_snapshot() {
    let rules = Rules::built_in();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for case in cases() {
        let (fired, unplanted) = asked(&rules, &case, None);
        if !unplanted.is_empty() {
            wrong.push(format!("{}: no snapshot gives {unplanted:?}", case.rule));
        }
        let given = answers(&fired, &case.rule);
        if !given.contains(&Answer::Fail) {
            let why: Vec<_> = fired.unknown.iter().filter(|unknown| unknown.rule == case.rule).take(1).collect();
            wrong.push(format!("{} does not fire: {given:?} {why:?}", case.rule));
        }
        let (passed, _) = asked(&rules, &case, Some(&case.passes));
        let given = answers(&passed, &case.rule);
        if !given.contains(&Answer::Pass) || given.contains(&Answer::Fail) {
            let why: Vec<_> = passed.unknown.iter().filter(|unknown| unknown.rule == case.rule).take(1).collect();
            wrong.push(format!("{} does not pass: {given:?} {why:?}", case.rule));
        }
        seen.insert(case.rule);
    }
    assert_eq!(seen.len(), rules.all().len());
    assert!(wrong.is_empty(), "{} of {} rules:\n{}", wrong.len(), seen.len(), wrong.join("\n"));
}
