//! A roll-out over several hosts, which are network namespaces here; a script stands in for ssh.

use audit::fix::report::{Outcome, RollOut};

use crate::actors::world::World;

/// Stands in for ssh: enters the namespace whose process is in `$F/HOST.pid`, and has a journal of the host's own.
const STAND_IN: &str = r#"#!/bin/sh
F=$(dirname "$0"); host=$1
export XDG_STATE_HOME=$F/state-$host LINERATE_ARCHIVE=$F/$host.db
exec nsenter --net=/proc/$(cat $F/$host.pid)/ns/net unshare -m sh -c "mount -t sysfs sysfs /sys; $2"
"#;

/// Hosts with a slow loopback, and a partner on those that `serving` names.
fn world(hosts: &[&str], serving: &[&str]) -> World {
    let mut world = World::new();
    std::fs::write(world.folder.path().join("reach"), STAND_IN).unwrap();
    world.run("chmod +x $F/reach; mkfifo $F/hold; sleep infinity > $F/hold &");
    for host in hosts {
        world.run(&format!(
            "mkfifo $F/{host}.made; unshare -n sh -c 'ip link set lo up; \
             tc qdisc add dev lo root handle 7: tbf rate 30mbit burst 256kb limit 3000000; \
             echo $$ > $0/{host}.pid; echo > $0/{host}.made; read end' $F < $F/hold & read made < $F/{host}.made"
        ));
    }
    for host in serving {
        world.run(&format!(
            "mkfifo $F/{host}.talk; nsenter --net=/proc/$(cat $F/{host}.pid)/ns/net $L serve --port 5299 --no-archive \
             > /dev/null 2> $F/{host}.talk & exec 9< $F/{host}.talk; \
             while read line <&9; do case \"$line\" in *'listening on'*) break;; esac; done"
        ));
    }
    let plan = "[[steps]]\nlink = \"lo\"\noperation = { no-qdisc = {} }\n";
    std::fs::write(world.folder.path().join("plan.toml"), plan).unwrap();
    world
}

fn roll_out(world: &mut World, hosts: &str) -> RollOut {
    world.document(&format!(
        "host fix $F/plan.toml --json --ssh $F/reach --remote-program $L --hosts {hosts} \
         --verify 'linerate test 127.0.0.1 --port 5299 --time 200ms --probe-every 0s'"
    ))
}

fn is_shaped(world: &mut World, host: &str) -> bool {
    world.run(&format!("nsenter --net=/proc/$(cat $F/{host}.pid)/ns/net tc qdisc show dev lo")).contains("tbf 7:")
}

#[test]
fn each_stage_begins_after_the_proof_of_the_one_before_and_a_host_without_proof_ends_it() {
    let mut world = world(&["a", "b", "c"], &["a", "c"]);
    let done = roll_out(&mut world, "a then b then c");
    let kept = done.stages[0].hosts[0].report.as_ref().unwrap();
    assert_eq!(kept.outcome, Outcome::Kept, "{done:?}");
    let (host, reason) = done.stopped().unwrap();
    assert_eq!(host, "b");
    assert!(reason.contains("the test without the fix failed"), "{reason}");
    assert_eq!(done.untouched, ["c"]);
    assert_eq!(["a", "b", "c"].map(|host| is_shaped(&mut world, host)), [false, true, true]);
    // Each host has its own journal.
    let undone = world.run("$F/reach a \"$L host undo\"");
    assert!(undone.contains("is undone"), "{undone}");
    assert!(is_shaped(&mut world, "a"));
}

#[test]
fn a_host_that_cannot_be_reached_is_named() {
    let mut world = world(&["a"], &[]);
    let done = roll_out(&mut world, "nowhere,a");
    assert_eq!(done.stopped().unwrap().0, "nowhere");
    assert_eq!(done.untouched, ["a"]);
    assert!(is_shaped(&mut world, "a"));
}

#[test]
fn a_dry_run_shows_each_host_and_a_host_that_hangs_is_left_after_its_time() {
    let mut world = world(&["a", "b"], &[]);
    let (said, code) =
        world.ends("$L host fix $F/plan.toml --dry-run --ssh $F/reach --remote-program $L --hosts a then b");
    assert!(code == 0 && said.contains("a:") && said.contains("b:"), "{code}: {said}");
    assert_eq!(["a", "b"].map(|host| is_shaped(&mut world, host)), [true, true]);
    std::fs::write(world.folder.path().join("hang"), "#!/bin/sh\nexec sleep 600\n").unwrap();
    let (said, code) = world.ends("chmod +x $F/hang; $L host fix $F/plan.toml --ssh $F/hang --patience 1s --hosts a --verify 'linerate test 127.0.0.1'");
    assert!(code == 3 && said.contains("no connection within 1.00 s"), "{code}: {said}");
    std::fs::write(
        world.folder.path().join("refuse"),
        "#!/bin/sh\necho 'ssh: Could not resolve hostname a' >&2; exit 255\n",
    )
    .unwrap();
    let (said, code) = world.ends(
        "chmod +x $F/refuse; $L host fix $F/plan.toml --ssh $F/refuse --hosts a --verify 'linerate test 127.0.0.1'",
    );
    assert!(code == 3 && said.contains("ssh: Could not resolve hostname a"), "{code}: {said}");
}
