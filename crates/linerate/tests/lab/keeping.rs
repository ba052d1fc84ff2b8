//! Labs that stay while their users come and go.

use std::io::Write;
use std::process::{Command, Stdio};

use model::run::{Outcome, Run};

use crate::user::{Said, User};

#[test]
fn lab_is_entered_with_the_tools_of_every_day() {
    let user = User::new();
    let shown = user.prints(&["up", &user.pair()]);
    assert!(shown.starts_with("The lab pair is up: Two hosts\n"), "{shown}");
    let pinged = user.prints(&["exec", "west", "--", "ping", "-c", "2", "-i", "0.01", "east"]);
    assert!(pinged.contains("2 packets transmitted, 2 received"), "{pinged}");
    let pinged = user.prints(&["exec", "pair/east", "--", "ping", "-4", "-c", "1", "west"]);
    assert!(pinged.contains("1 received"), "{pinged}");
    let address = user.prints(&["exec", "west", "ip", "-br", "address", "show", "dev", "lo"]);
    let known = user.record("pair").unwrap()["hosts"][0]["addresses"][0].as_str().unwrap().to_owned();
    assert!(address.contains(&known), "{address} has no {known}");
    user.prints(&["down"]);
    assert_eq!(user.record("pair"), None);
}

#[test]
fn services_of_a_lab_answer_as_long_as_it_is_up() {
    let user = User::new();
    let pair = std::fs::read_to_string(user.pair()).unwrap();
    let files = "[[services]]\nkind = \"files\"\nhost = \"east\"\nfiles = { \"a.ms\" = \"1kB\" }\n[truth]";
    user.prints(&["up", &user.writes("served.toml", &pair.replace("[truth]", files))]);
    let measure = [env!("CARGO_BIN_EXE_linerate"), "test", "east", "--time", "1s", "--no-archive", "--json"];
    let run: Run = serde_json::from_str(&user.prints(&[&["exec", "west", "--"], &measure[..]].concat())).unwrap();
    assert_eq!(run.outcome, Outcome::Complete);
    let fetch = "exec 3<>/dev/tcp/east/8080; printf 'GET /a.ms HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3";
    let fetched = user.prints(&["exec", "west", "--", "bash", "-c", fetch]);
    assert!(fetched.starts_with("HTTP/1.1 200 OK\r\n") && fetched.contains("X-Served-By: east\r\n"), "{fetched}");
}

#[test]
fn program_has_the_users_input_and_gives_its_exit_code() {
    let user = User::new();
    user.prints(&["up", &user.pair()]);
    assert_eq!(user.runs(&["exec", "west", "--", "sh", "-c", "exit 42"]).code, Some(42));
    let mut child = user
        .lab(&["exec", "east", "--", "tr", "a-z", "A-Z"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"through").unwrap();
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "THROUGH"));
}

#[test]
fn two_labs_of_one_scenario_stand_side_by_side() {
    let user = User::new();
    user.prints(&["up", &user.pair(), "--as", "one"]);
    user.prints(&["up", &user.pair(), "--as", "two", "--seed", "7"]);
    assert_eq!(user.record("two").unwrap()["seed"], 7);
    let either = user.runs(&["exec", "west", "--", "true"]);
    assert_eq!(either.code, Some(2));
    assert!(either.stderr.contains("hint: say which: one/west or two/west"), "{}", either.stderr);
    user.prints(&["exec", "one/west", "--", "ping", "-c", "1", "east"]);
    user.prints(&["down", "one"]);
    user.prints(&["exec", "west", "--", "ping", "-c", "1", "east"]);
    let listed = user.prints(&["list"]);
    assert!(listed.contains("two") && listed.contains("healthy-100ms"), "{listed}");
    user.prints(&["down", "--all"]);
    assert_eq!(user.record("two"), None);
}

#[test]
fn root_of_a_user_namespace_has_labs_too() {
    let user = User::new();
    let program = env!("CARGO_BIN_EXE_linerate");
    let script =
        format!("{program} lab up {} && {program} lab exec west -- ping -c 1 east && {program} lab down", user.pair());
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("XDG_RUNTIME_DIR", user.labs().parent().unwrap().parent().unwrap());
    let said = Said::of(&linux::netns::isolate(&mut command).output().unwrap());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("1 received"), "{}", said.stdout);
}
