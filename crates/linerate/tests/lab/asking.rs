//! What cannot be done is said in one line, with the way out.

use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::user::User;

#[track_caller]
fn refused(user: &User, args: &[&str], code: i32, parts: &[&str]) {
    let said = user.runs(args);
    assert_eq!(said.code, Some(code), "{args:?}: {}", said.stderr);
    assert_eq!(said.stdout, "", "{args:?}");
    for part in parts {
        assert!(said.stderr.contains(part), "{args:?} does not say {part:?}: {}", said.stderr);
    }
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let user = User::new();
    refused(
        &user,
        &["up", "healthy-100mss"],
        9,
        &["no scenario `healthy-100mss`", "hint: did you mean `healthy-100ms`?"],
    );
    refused(&user, &["up", "/nonesuch.toml"], 9, &["cannot read the scenario /nonesuch.toml"]);
    refused(&user, &["down"], 9, &["error: no lab is running", "hint: `linerate lab up NAME` makes one"]);
    refused(&user, &["exec", "west", "--", "true"], 9, &["no lab is running that has `west`"]);
    user.prints(&["up", &user.pair()]);
    refused(&user, &["down", "other"], 9, &["error: no lab `other` is running", "hint: there is: pair"]);
    refused(&user, &["exec", "north", "--", "true"], 9, &["no host `north`", "hint: the lab pair has west, east"]);
    refused(&user, &["exec", "west", "--", "/nonesuch"], 2, &["`/nonesuch` cannot be run in host `west`"]);
    refused(&user, &["up", &user.pair()], 2, &["a lab called `pair` is running", "hint: `linerate lab down pair`"]);
}

#[test]
fn what_makes_no_sense_is_a_matter_of_the_command_line() {
    let user = User::new();
    refused(&user, &["up", &user.pair(), "--as", "a/b"], 2, &["`a/b` is no name of a lab"]);
    refused(&user, &["up", &user.pair(), "--seed", "many"], 2, &["'many' for '--seed <N>'"]);
    let path = user.writes("odd.toml", "title = \"odd\"\ncolour = \"red\"\n");
    refused(&user, &["up", &path], 2, &["colour"]);
    refused(&user, &["exec", "west"], 2, &["<COMMAND>"]);
}

#[test]
fn place_of_somebody_else_is_not_used() {
    let user = User::new();
    let place = user.labs();
    std::fs::create_dir(place.parent().unwrap().parent().unwrap().join("linerate")).unwrap();
    std::fs::set_permissions(place.parent().unwrap(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    symlink("/tmp", &place).unwrap();
    refused(&user, &["up", &user.pair()], 8, &["no directory, though something of that name is there"]);
    std::fs::remove_file(&place).unwrap();
}

#[test]
fn what_the_machine_can_is_told_to_people_and_programs() {
    let user = User::new();
    let told: Value = serde_json::from_str(&user.prints(&["check", "--json"])).unwrap();
    let abilities = told.as_array().unwrap();
    let can = |what: &str| {
        let found = abilities.iter().find(|ability| ability["what"] == what);
        found.unwrap_or_else(|| panic!("nothing about {what}"))["can"] == "yes"
    };
    assert!(can("hosts of namespaces") && can("TAP devices"), "these tests need both");
    let text = user.prints(&["check"]);
    let line = |what: &str| text.lines().find(|line| line.contains(what)).unwrap();
    for what in ["VLAN devices", "congestion control bbr", "qdisc netem"] {
        assert!(line(what).starts_with(if can(what) { "yes" } else { "no" }), "{}", line(what));
    }
    assert!(abilities.iter().all(|ability| ability["can"] == "yes" || !ability["get"].as_str().unwrap().is_empty()));
}
