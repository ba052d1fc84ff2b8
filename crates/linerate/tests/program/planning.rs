//! `linerate plan` on files, as a user types it.

use crate::actors::linerate::linerate;

fn plan(every: &str) -> String {
    let mut text = format!("title = \"three\"\n[times]\nevery = \"{every}\"\n");
    for host in 1..=3 {
        text += &format!("[hosts.h{host}]\naddress = \"192.0.2.{host}\"\nrate = \"10Gbit/s\"\n");
    }
    text + "[groups.all]\nmesh = [\"h1\", \"h2\", \"h3\"]\n[[tests]]\nkind = \"tcp\"\ntime = \"10s\"\n"
}

#[test]
fn a_plan_that_fits_shows_its_day_and_one_that_does_not_says_what_would() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mesh.toml");
    let path = file.to_str().unwrap();
    std::fs::write(&file, plan("2h")).unwrap();
    let ended = linerate(&["plan", "check", path, "--times"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{}", ended.stdout);
    // 6 pairs, 12 times a day, 12 s each with the rest behind it: each host has 48 of 72 runs.
    assert!(ended.stdout.contains("72 heavy runs and 0 light runs a day"), "{}", ended.stdout);
    assert_eq!(ended.stdout.matches("tcp  ").count(), 72, "{}", ended.stdout);
    assert!(ended.stdout.ends_with("it fits\n"), "{}", ended.stdout);
    std::fs::write(&file, plan("1min")).unwrap();
    let ended = linerate(&["plan", "check", path]);
    assert_eq!(ended.code, Some(10));
    let says = "does not fit: one round every 1 min needs at least 2 min: every 2 min would fit";
    assert!(ended.stdout.contains(says), "{}", ended.stdout);
    let json = linerate(&["plan", "check", path, "--json"]);
    let checked: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(checked["fit"]["problems"][0]["is"], "period-too-short");
}

#[test]
fn a_first_plan_of_snapshots_is_a_plan_and_what_no_host_knows_is_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = linerate(&["host", "snapshot", "--json"]);
    assert_eq!(snapshot.code, Some(0), "{}", snapshot.stderr);
    let mut files = Vec::new();
    for (number, name) in (1..).zip(["west", "east"]) {
        let mut one: serde_json::Value = serde_json::from_str(&snapshot.stdout).unwrap();
        one["machine"]["name"]["value"] = name.into();
        let address = serde_json::json!({
            "interface": "up0", "address": format!("192.0.2.{number}"), "prefix": 24, "scope": "global"
        });
        one["namespaces"][0]["addresses"]["value"] = serde_json::json!([address]);
        one["namespaces"][0]["routes"]["value"] = serde_json::json!([]);
        let file = folder.path().join(format!("{name}.json"));
        std::fs::write(&file, one.to_string()).unwrap();
        files.push(file.to_str().unwrap().to_owned());
    }
    let ended = linerate(&["plan", "init", &files[0], &files[1]]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("note: west reports no link speed"), "{}", ended.stderr);
    let file = folder.path().join("mesh.toml");
    std::fs::write(&file, &ended.stdout).unwrap();
    let checked = linerate(&["plan", "check", file.to_str().unwrap()]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    assert!(checked.stdout.contains("8 heavy runs and 1728 light runs a day"), "{}", checked.stdout);
    let alone = linerate(&["plan", "init", &files[0]]);
    assert!(alone.code.is_some_and(|code| code != 0), "{}", alone.stdout);
}
