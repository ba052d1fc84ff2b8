//! What is refused, with the place and the hint.

use std::collections::BTreeSet;

use scenario::library::load;
use scenario::{Limits, Need, Scenario, ScenarioError};
use units::DataRate;

/// Two hosts, a router between them, and a test.
const GOOD: &str = r#"title = "t"
about = "a"
[hosts.a]
[hosts.r]
forwards = true
[hosts.b]
[[links]]
name = "left"
between = ["a", "r"]
[[links]]
name = "right"
between = ["r", "b"]
both = [{ port = { rate = "1Gbit/s", queue = { bytes = "1MB" } } }, { delay = { time = "5ms" } }]
[[tests]]
kind = "tcp"
from = "a"
to = "b"
start = "0s"
time = "5s"
[truth]
healthy = true
"#;

fn told(error: &ScenarioError) -> String {
    let hints = error.hints().into_iter().map(|hint| format!("\n  hint: {hint}"));
    format!("{error}{}", hints.collect::<String>())
}

/// What is said about the good file with `new` in the place of `old`.
fn refusal(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    let error = Scenario::parse("net.toml", &GOOD.replacen(old, new, 1)).unwrap_err();
    told(&error)
}

#[test]
fn each_mistake_is_told_with_its_place_and_a_hint() {
    Scenario::parse("net.toml", GOOD).unwrap();
    let two = "[hosts.a]\naddress = \"10.9.9.9\"\n[hosts.r]\naddress = \"10.9.9.9\"\n";
    let circle = "[[routes]]\nhost = \"r\"\nto = [\"b\"]\nvia = \"a\"\n[[routes]]\nhost = \"a\"\nto = [\"b\"]\nvia = \"r\"\n[truth]";
    let late = "[[faults]]\nid = \"f\"\nlink = \"right\"\nfrom = \"9s\"\nadd = { loss = { random = 0.1 } }\n[truth]";
    let cases = [
        ("not TOML", refusal("title = \"t\"", "title = t")),
        ("unknown key", refusal("forwards = true", "forward = true")),
        ("unknown key of an element", refusal("rate =", "rat =")),
        (
            "unknown key inside of a kind",
            refusal("{ delay = { time = \"5ms\" } }", "{ loss = { bursty = { to_bad = 0.1 } } }"),
        ),
        ("unknown element", refusal("{ delay = { time = \"5ms\" } }", "{ dely = { time = \"5ms\" } }")),
        ("no unit", refusal("\"5ms\"", "\"5\"")),
        ("a setting that cannot be", refusal("\"1Gbit/s\"", "\"0Gbit/s\"")),
        ("unknown host", refusal("between = [\"r\", \"b\"]", "between = [\"r\", \"bb\"]")),
        ("two of one address", refusal("[hosts.a]\n[hosts.r]\n", two)),
        ("no host name", refusal("[hosts.a]\n", "[hosts.a]\n[hosts.DTN_1]\n")),
        ("no route", refusal("forwards = true\n", "")),
        ("a circle", refusal("[truth]", circle)),
        ("a fault that nobody sees", refusal("[truth]", late)),
        ("a key of another kind", refusal("time = \"5s\"", "count = 5")),
        ("a family that nobody speaks", {
            let one = GOOD.replacen("about", "families = [\"ipv4\"]\nabout", 1);
            told(&Scenario::parse("net.toml", &one.replacen("start =", "family = \"ipv6\"\nstart =", 1)).unwrap_err())
        }),
        ("a setting of the machine", refusal("[hosts.b]\n", "[hosts.b]\nsysctl = { \"net.core.rmem_max\" = 1 }\n")),
        ("unknown cause", refusal("healthy = true", "[[truth.causes]]\nid = \"random-lost\"\nhost = \"a\"")),
        ("several at once", refusal("to = \"b\"\nstart = \"0s\"", "to = \"c\"\nstream = 3")),
        ("neither file nor name", told(&load("healthy-land").unwrap_err())),
    ];
    let text: Vec<String> = cases.into_iter().map(|(what, told)| format!("{what}\n{told}\n")).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn a_fault_hangs_on_hardware_that_its_host_shows() {
    let refused = |condition: &str| {
        let facts = "[hosts.b.facts.interfaces.right]\nrings = { rx = 256 }\n";
        let fault = "[[faults]]\nid = \"f\"\nlink = \"right\"\nadd = { loss = { random = 0.1 } }\n";
        refusal("[truth]", &format!("{facts}{fault}{condition}\n[truth]"))
    };
    let on = |what: &str| format!("while = {{ host = \"b\", interface = \"right\", {what} }}");
    let unrecorded = refused(&on("feature = \"rx-gro-hw\""));
    let expected = "the fault hangs on hosts.b.facts.interfaces.right.features.rx-gro-hw.active, which is not recorded";
    assert!(unrecorded.contains(expected) && unrecorded.contains("hint: what a namespace cannot"), "{unrecorded}");
    let ring = refused(&on("ring = \"rx\""));
    assert!(ring.contains("or on a `ring` that is `below` a number of entries"), "{ring}");
    let timed = refused(&format!("from = \"1s\"\n{}", on("ring = \"rx\", below = 512")));
    assert!(timed.contains("either by `from` and `until` or by `while`"), "{timed}");
    let elsewhere = refused("while = { host = \"b\", interface = \"left\", feature = \"x\" }");
    assert!(elsewhere.contains("link `left` does not end at `b`"), "{elsewhere}");
}

#[test]
fn a_fact_that_no_host_shows_is_refused() {
    let refused = |facts: &str| refusal("[truth]", &format!("[hosts.b.facts.interfaces.right]\n{facts}\n[truth]"));
    let counter = refused("counters = { rx_mised_errors = 7 }");
    assert!(
        counter.contains("the kernel has no `rx_mised_errors`") && counter.contains("rx_missed_errors"),
        "{counter}"
    );
    let ring = refused("rings = { rx = 256, rx_mx = 4096 }");
    assert!(ring.contains("rings.rx_mx: unknown fact `rx_mx`"), "{ring}");
    let kind = refused("driver_counter = { rx_discards = 7 }");
    assert!(kind.contains("unknown field `driver_counter`"), "{kind}");
}

#[test]
fn the_machine_has_its_say() {
    let scenario = load("nrao-overlay-offload").unwrap();
    assert!(scenario.needs().contains(&Need::Vxlan) && !scenario.needs().contains(&Need::Vlan));
    let limits = |rate, lacking: &[Need]| Limits {
        rate: DataRate::from_bps(rate),
        packets_per_second: 10_000,
        lacking: lacking.iter().cloned().collect::<BTreeSet<_>>(),
    };
    let fast = scenario.check(&limits(500_000_000, &[])).unwrap_err();
    assert!(told(&fast).contains("more than the relay carries on this machine"), "{}", told(&fast));
    assert!(told(&fast).contains("tests[1]"), "{}", told(&fast));
    let lacking = Scenario::parse("net.toml", GOOD).unwrap().check(&limits(u64::MAX, &[Need::Ipv6])).unwrap_err();
    assert!(told(&lacking).contains("this machine lacks IPv6"), "{}", told(&lacking));
    let overlay = scenario.check(&limits(u64::MAX, &[Need::Vxlan])).unwrap_err();
    assert!(told(&overlay).contains("overlays[0].kind: this machine lacks VXLAN devices"), "{}", told(&overlay));
}

#[test]
fn a_network_of_vlans_is_read_and_left_to_the_machine() {
    let overlay = "[[overlays]]\nkind = \"vlan\"\nname = \"v96\"\nhosts = [\"a\", \"b\"]\nid = 96\n[truth]";
    let scenario = Scenario::parse("net.toml", &GOOD.replacen("[truth]", overlay, 1)).unwrap();
    assert!(scenario.needs().contains(&Need::Vlan));
}

#[test]
fn a_file_that_is_too_long_is_not_read() {
    let long = format!("{GOOD}\n# {}", "x".repeat(300_000));
    assert!(matches!(Scenario::parse("net.toml", &long), Err(ScenarioError::TooLarge { .. })));
}
