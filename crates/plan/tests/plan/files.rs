//! Plans as files: what is refused and how, and that what is written is read as the same.

use std::collections::BTreeSet;
use std::time::Duration;

use plan::init::{HostAccess, mesh_of};
use plan::plan::{Expectation, Plan, Reach};
use plan::{PlanError, Schedule};
use proptest::prelude::*;
use units::DataRate;

const NRAO: &str = include_str!("../../../../testdata/plans/nrao.toml");
const TEMPLATE: &[u8] = include_bytes!("../../../../testdata/foreign/psconfig/mesh.json");

const GOOD: &str = r#"title = "t"
[networks.lan]
[hosts.a]
address = "10.0.0.1"
addresses = { lan = "10.1.0.1" }
[hosts.b]
address = "10.0.0.2"
addresses = { lan = "10.1.0.2" }
ssh = "root@b"
program = "/opt/line rate/bin/linerate"
serves = true
port = 5202
http-port = 8080
[hosts.r]
forwards = true
[[segments]]
name = "left"
between = ["a", "r"]
shared = true
[[segments]]
name = "right"
between = ["r", "b"]
[groups.g]
mesh = ["a", "b"]
[[tests]]
kind = "tcp"
time = "5s"
expect = "90%"
"#;

/// What is said about the good plan with `new` in the place of `old`.
fn refusal(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    let error = Plan::parse("plan.toml", &GOOD.replacen(old, new, 1)).unwrap_err();
    let hints = error.hints().into_iter().map(|hint| format!("\n  hint: {hint}"));
    format!("{error}{}", hints.collect::<String>())
}

#[test]
fn each_mistake_is_told_with_its_place_and_a_hint() {
    Plan::parse("plan.toml", GOOD).unwrap();
    let cases = [
        ("not TOML", refusal("title = \"t\"", "title = t")),
        ("unknown key", refusal("forwards = true", "forward = true")),
        ("unknown key of a test", refusal("time = \"5s\"", "tme = \"5s\"")),
        ("a key of another kind", refusal("time = \"5s\"", "count = 5")),
        ("no unit", refusal("\"5s\"", "\"5\"")),
        ("unknown host", refusal("mesh = [\"a\", \"b\"]", "mesh = [\"a\", \"bb\"]")),
        ("a host without an address", refusal("mesh = [\"a\", \"b\"]", "mesh = [\"a\", \"r\"]")),
        ("a host twice", refusal("mesh = [\"a\", \"b\"]", "mesh = [\"a\", \"b\", \"a\"]")),
        ("two shapes", refusal("mesh = [\"a\", \"b\"]", "mesh = [\"a\", \"b\"]\nlist = []")),
        ("nobody left", refusal("mesh = [\"a\", \"b\"]", "list = []")),
        ("two ways to reach a host", refusal("ssh = \"root@b\"", "ssh = \"root@b\"\nhere = true")),
        ("an option of ssh", refusal("root@b", "-oProxyCommand=reboot")),
        ("not an expectation", refusal("\"90%\"", "\"190%\"")),
        ("a time of a flow", refusal("\"90%\"", "\"90ms\"")),
        ("two of one name", refusal("name = \"right\"", "name = \"left\"")),
        (
            "a way with a gap",
            refusal("[groups.g]", "[[ways]]\nfrom = \"a\"\nto = \"b\"\nover = [\"right\"]\n[groups.g]"),
        ),
        (
            "a window without an end",
            refusal("[groups.g]", "[[maintenance]]\nfrom = \"2026-12-01T02:00:00Z\"\n[groups.g]"),
        ),
        (
            "no such day",
            refusal("[groups.g]", "[[maintenance]]\nat = \"2:00\"\nlasts = \"1h\"\ndays = [\"tues\"]\n[groups.g]"),
        ),
        ("a budget of nobody", refusal("[groups.g]", "[[budgets]]\nbytes-a-day = \"1TB\"\n[groups.g]")),
        ("not a trigger", refusal("time = \"5s\"", "time = \"5s\"\nwhen = \"often\"")),
        ("several at once", refusal("time = \"5s\"", "group = \"h\"\nstream = 3")),
    ];
    let text: Vec<String> = cases.into_iter().map(|(what, told)| format!("{what}\n{told}\n")).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn mistakes_of_every_kind_are_told_at_once() {
    let text = GOOD
        .replacen("title = \"t\"\n", "", 1)
        .replacen("forwards = true", "forward = true", 1)
        .replacen("port = 5202", "port = \"5202\"", 1)
        .replacen("mesh = [\"a\", \"b\"]", "mesh = [\"a\", \"bb\"]", 1)
        .replacen("time = \"5s\"", "time = \"5\"\nexpct = 1", 1);
    let error = Plan::parse("plan.toml", &text).unwrap_err();
    insta::assert_snapshot!(error.to_string());
}

#[test]
fn the_plan_of_the_page_about_rounds_loads() {
    let page = include_str!("../../../../docs/rounds.md");
    let (_, plan) = page.split_once("```toml\n").unwrap();
    let plan = Plan::parse("rounds.md", plan.split_once("```").unwrap().0).unwrap();
    assert_eq!((plan.hosts.len(), plan.segments.len(), plan.tests.len()), (4, 3, 3));
}

#[test]
fn a_first_plan_of_names_has_every_pair_and_the_usual_tests() {
    let host = |name: &str, reach| HostAccess { name: name.to_owned(), address: Some(name.to_owned()), reach };
    let hosts = [host("here", Reach::Here), host("east", Reach::Ssh("me@east".to_owned()))];
    let plan = mesh_of(&hosts).unwrap();
    assert_eq!(Plan::parse("plan.toml", &plan.to_toml()).unwrap(), plan);
    assert_eq!((plan.pairs(0).len(), plan.tests.len()), (2, 5));
    let twice = mesh_of(&[hosts[1].clone(), hosts[1].clone()]).unwrap_err();
    assert!(twice.to_string().contains("duplicate key"), "{twice}");
    let option = mesh_of(&[hosts[0].clone(), host("east", Reach::Ssh("-oProxyCommand=reboot".to_owned()))]);
    assert!(option.unwrap_err().to_string().contains("a target of ssh is"));
}

#[test]
fn a_file_that_is_too_long_is_not_read() {
    let long = format!("{GOOD}\n# {}", "x".repeat(2 << 20));
    assert!(matches!(Plan::parse("plan.toml", &long), Err(PlanError::TooLarge { .. })));
}

#[test]
fn a_way_is_the_shortest_unless_the_plan_gives_another() {
    let plan = Plan::parse("plan.toml", NRAO).unwrap();
    let (from, to) = (plan.host("na-arc-3").unwrap(), plan.host("na-arc-1").unwrap());
    let passages: Vec<String> = plan.passages(from, to, Some(0)).iter().map(ToString::to_string).collect();
    assert_eq!(
        passages,
        ["vm-3 towards naasc-vs-3", "uplink-3 towards switch", "uplink-4 towards naasc-vs-4", "vm-1 towards na-arc-1"]
    );
    assert_eq!(plan.line_rate(from, to, Some(0)), Some(DataRate::from_bps(10_000_000_000)));
    let (one, other) = (plan.host("na-arc-1").unwrap(), plan.host("na-arc-2").unwrap());
    assert_eq!(plan.line_rate(one, other, Some(0)), None, "nobody says what the bridge inside a machine carries");
}

#[test]
fn what_a_pair_should_do_is_said_by_the_pair_then_by_the_test() {
    let more =
        "[[expectations]]\nfrom = [\"b\"]\nexpect = \"2Gbit/s\"\n[[expectations]]\nto = [\"b\"]\nexpect = \"9ms\"\n";
    let text = GOOD.replacen("between = [\"r\", \"b\"]", "between = [\"r\", \"b\"]\nrate = \"10Gbit/s\"", 1) + more;
    let plan = Plan::parse("plan.toml", &text).unwrap();
    let gbit = |rate: u64| Some(DataRate::from_bps(rate * 1_000_000_000));
    assert_eq!(plan.expected_rate(0, 0, 1), gbit(9));
    assert_eq!(plan.expected_rate(0, 1, 0), gbit(2));
    assert_eq!(plan.expectation(0, 0, 1), Some(Expectation::Percent(90.0)), "a time is not for a flow");
}

#[test]
fn a_plan_that_names_no_tests_has_the_usual_ones() {
    let text = GOOD.split("[[tests]]").next().unwrap();
    let plan = Plan::parse("plan.toml", text).unwrap();
    let labels: Vec<&str> = plan.tests.iter().map(|test| test.label.as_str()).collect();
    assert_eq!(labels, ["rtt", "mtu", "hops", "tcp", "udp"]);
}

#[test]
fn a_template_becomes_a_plan_and_says_what_it_cannot() {
    let imported = Plan::from_psconfig("mesh.json", TEMPLATE).unwrap();
    let remarks: Vec<String> = imported.remarks.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("template_as_plan", imported.plan.to_toml());
    insta::assert_snapshot!("template_remarks", remarks.join("\n"));
    assert_eq!(Schedule::new(&imported.plan).length, Duration::from_secs(60 + 5 * 17 + 2 * 32));
}

#[test]
fn what_is_no_template_is_refused() {
    let told = |text: &str| Plan::from_psconfig("t.json", text.as_bytes()).unwrap_err().to_string();
    assert_eq!(told("{\n  x"), "t.json:2:3: not JSON");
    assert!(told("{}").contains("this has no `addresses`"), "{}", told("{}"));
    let empty = r#"{"addresses": {}, "groups": {}, "tests": {}, "tasks": {"t": {"group": "g", "test": "x"}}}"#;
    assert_eq!(told(empty), "t.json: no task of it can be run: tasks.t: no test is called `x`");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(told(&deep).contains("not JSON"));
}

/// The tests of all pairs, by what they are and where they go.
fn pairs(plan: &Plan) -> BTreeSet<String> {
    let mut pairs = BTreeSet::new();
    for (number, test) in plan.tests.iter().enumerate() {
        let network = plan.groups[test.group].network;
        for pair in plan.pairs(number) {
            let address = |host| plan.address(host, network).unwrap_or("none").to_owned();
            let every = test.every.or(plan.times.every);
            pairs.insert(format!(
                "{:?} {:?} {every:?} from {} to {}",
                test.task,
                test.family,
                address(pair.from),
                address(pair.to)
            ));
        }
    }
    pairs
}

#[test]
fn the_example_is_written_and_read_as_the_same() {
    let plan = Plan::parse("plan.toml", NRAO).unwrap();
    assert_eq!(Plan::parse("again.toml", &plan.to_toml()).unwrap(), plan);
    let exported = plan.to_psconfig();
    let again = Plan::from_psconfig("again.json", exported.template.to_string().as_bytes()).unwrap();
    assert_eq!(pairs(&again.plan), pairs(&plan));
    let told: Vec<&str> = exported.remarks.iter().map(|remark| remark.place.as_str()).collect();
    assert_eq!(told, ["segments", "tests", "hosts"]);
}

/// A plan at random: hosts on some machines, groups of each shape in some network, tests of each kind.
fn text() -> impl Strategy<Value = String> {
    let group = (0..3_u8, any::<bool>(), any::<bool>(), prop::collection::vec((0..6_usize, 0..6_usize), 1..6));
    let test = (0..5_u8, 1..100_u32, 1..5_u16, prop::option::of(0..2_u8), prop::option::of(1..50_u32), any::<bool>());
    let groups = prop::collection::vec(group, 1..4);
    (prop::collection::vec(0..4_usize, 6), groups, prop::collection::vec(test, 1..5)).prop_map(
        |(machines, groups, tests)| {
            let mut text = "title = \"a \\\"title\\\" of any kind\"\n[networks.lan]\n".to_owned();
            for (host, machine) in machines.iter().enumerate() {
                text.push_str(&format!(
                    "[hosts.\"h.{host}\"]\naddress = \"10.0.0.{host}\"\naddresses = {{ lan = \"10.1.0.{host}\" }}\n"
                ));
                if *machine > 0 {
                    text.push_str(&format!(
                        "machine = \"m{machine}\"\nattributes = {{ site = \"s{machine}\" }}\nroles = [\"dtn\"]\n"
                    ));
                }
            }
            let name = |host: &usize| format!("\"h.{host}\"");
            for (number, (shape, in_network, extra, list)) in groups.iter().enumerate() {
                text.push_str(&format!("[groups.g{number}]\n"));
                let (mut a, mut b): (Vec<usize>, Vec<usize>) = list.iter().copied().unzip();
                a.sort_unstable();
                a.dedup();
                b.sort_unstable();
                b.dedup();
                let names = |hosts: &[usize]| format!("[{}]", hosts.iter().map(name).collect::<Vec<_>>().join(", "));
                match shape {
                    0 => text.push_str("mesh = [\"h.0\", \"h.2\", \"h.4\", \"h.5\"]\n"),
                    1 => text.push_str(&format!("disjoint = [{}, {}]\none-way = {extra}\n", names(&a), names(&b))),
                    _ => {
                        let pairs = list.iter().filter(|(from, to)| from != to).map(|(from, to)| names(&[*from, *to]));
                        text.push_str(&format!("list = [{}]\n", pairs.collect::<Vec<_>>().join(", ")));
                    }
                }
                if *in_network {
                    text.push_str("network = \"lan\"\n");
                }
                if *extra {
                    text.push_str("without = [[\"h.0\", \"h.2\"], [\"h.2\", \"h.4\"]]\n");
                }
            }
            for (number, (kind, amount, streams, family, every, flag)) in tests.iter().enumerate() {
                let group = number % groups.len();
                text.push_str(&format!("[[tests]]\nlabel = \"test {number}\"\ngroup = \"g{group}\"\n"));
                text.push_str(&match kind {
                    0 => format!("kind = \"tcp\"\ntime = \"{amount}s\"\nstreams = {streams}\nreverse = {flag}\n"),
                    1 => format!(
                        "kind = \"udp\"\ntime = \"{amount}s\"\nrate = \"{amount}Mbit/s\"\nomit = \"{streams}s\"\n"
                    ),
                    2 => format!("kind = \"ping\"\ncount = {amount}\ninterval = \"{streams}ms\"\n"),
                    3 => "kind = \"mtu\"\n".to_owned(),
                    _ => "kind = \"hops\"\n".to_owned(),
                });
                if let Some(family) = family {
                    text.push_str(&format!("family = \"ipv{}\"\n", 4 + 2 * family));
                }
                if let Some(every) = every {
                    text.push_str(&format!("every = \"{every}min\"\n"));
                }
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_plan_is_written_and_read_as_the_same_in_both_forms(text in text()) {
        let plan = match Plan::parse("p.toml", &text) {
            Ok(plan) => plan,
            Err(error) => {
                // A group may be left without a pair.
                prop_assert!(error.to_string().contains("no pair of hosts is left"), "{error}\n{text}");
                return Ok(());
            }
        };
        let again = Plan::parse("p.toml", &plan.to_toml());
        prop_assert!(again.as_ref().is_ok_and(|again| *again == plan), "{again:?}\n{}", plan.to_toml());
        let exported = plan.to_psconfig();
        prop_assert!(exported.remarks.is_empty(), "{:?}", exported.remarks);
        let template = exported.template.to_string();
        match Plan::from_psconfig("p.json", template.as_bytes()) {
            Ok(imported) => {
                prop_assert!(imported.remarks.is_empty(), "{:?}\n{template}", imported.remarks);
                prop_assert_eq!(pairs(&imported.plan), pairs(&plan));
            }
            Err(error) => prop_assert!(false, "{error}\n{template}"),
        }
    }

    #[test]
    fn a_damaged_template_is_refused_or_read(at in any::<prop::sample::Index>(), with in "[\\[\\]{}\",:0-9a-z]{0,6}", cut in 0..40_usize) {
        let mut bytes = TEMPLATE.to_vec();
        let at = at.index(bytes.len());
        bytes.splice(at..(at + cut).min(TEMPLATE.len()), with.bytes());
        if let Ok(imported) = Plan::from_psconfig("t.json", &bytes) {
            let again = Plan::parse("t.toml", &imported.plan.to_toml());
            prop_assert!(again.is_ok(), "{again:?}");
        }
    }
}

#[test]
fn a_label_that_no_address_has_makes_no_network() {
    let damaged = String::from_utf8(TEMPLATE.to_vec()).unwrap().replacen(r#""label": ""#, r#""label": "]"#, 1);
    let imported = Plan::from_psconfig("t.json", damaged.as_bytes()).unwrap();
    assert!(imported.remarks.iter().any(|remark| remark.to_string().contains("has no such label")));
    assert!(imported.plan.networks.iter().all(|network| !network.name.starts_with(']')));
}

/// The page of the format: its examples together are a plan.
#[test]
fn the_examples_of_the_page_are_read() {
    let page = include_str!("../../../../docs/formats/plan.md");
    let examples: String = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let east = "[hosts.dtn-east]\naddress = \"dtn.east.example.org\"\n[hosts.border-east]\nforwards = true\n";
    let plan = Plan::parse("page.toml", &format!("title = \"t\"\n{examples}\n{east}"))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((plan.tests.len(), plan.expectations.len()), (1, 1));
    assert_eq!((plan.budgets.len(), plan.maintenance.len()), (1, 2));
    assert_eq!(Plan::parse("again.toml", &plan.to_toml()).unwrap(), plan);
}
