//! A fix that has to prove itself: tests without and with it in alternation.

use audit::fix::report::{Outcome, Verdict};

use super::world::World;

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
    assert!(proof.p_two_sided <= 0.05 && proof.shift_bps > 0, "{proof:?}");
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
