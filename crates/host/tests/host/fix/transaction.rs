//! What holds for all fixes: all steps or none, one at a time, nothing lost with the process or the power.

use std::fs;
use std::path::Path;

use host::fix::{Engine, FixError, Journal};
use model::host::fix::journal::{Because, State};
use model::host::fix::talk::{Order, Others};

use super::{engine, order, steps};
use crate::sandbox::{Mounts, Neighbour, in_sandbox, shell};

const BIGGER: &str = r#"[{"change":{"sysctl":{"key":"net.ipv4.tcp_rmem","value":"4096 131072 536870912"}}}]"#;

fn rmem() -> String {
    shell("sysctl -n net.ipv4.tcp_rmem").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn unconfirmed(written: &str) -> Order {
    Order { confirm_within_s: Some(60), ..order(written) }
}

fn planted() {
    shell("sysctl -qw net.ipv4.tcp_rmem='4096 100000 200000'");
}

const PLANTED: &str = "4096 100000 200000";
const FIXED: &str = "4096 131072 536870912";

#[test]
fn step_that_fails_takes_back_those_before_it() {
    in_sandbox(module_path!(), "step_that_fails_takes_back_those_before_it", Mounts::Shared, || {
        planted();
        shell("ip link add west type veth peer name east");
        let directory = tempfile::tempdir().unwrap();
        let mut engine = engine(directory.path());
        let written = r#"[{"change":{"sysctl":{"key":"net.ipv4.tcp_rmem","value":"4096 131072 536870912"}}},
            {"change":{"mtu":{"device":"west","bytes":9000}}},
            {"change":{"sysctl":{"key":"net.ipv4.tcp_congestion_control","value":"nonesuch"}}}]"#;
        let error = engine.apply(&order(written), 0).unwrap_err();
        assert!(matches!(error, FixError::Step { step: 3, .. }), "{error}");
        assert!(error.to_string().contains("nothing is changed") && error.to_string().contains("nonesuch"), "{error}");
        assert_eq!(rmem(), PLANTED);
        assert!(shell("ip link show west").contains("mtu 1500"));
        let entry = engine.journal().entries().last().unwrap();
        assert!(matches!(&entry.state, State::Undone { because: Because::StepFailed { step: 2, .. } }), "{entry:?}");
    });
}

#[test]
fn nothing_is_written_where_a_step_cannot_be() {
    in_sandbox(module_path!(), "nothing_is_written_where_a_step_cannot_be", Mounts::Shared, || {
        planted();
        shell("ip link add west type veth peer name east");
        let directory = tempfile::tempdir().unwrap();
        let mut engine = engine(directory.path());
        for second in [
            r#"{"sysctl":{"key":"net.core.somaxconn","value":"2147483648"}}"#,
            r#"{"mtu":{"device":"nonesuch","bytes":9000}}"#,
            r#"{"pause":{"device":"west","rx":true,"tx":true}}"#,
            r#"{"route":{"to":"192.0.2.0/24","metrics":"initcwnd lots"}}"#,
        ] {
            let first = &BIGGER[1..BIGGER.len() - 1];
            let written = format!(r#"[{first},{{"change":{second}}}]"#);
            assert!(engine.apply(&order(&written), 0).is_err(), "{second}");
            assert_eq!(rmem(), PLANTED, "{second}");
        }
    });
}

#[test]
fn second_fix_is_refused_while_one_waits_and_so_is_a_second_helper() {
    in_sandbox(
        module_path!(),
        "second_fix_is_refused_while_one_waits_and_so_is_a_second_helper",
        Mounts::Shared,
        || {
            planted();
            let directory = tempfile::tempdir().unwrap();
            let mut engine = engine(directory.path());
            let first = engine.apply(&unconfirmed(BIGGER), 0).unwrap();
            assert_eq!((rmem().as_str(), &first.state), (FIXED, &State::Unconfirmed));
            let refused = engine.apply(&order(BIGGER), 0).unwrap_err();
            assert!(matches!(refused, FixError::Open { fix } if fix == first.fix), "{refused}");
            assert!(matches!(Engine::open(directory.path()), Err(FixError::Locked { .. })));
            assert_eq!(engine.confirm(first.fix).unwrap().state, State::Kept);
            assert_eq!(engine.expire(first.fix).unwrap(), None, "what is confirmed does not expire");
            assert_eq!(rmem(), FIXED);
            assert!(matches!(engine.confirm(first.fix), Err(FixError::State { .. })));
        },
    );
}

#[test]
fn old_values_come_back_when_nobody_confirms() {
    in_sandbox(module_path!(), "old_values_come_back_when_nobody_confirms", Mounts::Shared, || {
        planted();
        let directory = tempfile::tempdir().unwrap();
        let mut engine = engine(directory.path());
        let fix = engine.apply(&unconfirmed(BIGGER), 0).unwrap().fix;
        let entry = engine.expire(fix).unwrap().unwrap();
        assert_eq!(entry.state, State::Undone { because: Because::NotConfirmed });
        assert_eq!(rmem(), PLANTED);
    });
}

/// A helper that ends between the first write and the confirmation, in any of the states that are on disk then.
#[test]
fn old_values_come_back_at_the_next_start() {
    in_sandbox(module_path!(), "old_values_come_back_at_the_next_start", Mounts::Shared, || {
        planted();
        let directory = tempfile::tempdir().unwrap();
        let fix = engine(directory.path()).apply(&unconfirmed(BIGGER), 0).unwrap().fix;
        assert_eq!(rmem(), FIXED, "the engine is gone, its fix is not");
        // An entry that was being written when the power went.
        fs::write(directory.path().join("fix-000001.json.new"), b"{\"format\":1,").unwrap();
        let (engine, changed) = Engine::open(directory.path()).unwrap();
        assert_eq!(changed.len(), 1);
        assert_eq!(engine.journal().get(fix).unwrap().state, State::Undone { because: Because::HelperEnded });
        assert_eq!(rmem(), PLANTED);
        drop(engine);

        // The same, ended amid its steps: the entry is there, and only a part of the steps is done.
        rewrite(directory.path(), |entry| entry["state"] = "begun".into());
        shell("sysctl -qw net.ipv4.tcp_rmem='4096 131072 536870912'");
        let (_, changed) = Engine::open(directory.path()).unwrap();
        assert!(matches!(changed[..], [ref entry] if matches!(entry.state, State::Undone { .. })));
        assert_eq!(rmem(), PLANTED);
    });
}

#[test]
fn fix_of_an_earlier_boot_is_not_played_onto_this_one() {
    in_sandbox(module_path!(), "fix_of_an_earlier_boot_is_not_played_onto_this_one", Mounts::Shared, || {
        planted();
        let directory = tempfile::tempdir().unwrap();
        let fix = engine(directory.path()).apply(&unconfirmed(BIGGER), 0).unwrap().fix;
        rewrite(directory.path(), |entry| entry["boot_id"] = "another".into());
        let (mut engine, changed) = Engine::open(directory.path()).unwrap();
        assert_eq!(changed[0].state, State::GoneWithBoot);
        assert_eq!(rmem(), FIXED, "what the new boot has set is its own");
        assert!(matches!(engine.undo(Some(fix), Others::Overwrite), Err(FixError::State { .. })));
    });
}

fn rewrite(directory: &Path, change: impl Fn(&mut serde_json::Value)) {
    let path = directory.join("fix-000001.json");
    let mut entry = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut entry);
    fs::write(&path, serde_json::to_vec(&entry).unwrap()).unwrap();
}

#[test]
fn what_others_have_changed_since_is_overwritten_only_when_asked() {
    in_sandbox(module_path!(), "what_others_have_changed_since_is_overwritten_only_when_asked", Mounts::Shared, || {
        planted();
        let directory = tempfile::tempdir().unwrap();
        let mut engine = engine(directory.path());
        engine.apply(&order(BIGGER), 0).unwrap();
        shell("sysctl -qw net.ipv4.tcp_rmem='4096 131072 1000000'");
        let error = engine.undo(None, Others::Keep).unwrap_err();
        assert!(matches!(&error, FixError::Changed { what, .. } if what[0].contains("1000000")), "{error}");
        assert_eq!(rmem(), "4096 131072 1000000");
        engine.undo(None, Others::Overwrite).unwrap();
        assert_eq!(rmem(), PLANTED);
        assert!(matches!(engine.undo(None, Others::Keep), Err(FixError::NoSuchFix { fix: None })));
    });
}

#[test]
fn device_of_the_same_name_that_came_later_is_let_alone() {
    in_sandbox(module_path!(), "device_of_the_same_name_that_came_later_is_let_alone", Mounts::Shared, || {
        shell("ip link add west type veth peer name east");
        let directory = tempfile::tempdir().unwrap();
        let mut engine = engine(directory.path());
        let written = r#"[{"change":{"mtu":{"device":"west","bytes":9000}}}]"#;
        engine.apply(&order(written), 0).unwrap();
        shell("ip link del west; ip link add west mtu 3000 type veth peer name east");
        let error = engine.undo(None, Others::Overwrite).unwrap_err();
        assert!(
            matches!(&error, FixError::Stuck { left, .. } if left[0].contains("not the one that it was")),
            "{error}"
        );
        assert!(shell("ip link show west").contains("mtu 3000"));
    });
}

#[test]
fn each_step_happens_in_its_own_namespace() {
    in_sandbox(module_path!(), "each_step_happens_in_its_own_namespace", Mounts::Shared, || {
        planted();
        let neighbour = Neighbour::with("sysctl -qw net.ipv4.tcp_rmem='4096 100000 300000'");
        let there = |what: &str| {
            let pid = neighbour.pid();
            shell(&format!("nsenter --net=/proc/{pid}/ns/net {what}")).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let directory = tempfile::tempdir().unwrap();
        let mut engine = engine(directory.path());
        let first = &BIGGER[1..BIGGER.len() - 1];
        let second = first.replacen('{', &format!(r#"{{"namespace":"pid:{}","#, neighbour.pid()), 1);
        let entry = engine.apply(&order(&format!("[{second}]")), 0).unwrap();
        assert_eq!((rmem().as_str(), there("sysctl -n net.ipv4.tcp_rmem").as_str()), (PLANTED, FIXED));
        assert_eq!(entry.changes()[0].old.as_deref(), Some("4096 100000 300000"));
        engine.undo(None, Others::Keep).unwrap();
        assert_eq!(there("sysctl -n net.ipv4.tcp_rmem"), "4096 100000 300000");
        drop(neighbour);
        assert!(engine.apply(&order(&format!("[{second}]")), 0).is_err(), "the namespace is gone");
    });
}

#[test]
fn entry_that_can_be_read_no_more_keeps_its_number() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("fix-000041.json"), b"{").unwrap();
    let journal = Journal::open(directory.path()).unwrap();
    assert!(journal.unreadable()[0].what.contains("fix-000041.json"), "{:?}", journal.unreadable());
    drop(journal);
    in_sandbox(module_path!(), "entry_that_can_be_read_no_more_keeps_its_number", Mounts::Shared, || {
        planted();
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("fix-000041.json"), b"{").unwrap();
        let mut engine = engine(directory.path());
        // It may be of a fix that waited: nothing is applied over what nobody knows, and it is not passed over by an undo.
        for refused in [engine.apply(&order(BIGGER), 0).unwrap_err(), engine.undo(None, Others::Keep).unwrap_err()] {
            assert!(matches!(refused, FixError::Unreadable { .. }), "{refused}");
        }
        assert_eq!(rmem(), PLANTED);
        fs::rename(directory.path().join("fix-000041.json"), directory.path().join("aside")).unwrap();
        drop(engine);
    });
}

#[test]
fn preview_shows_and_changes_nothing() {
    in_sandbox(module_path!(), "preview_shows_and_changes_nothing", Mounts::Shared, || {
        planted();
        let directory = tempfile::tempdir().unwrap();
        let shown = engine(directory.path()).preview(&steps(BIGGER)).unwrap();
        assert_eq!((shown[0].key.as_str(), shown[0].old.as_deref()), ("net.ipv4.tcp_rmem", Some(PLANTED)));
        assert_eq!(rmem(), PLANTED);
    });
}
