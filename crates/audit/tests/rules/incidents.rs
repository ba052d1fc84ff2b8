//! `tests/incidents/*.toml`: known incidents as views of single hosts. Each names the rules that must fire and those that
//! must not.

use std::collections::BTreeSet;
use std::fs;

use audit::Rules;
use audit::report::Answer;
use serde::Deserialize;
use serde_json::Value;

use crate::support::{Situation, answers};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    view: Vec<View>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct View {
    what: String,
    fires: Vec<String>,
    silent: Vec<String>,
    before: Option<Value>,
    now: Value,
}

/// Every incident with the rules that its history calls for, in whichever of its views.
const CALLED_FOR: [(&str, &[&str]); 7] = [
    (
        "amlight-209ms",
        &["BUF-WSCALE-CEILING", "TCP-INITCWND", "BUF-OVERSIZE-WMEM", "TEST-RETR-TIMING", "PATH-MICROBURST"],
    ),
    ("brown-firewall", &["PATH-FIREWALL-ASYM", "TCP-MATHIS"]),
    ("dc24-ecn", &["TCP-ECN-ACTIVE", "BUF-RMEM-BDP", "NIC-RING-RX", "PATH-GATEWAY-BALANCE"]),
    ("dynes-qos", &["QD-PACE-CIRCUIT", "PATH-POLICER", "TCP-MATHIS"]),
    ("lab-udp-sender-drop", &["LOSS-SENDER", "BUF-UDP-SND", "QD-DROPS"]),
    (
        "lhn-2020",
        &[
            "TCP-MATHIS",
            "LOSS-RATE-INVARIANT",
            "BUF-RMEM-BDP",
            "BUF-WMEM-BDP",
            "DRIFT-DEFAULTS",
            "PATH-BACKUP",
            "PATH-DEVICE-RESET",
            "LOSS-SENDER",
            "PATH-POLICER",
            "TEST-BASELINE",
        ],
    ),
    (
        "nrao-overlay",
        &[
            "NIC-GROHW-OVERLAY",
            "NIC-HETEROGENEOUS",
            "DRIFT-OUTLIER",
            "TCP-RTO-BOUND",
            "NIC-EMULATED",
            "MTU-SIGNATURE",
            "MTU-SEGMENT",
            "PATH-OVERLAY-REROUTE",
            "PATH-1G",
            "DROP-VLAN-IPV6",
            "DRIFT-NOT-PERSISTED",
            "TCP-NETNS",
        ],
    ),
];

#[test]
fn each_incident_fires_its_rules_and_no_other_cause() {
    let rules = Rules::built_in();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/incidents");
    let mut seen = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let file: File =
            toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut fired = BTreeSet::new();
        for view in &file.view {
            check(&rules, &name, view);
            fired.extend(view.fires.iter().map(String::as_str));
        }
        let called_for = CALLED_FOR.iter().find(|(incident, _)| *incident == name).expect("a known incident").1;
        assert!(called_for.iter().all(|rule| fired.contains(rule)), "{name}: {fired:?}");
        seen.insert(name);
    }
    assert_eq!(seen.len(), CALLED_FOR.len());
}

fn check(rules: &Rules, name: &str, view: &View) {
    let report = Situation::new(view.now.clone(), view.before.clone()).audit(rules);
    for rule in &view.fires {
        let unknown = report.unknown.iter().find(|unknown| unknown.rule == *rule);
        assert!(
            answers(&report, rule).contains(&Answer::Fail),
            "{name}, {}: {rule} gives {:?}: {unknown:#?}",
            view.what,
            answers(&report, rule)
        );
    }
    for rule in &view.silent {
        assert!(rules.get(rule).is_some(), "{name}: there is no rule {rule}");
        assert!(!answers(&report, rule).contains(&Answer::Fail), "{name}, {}: {rule} fires", view.what);
    }
}
