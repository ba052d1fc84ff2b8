//! `linerate lab run --why`.

use diagnose::next::examination::Examination;

use crate::user::User;

/// A router between two links, one of which loses so much that no machine can hide it.
const LOSSY: &str = r#"
title = "One packet in twenty is lost"
about = "The far link loses packets at random."

[hosts.west]
[hosts.middle]
forwards = true
[hosts.east]

[[links]]
name = "near"
between = ["west", "middle"]
[[links]]
name = "far"
between = ["middle", "east"]
both = [{ delay = { time = "5ms" } }]

[[faults]]
id = "loss"
link = "far"
towards = "east"
add = { loss = { random = 0.05 } }

[[tests]]
kind = "tcp"
from = "west"
to = "east"
time = "2s"
cca = "cubic"
expect = "1Gbit/s"

[truth]
causes = [{ id = "random-loss", link = "far", towards = "east", fault = "loss" }]
"#;

#[test]
fn tests_are_asked_for_with_their_reason_and_run_while_the_network_is_up() {
    let user = User::new();
    let scenario = user.writes("lossy.toml", LOSSY);
    // Time for one test at the least: what is left is looked at before anything is weighed.
    let asked = ["run", &scenario, "--no-archive", "--why", "--budget", "9s", "--json"];
    let output = user.lab(&asked).output().unwrap();
    let examination: Examination = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert!(!examination.asked.is_empty(), "{examination:#?}");
    for asked in &examination.asked {
        assert!(asked.says.contains(&asked.from) && asked.says.contains(&asked.to), "{asked:?}");
        let is_on_the_way = |host: &String| ["west", "middle", "east"].contains(&host.as_str());
        assert!(is_on_the_way(&asked.from) && is_on_the_way(&asked.to), "{asked:?}");
    }
    let has_failed = |note: &&String| examination.asked.iter().any(|asked| note.starts_with(&asked.label));
    assert_eq!(examination.diagnosis.notes.iter().find(has_failed), None, "every test that was asked for has a result");
    assert!(!examination.diagnosis.is_healthy(), "{examination:#?}");
}
