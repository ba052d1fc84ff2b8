//! A snapshot of a virtual machine with one NIC, as `linerate host snapshot --json` wrote it.

use std::collections::BTreeSet;

use audit::fact::{Fact, Path, Segment};
use audit::report::Answer;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Profile, Report, Rules, audit};
use model::host::snapshot::Snapshot;

use crate::support::answers;

fn host() -> HostFacts {
    let snapshot: Snapshot = serde_json::from_str(include_str!("../snapshot.json")).unwrap();
    HostFacts::of(&snapshot)
}

fn asked(host: &HostFacts, inputs: &Inputs) -> Report {
    let profile = serde_json::from_value(serde_json::json!({"target_rate": "10Gbit/s", "rtt": "190ms"}));
    let profile: Profile = profile.unwrap();
    audit(&Rules::built_in(), &Case { host, profile: &profile, inputs, keep: Keep::Everything })
}

#[test]
fn every_fact_of_a_snapshot_has_a_name_of_the_vocabulary() {
    let rules = Rules::built_in();
    let (host, vocabulary) = (host(), rules.language().vocabulary());
    let mut strangers = Vec::new();
    let own = &host.namespaces[0];
    let roots = host.facts.iter().chain(&own.facts).chain(own.links.iter().flat_map(|link| &link.facts));
    for (root, fact) in roots {
        strangers.extend(vocabulary.strangers(root, fact));
    }
    for route in &own.routes {
        strangers.extend(vocabulary.strangers("route", route));
    }
    assert_eq!(strangers, Vec::<String>::new());
    let path = |root: &str, keys: &[&str]| Path {
        root: root.to_owned(),
        segments: keys.iter().map(|key| Segment::Key((*key).to_owned())).collect(),
    };
    let nic = own.links.iter().find(|link| link.facts.contains_key("nic")).expect("a NIC");
    let driver = path("nic", &["driver"]).walk(&nic.facts["nic"]).cloned();
    assert_eq!(driver, Ok(Fact::Text("virtio_net".to_owned())));
    assert_eq!(path("kernel", &["version"]).walk(&host.facts["kernel"]).cloned(), Ok(Fact::Int(6018)));
}

#[test]
fn an_untuned_machine_is_told_about_its_buffers_and_what_is_not_known_of_it() {
    let report = asked(&host(), &Inputs::default());
    assert_eq!(answers(&report, "BUF-RMEM-BDP"), [Answer::Fail]);
    assert_eq!(answers(&report, "BUF-WINSCALE"), [Answer::Pass]);
    // A guest's NIC tells no speed, and no counter says anything alone.
    assert_eq!(answers(&report, "NIC-COALESCE"), [Answer::Unknown]);
    assert_eq!(answers(&report, "CPU-SOFTNET-DROP"), [Answer::Unknown]);
    let finding = report.findings.iter().find(|finding| finding.rule == "BUF-RMEM-BDP").unwrap();
    assert_eq!(finding.fix[0].command, "sysctl -w net.ipv4.tcp_rmem=\"4096 131072 536870912\"");
    assert_eq!(finding.fix[0].undo.as_deref(), Some("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 33554432\""));
}

#[test]
fn a_host_compared_with_itself_has_not_changed_and_is_no_outlier() {
    let host = host();
    let mut inputs = Inputs::default();
    inputs.add_baseline(&host, &host);
    inputs.add_peers(&host, &[host.clone(), host.clone()]);
    let report = asked(&host, &inputs);
    for rule in ["DRIFT-BASELINE", "DRIFT-KERNEL", "DRIFT-OUTLIER", "NIC-HETEROGENEOUS", "MTU-SEGMENT"] {
        let given: BTreeSet<String> = answers(&report, rule).iter().map(|answer| format!("{answer:?}")).collect();
        assert_eq!(given, BTreeSet::from(["Pass".to_owned()]), "{rule}");
    }
}

#[test]
fn each_rule_counts_once_however_often_it_is_asked() {
    let summary = asked(&host(), &Inputs::default()).summary;
    let by_rule = summary.by_rule;
    assert_eq!(by_rule.fail + by_rule.unknown + by_rule.pass + by_rule.not_applicable, summary.rules);
    // Some rules are asked of several devices and namespaces.
    assert!(summary.pass > by_rule.pass, "{summary:?}");
}
