use model::host::qdisc::Qdisc;
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
    assert_eq!(rebuilt("eth0", &[qdisc("htb", "1:", "root", &[])]), None, "its classes are not in a snapshot");
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
