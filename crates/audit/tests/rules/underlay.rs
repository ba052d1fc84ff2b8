//! Which NIC a tunnel stands on: found by its address or its way, so that a rule fires there and nowhere else.

use audit::report::Answer;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Profile, Report, Rules, audit};
use model::host::snapshot::Snapshot;
use serde_json::{Value, json};

/// A host with two alike NICs that merge packets, em1 and em2, and a tunnel in the namespace with this number.
fn host(namespaces: usize, tunnel: &Value) -> Snapshot {
    let mut host: Value = serde_json::from_str(include_str!("../groups/nrao/naasc-vs-4.json")).unwrap();
    let own = &mut host["namespaces"][0];
    let interfaces = own["interfaces"].as_array().unwrap();
    let lo = interfaces.iter().find(|one| one["name"] == "lo").unwrap().clone();
    let nic = |name: &str, index: u32| {
        let mut nic = interfaces.iter().find(|one| one["name"] == "em1").unwrap().clone();
        nic["name"] = name.into();
        nic["link"]["value"]["index"] = index.into();
        nic
    };
    let address = |interface: &str, address: &str| json!({"interface": interface, "address": address, "prefix": 24, "scope": "global"});
    let route = |to: &str, interface: &str| json!({"destination": to, "kind": "unicast", "table": 254, "protocol": "kernel", "interface": interface});
    let (one, two) = (nic("em1", 2), nic("em2", 7));
    own["interfaces"] = json!([one, two, lo]);
    own["addresses"] = known(&json!([address("em1", "192.0.2.1"), address("em2", "198.51.100.1")]));
    own["routes"] = known(&json!([route("0.0.0.0/0", "em1"), route("198.51.100.0/24", "em2")]));
    let mut vxlan = lo.clone();
    vxlan["name"] = "vx0".into();
    vxlan["link"] = known(&json!({"index": 40, "up": true, "kind": "vxlan"}));
    vxlan["link"]["value"].as_object_mut().unwrap().extend(tunnel.as_object().unwrap().clone());
    for number in 1..namespaces {
        let mut other = host["namespaces"][0].clone();
        other["name"] = format!("ingress_{number}").into();
        (other["interfaces"], other["routes"], other["addresses"]) =
            (json!([lo]), known(&json!([])), known(&json!([])));
        host["namespaces"].as_array_mut().unwrap().push(other);
    }
    host["namespaces"][namespaces - 1]["interfaces"].as_array_mut().unwrap().push(vxlan);
    serde_json::from_value(host).unwrap()
}

fn known(value: &Value) -> Value {
    json!({"value": value, "source": "netlink"})
}

/// On which devices the rule fires.
fn fires(snapshot: &Snapshot) -> Vec<String> {
    fires_for(snapshot, &["overlay-node"])
}

/// The same of a host of which somebody says that it does this.
fn fires_for(snapshot: &Snapshot, roles: &[&str]) -> Vec<String> {
    let (host, inputs) = (HostFacts::of(snapshot), Inputs::default());
    let profile: Profile = serde_json::from_value(json!({ "roles": roles })).unwrap();
    let case = Case { host: &host, profile: &profile, inputs: &inputs, keep: Keep::Everything };
    let report: Report = audit(&Rules::built_in(), &case);
    let answers = crate::support::answers(&report, RULE);
    assert!(!answers.contains(&Answer::Unknown), "{answers:?}");
    let findings = report.findings.iter().filter(|finding| finding.rule == RULE);
    findings.filter_map(|finding| finding.subject.link.clone()).collect()
}

const RULE: &str = "NIC-GROHW-OVERLAY";

#[test]
fn the_nic_with_the_address_of_the_tunnel_is_the_one() {
    let by = |local: &str| fires(&host(1, &json!({"vxlan": {"vni": 7, "local": local}})));
    assert_eq!((by("192.0.2.1"), by("198.51.100.1")), (vec!["em1".to_owned()], vec!["em2".to_owned()]));
}

#[test]
fn the_nic_on_the_way_to_the_other_end_is_the_one() {
    let by = |remote: &str| fires(&host(1, &json!({"vxlan": {"vni": 7, "remote": remote}})));
    assert_eq!((by("203.0.113.9"), by("198.51.100.9")), (vec!["em1".to_owned()], vec!["em2".to_owned()]));
}

#[test]
fn a_tunnel_that_was_moved_to_its_containers_stands_on_the_nic_of_the_host() {
    assert_eq!(fires(&host(2, &json!({"vxlan": {"vni": 7, "local": "198.51.100.1"}}))), ["em2"]);
    assert_eq!(fires(&host(2, &json!({"vxlan": {"vni": 7}, "lower_elsewhere": 7}))), ["em2"]);
    assert_eq!(fires(&host(1, &json!({"vxlan": {"vni": 7}, "lower": "em2"}))), ["em2"]);
}

#[test]
fn a_tunnel_that_tells_neither_may_be_carried_by_any_nic() {
    for tunnel in [json!({"vxlan": {"vni": 7}}), json!({"vxlan": {"vni": 7, "remote": "239.1.1.1"}})] {
        assert_eq!(fires(&host(2, &tunnel)), ["em1", "em2"]);
    }
}

#[test]
fn a_tunnel_inside_of_virtual_machines_counts_where_somebody_says_so() {
    let mut host = host(1, &json!({"vxlan": {"vni": 7, "local": "192.0.2.1"}}));
    host.namespaces[0].interfaces.retain(|interface| interface.name != "vx0");
    assert_eq!(fires_for(&host, &["vm-host", "overlay-node"]), ["em1", "em2"]);
    assert_eq!((fires_for(&host, &["vm-host"]), fires_for(&host, &["overlay-node"])), (vec![], vec![]));
}
