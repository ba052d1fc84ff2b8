//! A fix that has to prove itself: tests without and with it in alternation.

use std::path::Path;

use audit::fix::report::{Outcome, Verdict};

use crate::actors::world::World;

/// A host with a partner that listens on its loopback.
fn world_with_partner() -> World {
    let mut world = World::new();
    world.run(
        "mkfifo $F/serving; $L serve --port 5299 --no-archive > /dev/null 2> $F/serving & echo $! > $F/server; \
         exec 9< $F/serving; while read line <&9; do case \"$line\" in *'listening on'*) break;; esac; done",
    );
    world
}

fn plan(world: &World, operation: &str) {
    let text = format!("[[steps]]\nlink = \"lo\"\noperation = {operation}\n");
    std::fs::write(world.folder.path().join("plan.toml"), text).unwrap();
}

const TEST: &str = "--verify 'linerate test 127.0.0.1 --port 5299 --time 200ms --probe-every 0s'";
const SHAPER: &str = "tc qdisc add dev lo root handle 7: tbf rate 30mbit burst 256kb limit 3000000";

#[test]
fn a_fix_that_gains_is_kept_with_both_series_in_the_archive() {
    let mut world = world_with_partner();
    world.run(SHAPER);
    plan(&world, "{ no-qdisc = {} }");
    let fixed = world.fix(&format!("$F/plan.toml --yes {TEST}"));
    assert_eq!(fixed.outcome, Outcome::Kept, "{}", world.said());
    let proof = fixed.verification.unwrap();
    assert_eq!((proof.verdict, proof.before.runs.len(), proof.after.runs.len()), (Verdict::Gain, 5, 5));
    assert!(proof.p_two_sided <= 0.05 && proof.shift > 0.0, "{proof:?}");
    assert!(!world.run("tc qdisc show dev lo").contains("tbf"));
    let kept = world.run("$L runs list --json");
    for run in proof.before.runs.iter().chain(&proof.after.runs) {
        assert!(kept.contains(&run.to_string()), "{run} is not in the archive");
    }
    let shown = world.run("$L host fix --list");
    assert_eq!(shown.lines().filter(|line| line.contains(" kept ")).count(), 1, "{shown}");
    world.run("$L host undo");
    assert!(world.run("tc qdisc show dev lo").contains("tbf 7:"));
    world.run("kill $(cat $F/server)");
}

#[test]
fn a_fix_that_costs_rate_is_taken_back() {
    let mut world = world_with_partner();
    let before = world.settings();
    plan(&world, "{ qdisc = { parent = \"root\", kind = \"tbf\", options = \"rate 30mbit burst 256kb limit 3mb\" } }");
    let fixed = world.fix(&format!("$F/plan.toml --yes {TEST}"));
    assert!(matches!(fixed.outcome, Outcome::TakenBack { .. }), "{:?}", fixed.outcome);
    assert_eq!(fixed.verification.unwrap().verdict, Verdict::Loss);
    assert_eq!(world.settings(), before);
    world.run("kill $(cat $F/server)");
}

#[test]
fn a_test_that_fails_proves_nothing() {
    let mut world = World::new();
    let before = world.settings();
    plan(&world, "{ mtu = { bytes = \"1400\" } }");
    let fixed = world.fix(&format!("$F/plan.toml --yes {TEST}"));
    let Outcome::TakenBack { because } = fixed.outcome else { panic!("{:?}", fixed.outcome) };
    assert!(because.contains("the test without the fix failed"), "{because}");
    assert_eq!(world.settings(), before);
}

#[test]
fn any_program_may_decide_by_its_number_or_by_its_success() {
    let mut world = World::new();
    world.run("echo 1 > /proc/sys/net/ipv4/tcp_ecn");
    // A transfer that takes 3 s with ECN and 1 s without, and one that fails with it.
    world.run("printf '%s\\n' '#!/bin/sh' 'if [ $(cat /proc/sys/net/ipv4/tcp_ecn) = 1 ]; then echo took 3.1 s; else echo took 1.1 s; fi' > $F/transfer; printf '%s\\n' '#!/bin/sh' '[ $(cat /proc/sys/net/ipv4/tcp_ecn) = 2 ]' > $F/works; chmod +x $F/transfer $F/works");
    let plan = "[[steps]]\noperation = { sysctl = { key = \"net.ipv4.tcp_ecn\", value = \"2\" } }\n";
    std::fs::write(world.folder.path().join("plan.toml"), plan).unwrap();
    let folder = world.folder.path().display().to_string();
    let cost = world.fix(&format!("$F/plan.toml --yes --verify {folder}/transfer --less-is-better"));
    assert_eq!(cost.outcome, Outcome::Kept, "{cost:?}");
    assert_eq!(cost.verification.unwrap().shift, -2.0);
    world.run("$L host undo");
    // The same number, where more is better: it is a loss.
    let rate = world.fix(&format!("$F/plan.toml --yes --verify {folder}/transfer"));
    assert!(matches!(rate.outcome, Outcome::TakenBack { .. }), "{rate:?}");
    let success = world.fix(&format!("$F/plan.toml --yes --verify {folder}/works"));
    assert_eq!(success.outcome, Outcome::Kept, "{success:?}");
}

#[test]
fn what_a_transfer_prints_counts_in_its_unit_and_one_that_never_works_decides_nothing() {
    let mut world = World::new();
    world.run("echo 1 > /proc/sys/net/ipv4/tcp_ecn");
    let plan = "[[steps]]\noperation = { sysctl = { key = \"net.ipv4.tcp_ecn\", value = \"2\" } }\n";
    let folder = world.folder.path().to_owned();
    std::fs::write(folder.join("plan.toml"), plan).unwrap();
    let choose = |slow: &str, fast: &str| {
        format!("#!/bin/sh\nif [ $(cat /proc/sys/net/ipv4/tcp_ecn) = 1 ]; then {slow}; else {fast}; fi\n")
    };
    let bar = |rate: &str| format!("printf '[9GB/9GB][100%%][==][{rate}]\\r' >&2");
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foreign");
    let json = |name: &str| format!("cat {}/iperf3-3.12-{name}.json", recorded.display());
    let programs = [
        // As xrdcp shows its progress.
        ("bar", choose(&bar("941.0MB/s"), &bar("1.2GB/s")), 941.0),
        // 14.6 Gbit/s behind it, with other CPU use in both.
        ("json", choose(&json("tcp"), &json("tcp-reverse-server-json")), 7_581_349_811.0),
    ];
    for (name, script, before) in programs {
        std::fs::write(folder.join(name), script).unwrap();
        world.run(&format!("chmod +x $F/{name}"));
        let fixed = world.fix(&format!("$F/plan.toml --yes --verify {}", folder.join(name).display()));
        assert_eq!(fixed.outcome, Outcome::Kept, "{name}: {fixed:?}");
        assert_eq!(fixed.verification.unwrap().before.median, before, "{name}");
        world.run("$L host undo");
    }
    std::fs::write(folder.join("never"), "#!/bin/sh\necho no credentials >&2; exit 3\n").unwrap();
    world.run("chmod +x $F/never");
    let fixed = world.fix(&format!("$F/plan.toml --yes --verify {}", folder.join("never").display()));
    let Outcome::TakenBack { because } = fixed.outcome else { panic!("{:?}", fixed.outcome) };
    assert!(because.contains("decides nothing: no credentials"), "{because}");
}
