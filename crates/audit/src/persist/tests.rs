use model::host::fact::{Fact, Source};
use model::host::service::Service;

use super::*;
use crate::fix::Operation;

/// A real snapshot, as the tests of rules use it.
fn host() -> Snapshot {
    serde_json::from_str(include_str!("../../tests/snapshot.json")).unwrap()
}

fn step(rule: &str, link: Option<&str>, operation: Operation<String>) -> PlannedStep {
    PlannedStep {
        rules: vec![rule.to_owned()],
        namespace: None,
        link: link.map(str::to_owned),
        operation,
        disruption: None,
        lowers: false,
    }
}

fn ecn() -> PlannedStep {
    step("TCP-ECN-ACTIVE", None, Operation::Sysctl { key: "net.ipv4.tcp_ecn".into(), value: "2".into() })
}

#[test]
fn a_sysctl_and_a_module_have_their_files_with_the_rule_as_comment() {
    let module = step("TCP-CC", None, Operation::Module { name: "tcp_bbr".to_owned() });
    let lasting = Lasting::of(&[ecn(), module], &host());
    assert_eq!(lasting.lines[&Product::Sysctl], ["# TCP-ECN-ACTIVE", "net.ipv4.tcp_ecn = 2"]);
    assert_eq!(lasting.lines[&Product::Modules], ["# TCP-CC", "tcp_bbr"]);
    assert!(lasting.lost.is_empty());
}

#[test]
fn what_no_file_can_keep_is_said_with_what_would() {
    let inside = PlannedStep { namespace: Some("vpn".to_owned()), ..ecn() };
    let smt = step("CPU-SMT", None, Operation::Smt { on: false });
    let lasting = Lasting::of(&[inside, smt], &host());
    assert!(lasting.lines.is_empty());
    assert!(lasting.lost[0].reason.contains("vpn is made anew"));
    assert!(lasting.lost[1].reason.contains("nosmt"));
}

#[test]
fn tuned_that_sets_another_value_after_the_files_is_named() {
    let mut host = host();
    let source = Source::file("/etc/tuned");
    let mut provenance = host.provenance.value().cloned().unwrap_or_default();
    provenance.tuned_reapplies_sysctl = Some(false);
    host.provenance = Fact::known(provenance.clone(), source.clone());
    host.services.tuned_profile = Fact::known("network-throughput".to_owned(), source.clone());
    host.services.tuned_sysctls = Fact::known([("net.ipv4.tcp_ecn".to_owned(), "1".to_owned())].into(), source.clone());
    let lasting = Lasting::of(&[ecn()], &host);
    assert!(lasting.lines.is_empty() && lasting.lost[0].reason.contains("reapply_sysctl=1"), "{lasting:?}");
    provenance.tuned_reapplies_sysctl = Some(true);
    host.provenance = Fact::known(provenance, source);
    assert!(Lasting::of(&[ecn()], &host).lost.is_empty());
}

#[test]
fn a_device_is_set_by_who_brings_it_up() {
    let mut host = host();
    let name = host.own().unwrap().interfaces.iter().find(|each| each.name != "lo").unwrap().name.clone();
    let queue = || step("QD-TXQLEN", Some(&name), Operation::TxQueueLength { packets: "10000".to_owned() });
    host.services.each.remove("NetworkManager");
    let lasting = Lasting::of(&[queue()], &host);
    let line = &lasting.lines[&Product::Udev][1];
    assert!(line.starts_with("ACTION==\"add\", SUBSYSTEM==\"net\", "), "{line}");
    assert!(line.ends_with("; ip link set dev $name txqueuelen 10000'\""), "{line}");
    let running = Service { running: true, enabled: None };
    host.services.each.insert("NetworkManager".to_owned(), Fact::known(running, Source::file("/proc")));
    let lasting = Lasting::of(&[queue()], &host);
    let lines = &lasting.lines[&Product::NetworkManager];
    assert_eq!(lines[1], format!("if [ \"$1\" = {name} ] && [ \"$2\" = up ]; then"));
    assert_eq!(lines[2], format!("  ip link set dev {name} txqueuelen 10000"));
}

#[test]
fn signs_that_udev_reads_itself_are_doubled() {
    let mut host = host();
    host.services.each.remove("NetworkManager");
    let name = host.own().unwrap().interfaces.iter().find(|each| each.name != "lo").unwrap().name.clone();
    let steering = step("CPU-RPS-OVERLAY", Some(&name), Operation::Steering { cpus: "0-3".to_owned() });
    let line = &Lasting::of(&[steering], &host).lines[&Product::Udev][1];
    assert!(line.contains("/sys/class/net/$name/queues/rx-*; do echo f > $$queue/rps_cpus"), "{line}");
}

#[test]
fn a_fix_is_taken_out_and_all_else_of_the_file_stays() {
    let line = |text: &str| vec![text.to_owned()];
    let first = block::with(None, Product::Sysctl, 1, &line("a = 1"));
    let both = block::with(Some(&first), Product::Sysctl, 2, &line("b = 2"));
    let edited = format!("{both}c = 3\n");
    assert!(block::holds(&edited, 1) && block::holds(&edited, 2) && !block::holds(&edited, 3));
    assert_eq!(block::without(&both, 2).unwrap(), first);
    let rest = block::without(&block::without(&edited, 1).unwrap(), 2).unwrap();
    assert!(rest.ends_with("c = 3\n") && !rest.contains("a = 1") && !rest.contains("b = 2"), "{rest}");
    assert_eq!(block::without(&first, 1), None, "nothing is left but the first line");
    assert_eq!(block::with(Some(&first), Product::Sysctl, 1, &line("a = 9")).matches("fix 1 begins").count(), 1);
    let script = block::with(None, Product::NetworkManager, 1, &line("true"));
    assert!(script.starts_with("#!/bin/sh\n"));
    assert_eq!(block::without(&script, 1), None);
}
