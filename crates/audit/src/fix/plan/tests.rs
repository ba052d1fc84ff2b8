use super::*;
use crate::fact::{Fact, FactMap};
use crate::scope::{LinkFacts, NamespaceFacts};

/// A host with large buffers, a namespace `vpn` that has no sysctls of the whole host, and a device.
fn host() -> HostFacts {
    let numbers = |numbers: &[i64]| Fact::List(numbers.iter().copied().map(Fact::Int).collect());
    let sysctls = |more: &[(&str, Fact)]| {
        let all = [("net.ipv4.tcp_rmem", numbers(&[4_096, 131_072, 33_554_432])), ("net.ipv4.tcp_ecn", Fact::Int(1))];
        let all = all.iter().chain(more).map(|(key, value)| ((*key).to_owned(), value.clone()));
        FactMap::from([("sysctl".to_owned(), Fact::Map(all.collect()))])
    };
    let link = FactMap::from([("link".to_owned(), Fact::Map([("txqlen".to_owned(), Fact::Int(1_000))].into()))]);
    let eth0 = LinkFacts { name: "eth0".to_owned(), facts: link };
    let own = NamespaceFacts {
        facts: sysctls(&[("net.core.rmem_max", Fact::Int(212_992))]),
        links: vec![eth0],
        ..NamespaceFacts::default()
    };
    let vpn = NamespaceFacts { name: "vpn".to_owned(), facts: sysctls(&[]), ..NamespaceFacts::default() };
    HostFacts { namespaces: vec![own, vpn], ..HostFacts::default() }
}

fn step(rule: &str, operation: Operation<String>) -> PlannedStep {
    PlannedStep {
        rules: vec![rule.to_owned()],
        namespace: None,
        link: None,
        operation,
        disruption: None,
        lowers: false,
    }
}

fn sysctl(key: &str, value: &str) -> Operation<String> {
    Operation::Sysctl { key: key.to_owned(), value: value.to_owned() }
}

fn on_eth0(rule: &str, operation: Operation<String>) -> PlannedStep {
    PlannedStep { link: Some("eth0".to_owned()), ..step(rule, operation) }
}

#[test]
fn of_two_sizes_the_larger_is_taken_and_both_rules_are_named() {
    let rmem = |rule, value| step(rule, sysctl("net.ipv4.tcp_rmem", value));
    let plan =
        FixPlan::of(vec![rmem("A", "4096 131072 67108864"), rmem("B", "8192 87380 536870912")], &host()).unwrap();
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(plan.steps[0].operation, sysctl("net.ipv4.tcp_rmem", "8192 131072 536870912"));
    assert_eq!((plan.rules(), plan.disruption()), (vec!["A", "B"], Disruption::None));
}

#[test]
fn two_values_of_a_switch_are_refused_with_both_rules() {
    let ecn = |rule, value| step(rule, sysctl("net.ipv4.tcp_ecn", value));
    let error = FixPlan::of(vec![ecn("A", "0"), ecn("B", "2")], &host()).unwrap_err();
    assert_eq!(error.to_string(), "two values are wanted of net.ipv4.tcp_ecn: A wants 0, B wants 2");
    assert_eq!(FixPlan::of(vec![ecn("A", "2"), ecn("B", "2")], &host()).unwrap().steps.len(), 1);
    let gro = |on| on_eth0("G", Operation::Feature { name: "rx-gro".to_owned(), on });
    assert!(FixPlan::of(vec![gro(true), gro(false)], &host()).unwrap_err().to_string().contains("rx-gro of eth0"));
    let none = on_eth0("N", Operation::NoQdisc {});
    let mq = Operation::Qdisc { parent: "root".to_owned(), kind: "mq".to_owned(), handle: None, options: None };
    assert!(FixPlan::of(vec![none, on_eth0("M", mq)], &host()).is_err());
}

#[test]
fn nothing_becomes_smaller_unless_a_rule_is_there_for_that_and_then_not_below_the_kernels_own() {
    let small = step("A", sysctl("net.ipv4.tcp_rmem", "4096 87380 16777216"));
    let plan = FixPlan::of(vec![small.clone()], &host()).unwrap();
    assert!(plan.steps.is_empty());
    assert!(plan.left_out[0].reason.contains("it is 4096 131072 33554432 already"), "{}", plan.left_out[0].reason);
    let lowering = PlannedStep { lowers: true, ..small };
    let plan = FixPlan::of(vec![lowering.clone()], &host()).unwrap();
    assert_eq!(plan.steps[0].operation, sysctl("net.ipv4.tcp_rmem", "4096 87380 16777216"));
    let tiny = PlannedStep { operation: sysctl("net.ipv4.tcp_rmem", "1 1 1"), ..lowering.clone() };
    let plan = FixPlan::of(vec![tiny], &host()).unwrap();
    assert_eq!(plan.steps[0].operation, sysctl("net.ipv4.tcp_rmem", "4096 87380 4194304"));
    let raising = step("B", sysctl("net.ipv4.tcp_rmem", "4096 131072 536870912"));
    assert!(FixPlan::of(vec![lowering, raising], &host()).is_err(), "one raises, the other lowers");
    let shorter = on_eth0("Q", Operation::TxQueueLength { packets: "500".to_owned() });
    assert!(FixPlan::of(vec![shorter], &host()).unwrap().steps.is_empty());
}

#[test]
fn what_belongs_to_the_host_is_set_there_and_the_rest_in_its_namespace() {
    let inside = |key: &str| PlannedStep { namespace: Some("vpn".to_owned()), ..step("A", sysctl(key, "4294967")) };
    let plan = FixPlan::of(vec![inside("net.core.rmem_max"), inside("net.ipv4.tcp_ecn")], &host()).unwrap();
    assert_eq!((plan.steps[0].namespace.as_deref(), plan.steps[1].namespace.as_deref()), (None, Some("vpn")));
}

#[test]
fn a_shaper_is_made_from_the_root_down_whatever_came_first() {
    let qdisc = |parent: &str, kind: &str| {
        let handle = (parent == "root").then(|| "1:".to_owned());
        Operation::Qdisc { parent: parent.to_owned(), kind: kind.to_owned(), handle, options: None }
    };
    let class = Operation::Class { parent: "1:".into(), class: "1:1".into(), options: "htb rate 9000000bit".into() };
    let steps = [qdisc("1:1", "pfifo"), class, qdisc("root", "htb"), sysctl("net.ipv4.tcp_ecn", "2")];
    let plan = FixPlan::of(steps.into_iter().map(|operation| on_eth0("P", operation)).collect(), &host()).unwrap();
    let commands =
        plan.steps.iter().map(|step| step.operation.command(&crate::fix::Target { namespace: "", link: "eth0" }));
    assert_eq!(
        commands.collect::<Vec<_>>(),
        [
            "sysctl -w net.ipv4.tcp_ecn=2",
            "tc qdisc replace dev eth0 root handle 1: htb",
            "tc class replace dev eth0 parent 1: classid 1:1 htb rate 9000000bit burst 1600b cburst 1600b",
            "tc qdisc replace dev eth0 parent 1:1 pfifo",
        ]
    );
}

#[test]
fn advice_and_unknown_values_are_told_and_not_done() {
    let advice = Operation::Advice { text: "change the optic".to_owned(), undo: None };
    let open = Operation::Route { to: "::/0".to_owned(), metrics: "initrwnd (the sender's initcwnd)".to_owned() };
    let plan = FixPlan::of(vec![step("A", advice.clone()), step("B", advice), step("C", open)], &host()).unwrap();
    assert!(plan.steps.is_empty());
    assert_eq!((plan.by_hand[0].text.as_str(), plan.by_hand[0].rules.len()), ("change the optic", 2));
    assert!(plan.left_out[0].reason.contains("the sender's initcwnd"));
}

#[test]
fn metrics_of_one_route_become_one_step() {
    let route = |metrics: &str| Operation::Route { to: "0.0.0.0/0".to_owned(), metrics: metrics.to_owned() };
    let both = |one, other| FixPlan::of(vec![step("A", route(one)), step("B", route(other))], &host());
    let plan = both("initcwnd 40", "mtu lock 1500").unwrap();
    assert_eq!(plan.steps[0].operation, route("initcwnd 40 mtu lock 1500"));
    assert!(both("initcwnd 40", "initcwnd 20").unwrap_err().to_string().contains("route to 0.0.0.0/0"));
}

#[test]
fn a_plan_is_read_from_toml_from_json_and_from_what_was_printed() {
    let toml = "[[steps]]\nrules = [\"A\"]\noperation = { sysctl = { key = \"net.ipv4.tcp_ecn\", value = \"2\" } }\n";
    let read = FixPlan::read(toml).unwrap().steps;
    assert_eq!(read, [step("A", sysctl("net.ipv4.tcp_ecn", "2"))]);
    let plan = FixPlan::of(read, &host()).unwrap();
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(FixPlan::read(&json).unwrap().steps, plan.steps);
    assert_eq!(FixPlan::read(&format!("{{\"plan\":{json},\"commands\":[]}}")).unwrap().steps, plan.steps);
}

#[test]
fn a_file_that_is_no_plan_says_where_and_what_was_expected() {
    let cases = [
        ("{}", "neither `steps`"),
        ("", "missing field `steps`"),
        ("steps = []", "no step"),
        ("[[steps]]\noperation = { warp = {} }", "line 2, column 15"),
        ("[[steps]]\noperation = { mtu = { bytes = \"9000\", colour = 1 } }", "line 2"),
        ("{\"steps\": [{\"operation\": 3}]}", "line 1 column"),
        ("{\"steps\"", "EOF"),
    ];
    for (text, words) in cases {
        let error = FixPlan::read(text).unwrap_err();
        let whole =
            format!("{error}: {}", std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default());
        assert!(whole.contains(words), "{text}: {whole}");
    }
}
