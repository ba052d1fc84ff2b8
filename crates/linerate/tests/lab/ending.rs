//! Nothing of a lab is left, however it ends.

use std::fs;
use std::process::Command;

use crate::user::{PATIENCE, User, processes};

#[track_caller]
fn end(processes: &[linux::namespaces::process::Process]) {
    for process in processes {
        assert!(process.wait(PATIENCE).unwrap(), "a process of the lab is still there");
    }
}

fn left(user: &User) -> Vec<String> {
    let entries = fs::read_dir(user.labs()).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| name != ".lock").collect()
}

#[test]
fn lab_of_a_killed_keeper_is_gone_with_its_programs() {
    let user = User::new();
    user.prints(&["up", &user.pair()]);
    let record = user.record("pair").unwrap();
    let all = processes(&record);
    assert_eq!(all.len(), 3);
    user.prints(&["exec", "west", "--", "sh", "-c", "setsid sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 &"]);
    all.last().unwrap().kill().unwrap();
    end(&all);
    assert_eq!(user.record("pair"), None);
    assert_eq!(left(&user), [""; 0], "who looks clears away what is left");
}

#[test]
fn interrupted_lab_is_gone_and_says_so() {
    let user = User::new();
    let mut lab = user.stays("here");
    let all = processes(&user.record("here").unwrap());
    let mut program =
        user.lab(&["exec", "west", "--", "cat", "/dev/zero"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let sent = Command::new("kill").args(["-INT", &lab.0.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(lab.0.wait().unwrap().code(), Some(130));
    end(&all);
    assert!(!program.wait().unwrap().success(), "it was ended with its host");
    assert_eq!(left(&user), [""; 0]);
}

#[test]
fn lab_in_the_foreground_is_ended_by_down() {
    let user = User::new();
    let mut lab = user.stays("here");
    user.prints(&["down", "here"]);
    assert_eq!(lab.0.wait().unwrap().code(), Some(0));
    assert_eq!(left(&user), [""; 0]);
}

#[test]
fn lab_that_cannot_be_made_leaves_nothing() {
    let user = User::new();
    let text = fs::read_to_string(user.pair()).unwrap();
    let wrong = text.replace("[hosts.east]", "[hosts.east]\nsysctl = { \"net.ipv4.tcp_warp\" = \"1\" }");
    let path = user.writes("wrong.toml", &wrong);
    let said = user.runs(&["up", &path]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    let expected = "host east: the kernel setting `net.ipv4.tcp_warp` does not exist in this kernel";
    assert!(said.stderr.contains(expected), "{}", said.stderr);
    assert_eq!(user.record("wrong"), None);
    assert_eq!(left(&user), [""; 0]);
}
