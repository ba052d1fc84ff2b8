use model::host::qdisc::{Class, Qdisc};
use std::collections::BTreeMap;

use super::queueing::rebuilt;
use super::*;
use crate::fix::plan::PlannedStep;

fn qdisc(kind: &str, handle: &str, parent: &str, options: &[(&str, u64)]) -> Qdisc {
    Qdisc {
        kind: kind.to_owned(),
        handle: handle.to_owned(),
        parent: parent.to_owned(),
        options: options.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        raw_options: None,
        counters: BTreeMap::new(),
        classes: Vec::new(),
    }
}

#[test]
fn what_the_kernel_made_by_itself_comes_back_by_itself() {
    let tree = [qdisc("mq", "0:", "root", &[]), qdisc("fq_codel", "0:", ":1", &[])];
    assert_eq!(rebuilt("eth0", &tree).unwrap(), ["tc qdisc del dev eth0 root"]);
}

#[test]
fn a_tree_is_made_again_parents_first_with_its_numbers_and_options() {
    let shaper = [("rate_bps", 1_000_000_000), ("burst_bytes", 65_536), ("limit_bytes", 3_000_000)];
    let tree = [
        qdisc("tbf", "1:", "root", &shaper),
        qdisc("fq_codel", "2:", "1:1", &[("ecn", 1), ("target_us", 5_000)]),
        qdisc("ingress", "ffff:", "ingress", &[]),
    ];
    assert_eq!(
        rebuilt("eth0", &tree).unwrap(),
        [
            "tc qdisc replace dev eth0 root handle 1: tbf rate 1000000000bit burst 65536b limit 3000000b",
            "tc qdisc replace dev eth0 parent 1:1 handle 2: fq_codel target 5000us ecn",
        ]
    );
    assert_eq!(rebuilt("eth0", &[qdisc("htb", "1:", "root", &[])]), None, "its classes are not in the snapshot");
}

#[test]
fn sysctls_are_taken_back_first_and_the_rest_from_the_end() {
    let step = |operation| PlannedStep {
        rules: Vec::new(),
        namespace: None,
        link: None,
        operation,
        disruption: None,
        lowers: false,
    };
    let steps = [
        step(Operation::Sysctl { key: "net.core.default_qdisc".into(), value: "fq".into() }),
        step(Operation::Mtu { bytes: "9000".into() }),
        step(Operation::NoQdisc {}),
    ];
    assert_eq!(undo_order(&steps), [0, 2, 1]);
}

#[test]
fn classes_are_made_again_below_their_discipline() {
    let named = |options: &[(&str, u64)]| options.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let rest = [("burst_bytes", 1_375), ("ceil_burst_bytes", 1_375), ("quantum_bytes", 60_000), ("priority", 0)];
    let class = |handle: &str, parent: &str, rate: u64| Class {
        handle: handle.to_owned(),
        parent: parent.to_owned(),
        options: named(&[&[("rate_bps", rate), ("ceil_bps", 9_000_000_000)], &rest[..]].concat()),
        raw_options: None,
        counters: BTreeMap::new(),
    };
    let mut htb = qdisc("htb", "1:", "root", &[("default_class", 0x12)]);
    htb.classes = vec![class("1:1", "root", 9_000_000_000), class("1:12", "1:1", 3_000_000_000)];
    let tail = "ceil 9000000000bit burst 1375 cburst 1375 quantum 60000 prio 0";
    assert_eq!(
        rebuilt("eth0", &[htb.clone(), qdisc("pfifo", "20:", "1:12", &[("limit_packets", 50)])]).unwrap(),
        [
            "tc qdisc replace dev eth0 root handle 1: htb default 12".to_owned(),
            format!("tc class replace dev eth0 parent 1: classid 1:1 htb rate 9000000000bit {tail}"),
            format!("tc class replace dev eth0 parent 1:1 classid 1:12 htb rate 3000000000bit {tail}"),
            "tc qdisc replace dev eth0 parent 1:12 handle 20: pfifo limit 50".to_owned(),
        ]
    );
    htb.classes[1].options.remove("rate_bps");
    assert_eq!(rebuilt("eth0", &[htb]), None, "a rate that is not known is not made up");
}
