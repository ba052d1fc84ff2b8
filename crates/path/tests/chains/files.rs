//! Elements as they are written in files, and what is said where they cannot be.

use path::{Chain, ElementSpec, Seed};

use crate::support::{at, stages};

/// One of each kind, with all its settings.
const ALL: &str = r#"chain = [
    { port = { rate = "10Gbit/s", queue = { bytes = "20MB", packets = 4000, mark-above = "1MB" }, cross = { packet-bytes = 9014,
        dscp = 8, bursts = [{ rate = "4Gbit/s", start = "1s", length = "25ms", period = "1s", jitter = "10ms" }] } } },
    { port = { rate = "10Gbit/s", queue = { red = { min = "1MB", max = "3MB", probability = 0.1, weight = 0.002,
        gentle = true, ecn = true } } } },
    { port = { rate = "10Gbit/s", queue = { codel = { target = "5ms", interval = "100ms", ecn = true } } } },
    { classes = { rate = "10Gbit/s", expedited = { queue = { bytes = "128kB" } }, best-effort = { weight = 9 },
        scavenger = { weight = 1, dscp = [8] }, cross = [{ dscp = 46, bursts = [{ rate = "1Gbit/s" }] }] } },
    { shaper = { rate = "1Gbit/s", burst = "128kB", queue = { bytes = "1MB" } } },
    { policer = { rate = "1Gbit/s", burst = "128kB", remark = 8 } },
    { delay = { time = "50ms", jitter = "1ms", order = "free" } },
    { loss = { random = 0.0001 } },
    { loss = { every-nth = 1000 } },
    { loss = { bursty = { to-bad = 0.001, to-good = 0.1, loss-in-bad = 0.5, loss-in-good = 0.0 } } },
    { loss = { large = { above = 1514, probability = 0.01 } } },
    { loss = { member = { of = 4, bad = 2, probability = 0.01 } } },
    { reorder = { probability = 0.01, time = "1ms" } },
    { reorder = { every-nth = 100, time = "1ms" } },
    { duplicate = { probability = 0.01 } },
    { corrupt = { probability = 0.01 } },
    { mtu = { bytes = 1500, report = "silent" } },
    { firewall = { packets-per-second = 100000, queue = { packets = 64 }, inspects = "tcp", strips-window-scale = true } },
    { conntrack = { forgets-after = "300s", flows = 1000 } },
    { ecn = "bleach" },
    { ecn = "mark-all" },
    { ecn = "drop-capable" },
    { merger = { window = "50us", tunnelled-only = true, mtu = 1500 } },
]"#;

#[test]
fn every_element_is_read_with_all_its_settings() {
    let stages = stages(ALL);
    let mut kinds: Vec<&str> = stages.iter().map(|stage| stage.spec.kind()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 14, "{kinds:?}");
    Chain::new(&stages, Seed(1), at(0)).unwrap();
}

#[test]
fn every_example_of_the_documentation_is_read() {
    let page = include_str!("../../../../docs/path.md");
    let examples: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let stages: Vec<_> = examples.iter().flat_map(|text| stages(text)).collect();
    Chain::new(&stages, Seed(1), at(0)).unwrap();
    let mut kinds: Vec<&str> = stages.iter().map(|stage| stage.spec.kind()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 14, "an example of each: {kinds:?}");
}

#[test]
fn settings_that_no_element_can_have_are_refused_by_name_and_with_what_is_possible() {
    for (text, message) in REFUSED {
        let spec: ElementSpec = toml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spec.check().unwrap_err().to_string(), *message, "{text}");
    }
}

const REFUSED: &[(&str, &str)] = &[
    (r#"port = { rate = "0bit/s" }"#, "`rate` of `port` is zero; it has to be more"),
    (
        r#"port = { rate = "1Gbit/s", queue = { mark-above = "1MB", codel = {} } }"#,
        "`queue` has more than one of `mark-above`, `red` and `codel`; it can have one",
    ),
    (
        r#"port = { rate = "1Gbit/s", queue = { red = { min = "2MB", max = "1MB" } } }"#,
        "`min` of `red` has to be below `max`",
    ),
    (
        r#"port = { rate = "1Gbit/s", cross = { bursts = [{ rate = "1Gbit/s", period = "1s" }] } }"#,
        "a burst of `cross` that has a `period` needs a `length` that, with `jitter`, fits into it",
    ),
    ("loss = { random = 1.5 }", "`random` of `loss` is 1.5; it lies between 0 and 1 (a loss of 1 % is 0.01)"),
    (
        "loss = { member = { of = 4, bad = 4, probability = 1.0 } }",
        "`bad` of `loss` is 4; 4 members are numbered from 0 to 3",
    ),
    (r#"delay = { time = "11s" }"#, "`time` of `delay` is too long; 10s is the most"),
    (
        r#"policer = { rate = "1Gbit/s", burst = "1kB" }"#,
        "`burst` of `policer` is 1.00 kB; it has to hold a packet, so at least 1514 B",
    ),
    (
        r#"policer = { rate = "1Gbit/s", burst = "9kB", remark = 64 }"#,
        "`remark` of `policer` is 64; a class of service is 0 to 63",
    ),
    (
        r#"classes = { rate = "1Gbit/s", expedited = {}, scavenger = { dscp = [46] } }"#,
        "`dscp` 46 of `classes` belongs to two of them; write for one which others it has, as `dscp = [...]`",
    ),
    (r#"reorder = { time = "1ms" }"#, "`reorder` needs one of `probability` and `every-nth`, and not both"),
    (
        r#"conntrack = { forgets-after = "1s", flows = 2000000 }"#,
        "`flows` of `conntrack` is too large; 1048576 is the most",
    ),
];

#[test]
fn unknown_keys_and_values_are_refused_with_those_that_are_known() {
    let message = |text: &str| toml::from_str::<ElementSpec>(text).unwrap_err().message().to_owned();
    assert_eq!(
        message(r#"policer = { rate = "1Gbit/s", brust = "9kB" }"#),
        "unknown field `brust`, expected one of `rate`, `burst`, `remark`"
    );
    assert_eq!(
        message(r#"ecn = "clear""#),
        "unknown variant `clear`, expected one of `bleach`, `mark-all`, `drop-capable`"
    );
    assert!(message("magic = {}").starts_with("unknown variant `magic`, expected one of `port`, `classes`, `shaper`"));
}
