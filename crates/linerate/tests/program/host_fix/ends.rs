//! How a fix ends: kept, not confirmed, called off, refused.

use std::io::Write;
use std::process::{Command, Stdio};

use audit::fix::report::{FixReport, Outcome};
use model::host::change::{ChangeSource, LoggedChange};

use crate::actors::world::World;

fn ecn(world: &mut World) -> String {
    world.run("cat /proc/sys/net/ipv4/tcp_ecn")
}

/// A host with ECN asked for, which a rule names.
fn world() -> World {
    let mut world = World::new();
    world.run("sysctl -qw net.ipv4.tcp_ecn=1");
    world
}

#[test]
fn without_anybody_to_ask_nothing_is_changed() {
    let mut world = world();
    let (said, code) = world.ends("$L host fix TCP-ECN-ACTIVE --role sender < /dev/null");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("--yes confirms it over a new connection"), "{said}");
    assert_eq!((ecn(&mut world), world.run("$L host fix --list")), ("1".into(), "no fix was ever applied here".into()));
}

#[test]
fn yes_keeps_it_no_takes_it_back_and_so_do_silence_and_a_signal() {
    for (answer, kept) in [("echo y", true), ("echo n", false), (":", false)] {
        let mut world = world();
        let asked = format!("host fix TCP-ECN-ACTIVE --role sender --ask --json <<X\n$({answer})\nX");
        let report: FixReport = world.document(&asked);
        assert_eq!(report.outcome == Outcome::Kept, kept, "{answer}: {:?}", report.outcome);
        assert_eq!(ecn(&mut world), if kept { "2" } else { "1" });
    }
    let mut world = world();
    // Somebody who holds the line and says nothing.
    let silent = "mkfifo $F/line; sleep infinity > $F/line & holder=$!; \
                  $L host fix TCP-ECN-ACTIVE --role sender --ask --confirm-within 1s --json < $F/line; code=$?; \
                  kill $holder; (exit $code)";
    let (printed, code) = world.ends(silent);
    assert!(code == 11 && printed.contains("nobody confirmed it within"), "{code}: {printed}");
    assert_eq!(ecn(&mut world), "1");
}

#[test]
fn a_signal_while_it_waits_takes_it_back() {
    let mut world = world();
    world.run("mkfifo $F/line $F/talk; sleep infinity > $F/line &");
    world.run(
        "$L host fix TCP-ECN-ACTIVE --role sender --ask --confirm-within 10min < $F/line 2> $F/talk > $F/out & \
         echo $! > $F/fixing",
    );
    // The question comes once it is applied.
    world.run("while read line; do case \"$line\" in *'[y/N]') break;; esac; done < $F/talk");
    assert_eq!(ecn(&mut world), "2");
    let (_, code) = world.ends("kill -INT $(cat $F/fixing); wait $(cat $F/fixing)");
    assert_eq!(code, 11, "{}", world.run("cat $F/out"));
    assert_eq!(ecn(&mut world), "1");
}

#[test]
fn a_plan_whose_second_step_fails_leaves_the_first_undone() {
    let mut world = world();
    let plan = "[[steps]]\noperation = { sysctl = { key = \"net.ipv4.tcp_ecn\", value = \"2\" } }\n\
                [[steps]]\nlink = \"nonesuch\"\noperation = { mtu = { bytes = \"1400\" } }\n";
    std::fs::write(world.folder.path().join("plan.toml"), plan).unwrap();
    let (said, code) = world.ends("$L host fix $F/plan.toml --yes");
    assert!(code != 0 && said.contains("nonesuch"), "{code}: {said}");
    assert_eq!(ecn(&mut world), "1");
}

#[test]
fn what_the_audit_prints_is_a_plan_and_what_a_dry_run_prints_is_one_too() {
    let mut world = world();
    world.run("$L host audit --role sender --json --fail-on never > $F/found.json");
    let shown = world.fix("$F/found.json --dry-run");
    assert_eq!((shown.outcome, shown.plan.rules()), (Outcome::Planned, vec!["TCP-ECN-ACTIVE"]));
    world.run("$L host fix $F/found.json --dry-run --json > $F/plan.json");
    let fixed = world.fix("$F/plan.json --yes --reason 'ticket 7'");
    assert_eq!((fixed.outcome, fixed.changes.len(), ecn(&mut world).as_str()), (Outcome::Kept, 1, "2"));
    let log = world.run("$L host log --json");
    let logged: Vec<LoggedChange> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let entry = &logged.last().unwrap().entry;
    assert_eq!((entry.fact.as_str(), entry.source), ("net.ipv4.tcp_ecn", ChangeSource::Fix));
    assert_eq!((entry.old.as_deref(), entry.new.as_deref()), (Some("1"), Some("2")));
    assert!(entry.notes[0].text.contains("TCP-ECN-ACTIVE") && entry.notes[0].text.contains("ticket 7"), "{entry:?}");
}

#[test]
fn slips_are_told_with_the_way_out() {
    let mut world = world();
    let cases = [
        ("NONESUCH --dry-run", 9, "there is no rule `NONESUCH`"),
        ("nonesuch.toml --dry-run", 9, "cannot read nonesuch.toml"),
        ("BUF-RMEM-BDP --role receiver --dry-run", 2, "whether BUF-RMEM-BDP fires here is not known"),
        ("TCP-ECN-ACTIVE --yes --role sender --verify 'nonesuch-program x'", 11, "cannot be started"),
        ("TCP-ECN-ACTIVE --yes --verify 'linerate serve'", 2, "is no `linerate test`"),
        ("TCP-ECN-ACTIVE --yes --verify 'linerate test a; true'", 2, "none runs here"),
        ("TCP-ECN-ACTIVE --yes --verify 'linerate test a' --pairs 3", 2, "--pairs 4"),
        ("TCP-ECN-ACTIVE --hosts a,b", 2, "--verify"),
        ("TCP-ECN-ACTIVE --verify 'linerate test a' --hosts a then", 2, "the last stage of --hosts has no host"),
        ("TCP-ECN-ACTIVE --helper /nonesuch --yes --role sender", 8, "/nonesuch"),
    ];
    for (arguments, expected, words) in cases {
        let (said, code) = world.ends(&format!("$L host fix {arguments}"));
        assert_eq!(code, expected, "{arguments}: {said}");
        assert!(said.contains(words), "{arguments}: {said}");
    }
    let (said, code) = world.ends("$L host undo 77");
    assert!(code == 9 && said.contains("77"), "{code}: {said}");
    assert_eq!(ecn(&mut world), "1");
}

#[test]
fn who_may_change_nothing_is_told_who_may_and_may_still_look() {
    // As an ordinary user: without a capability, and with no helper.
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", env!("CARGO_BIN_EXE_linerate")]);
    command.args(["host", "fix", "-", "--yes"]).env("XDG_STATE_HOME", folder.path()).env_remove("LINERATE_HELPER");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = linux::netns::isolate(&mut command).spawn().unwrap();
    let plan = b"{\"steps\":[{\"operation\":{\"sysctl\":{\"key\":\"net.ipv4.tcp_ecn\",\"value\":\"2\"}}}]}";
    child.stdin.take().unwrap().write_all(plan).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(8), "{said}");
    assert!(said.contains("as root") && said.contains("linerate helper --group"), "{said}");
}

#[test]
fn a_plan_of_another_host_or_namespace_is_refused_unless_it_is_wanted() {
    let mut world = world();
    world.run("$L host audit --role sender --json --fail-on never --counters-over 0s > $F/found.json");
    world.run(
        "sed 's/\"made_for\":{\"name\":\"[^\"]*\"/\"made_for\":{\"name\":\"other\"/' $F/found.json > $F/other.json",
    );
    let (said, code) = world.ends("$L host fix $F/other.json --yes");
    assert!(code == 2 && said.contains("it was made for other"), "{code}: {said}");
    let (said, code) = world.ends("unshare -n $L host fix $F/found.json --yes");
    assert!(code == 2 && said.contains("another network namespace"), "{code}: {said}");
    assert_eq!(ecn(&mut world), "1");
    assert_eq!(world.fix("$F/other.json --yes --any-host").outcome, Outcome::Kept);
}

#[test]
fn a_fix_that_changes_nothing_is_told_as_one() {
    let mut world = world();
    world.run("ip link add dev mq0 numtxqueues 2 numrxqueues 2 type veth peer name mq1; ip link set mq0 up; tc qdisc replace dev mq0 root mq");
    let plan = "[[steps]]\nlink = \"mq0\"\noperation = { qdisc = { parent = \"root\", kind = \"mq\" } }\n";
    std::fs::write(world.folder.path().join("mq.toml"), plan).unwrap();
    let report = world.fix("$F/mq.toml --yes");
    assert_eq!(report.outcome, Outcome::AlreadySo, "{report:?}");
    let (said, _) = world.ends("$L host fix --list");
    assert!(said.contains("changed nothing"), "{said}");
}

#[test]
fn looking_at_the_journal_changes_nothing_and_an_undo_after_a_crash_says_what_it_did() {
    let mut world = world();
    world.run("mkfifo $F/helping; $L helper --socket $F/state/linerate/fixes/helper.sock --state $F/state/linerate/fixes 2> $F/helping & exec 7< $F/helping; read line <&7");
    let plan = "[[steps]]\noperation = { sysctl = { key = \"net.ipv4.tcp_ecn\", value = \"2\" } }\n";
    std::fs::write(world.folder.path().join("plan.toml"), plan).unwrap();
    // Applied, and nobody there to take it back.
    world.run("mkfifo $F/never; ($L host fix $F/plan.toml --ask --confirm-within 1h < $F/never > $F/out 2>&1 & echo $! > $F/fixing); exec 6> $F/never; until $L host fix --list | grep -q 'waits to be confirmed'; do :; done");
    assert_eq!(ecn(&mut world), "2");
    world.run("kill -9 $(cat $F/fixing); kill -9 $!; wait $! 2>/dev/null || true");
    let (said, code) = world.ends("$L host fix --list");
    assert!(code == 0 && said.contains("waits to be confirmed"), "{code}: {said}");
    assert_eq!(ecn(&mut world), "2", "looking has changed nothing");
    let (said, code) = world.ends("$L host undo");
    assert!(code == 0 && said.contains("is undone") && said.contains("net.ipv4.tcp_ecn"), "{code}: {said}");
    assert_eq!(ecn(&mut world), "1");
    let (said, code) = world.ends("$L host undo");
    assert!(code == 9 && said.contains("nothing to undo"), "{code}: {said}");
}

#[test]
fn a_rate_in_bytes_is_refused_with_the_rate_in_bits() {
    let mut world = world();
    let plan = "[[steps]]\nlink = \"lo\"\noperation = { qdisc = { parent = \"root\", kind = \"tbf\", options = \"rate 900mbps burst 1mb limit 3mb\" } }\n";
    std::fs::write(world.folder.path().join("plan.toml"), plan).unwrap();
    let (said, code) = world.ends("$L host fix $F/plan.toml --dry-run");
    assert!(code == 2 && said.contains("900mbit"), "{code}: {said}");
}

#[test]
fn a_playbook_of_ansible_holds_the_fix() {
    let mut world = world();
    let text = world.run("$L host fix TCP-ECN-ACTIVE --role sender --ansible");
    assert!(text.contains("ansible.posix.sysctl:\n        name: \"net.ipv4.tcp_ecn\"\n        value: \"2\""), "{text}");
    assert_eq!(ecn(&mut world), "1");
}
