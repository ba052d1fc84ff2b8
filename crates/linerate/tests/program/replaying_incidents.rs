//! A scenario as the history of a hub: found, explained, verified, and a post-mortem that people edit.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::actors::linerate::linerate;

#[test]
fn a_scenario_becomes_an_incident_with_its_cause_its_end_and_its_post_mortem() {
    let place = TempDir::new().unwrap();
    let hub = place.path().join("hub").to_str().unwrap().to_owned();
    let played = linerate(&["hub", "replay", &hub, "dc24-small-rings", "--json"]);
    assert_eq!(played.code, Some(0), "{played:?}");
    let list: Value = serde_json::from_str(&played.stdout).unwrap();
    let [incident] = list["incidents"].as_array().unwrap().as_slice() else { panic!("{list}") };
    assert_eq!(incident["explanation"]["cause"], "ring-small", "{incident}");
    assert_eq!((&incident["explanation"]["place"], &incident["status"]), (&"gateway-1".into(), &"closed".into()));

    let id = incident["id"].as_str().unwrap();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let (markdown, html) = (file("report.md"), file("report.html"));
    let write = || linerate(&["report", &hub, id, "--output", &markdown, "--html", &html]);
    assert_eq!(write().code, Some(0));
    let text = fs::read_to_string(&markdown).unwrap();
    for heading in [
        "Incident summary",
        "Lead-up",
        "Fault",
        "Impact",
        "Detection",
        "Response",
        "Recovery",
        "Timeline",
        "Root cause",
        "Recurrence",
        "Lessons learned",
        "Corrective actions",
    ] {
        assert!(text.contains(&format!("## {heading}\n")), "{heading}: {text}");
    }
    assert!(text.contains("ring-small") && text.contains("taken out: short-ring"), "{text}");
    assert!(fs::read_to_string(&html).unwrap().contains("<svg"));
    fs::write(&markdown, text.replace("to be written by those who were there", "Ada looked at the counters first"))
        .unwrap();
    let again = write();
    assert!(again.stderr.contains("kept as they were edited: Lessons learned"), "{again:?}");
    assert!(fs::read_to_string(&markdown).unwrap().contains("Ada looked"));
}

#[test]
fn an_incident_of_a_small_mesh_is_verified_by_what_was_measured_after_its_fix_alone() {
    let place = TempDir::new().unwrap();
    let hub = place.path().join("hub").to_str().unwrap().to_owned();
    let played = linerate(&["hub", "replay", &hub, "firewall-inbound", "--json"]);
    assert_eq!(played.code, Some(0), "{played:?}");
    let list: Value = serde_json::from_str(&played.stdout).unwrap();
    let [incident] = list["incidents"].as_array().unwrap().as_slice() else { panic!("{list}") };
    let happened: Vec<&str> =
        incident["timeline"].as_array().unwrap().iter().map(|entry| entry["what"].as_str().unwrap()).collect();
    let first = |what: &str| happened.iter().position(|one| *one == what);
    assert!(first("fixed") < first("verified"), "{happened:?}");
    assert!(!happened.contains(&"reopened"), "{happened:?}");
}

#[test]
fn what_cannot_be_replayed_is_refused_with_a_way_out() {
    let place = TempDir::new().unwrap();
    let hub = place.path().join("hub").to_str().unwrap().to_owned();
    let healthy = linerate(&["hub", "replay", &hub, "healthy-lan"]);
    assert_eq!(healthy.code, Some(2), "{healthy:?}");
    assert!(healthy.stderr.contains("no [[faults]]") && healthy.stderr.contains("linerate lab list"), "{healthy:?}");
    let unknown = linerate(&["hub", "replay", &hub, "nosuch"]);
    assert_eq!(unknown.code, Some(9), "{unknown:?}");
    assert!(!place.path().join("hub").exists(), "nothing is left behind");
    fs::create_dir(&hub).unwrap();
    fs::write(place.path().join("hub/hub.toml"), "").unwrap();
    let taken = linerate(&["hub", "replay", &hub, "dc24-small-rings"]);
    assert!(taken.code == Some(2) && taken.stderr.contains("has a hub already"), "{taken:?}");
    let none = linerate(&["report", &hub, "I1"]);
    assert!(none.code != Some(0) && none.stdout.is_empty(), "{none:?}");
}

#[test]
fn one_cause_at_one_place_is_one_incident_whatever_was_seen_of_it_first() {
    let place = TempDir::new().unwrap();
    let hub = place.path().join("hub").to_str().unwrap().to_owned();
    let played = linerate(&["hub", "replay", &hub, "lhn-router-replaced", "--json"]);
    assert_eq!(played.code, Some(0), "{played:?}");
    let list: Value = serde_json::from_str(&played.stdout).unwrap();
    let incidents = list["incidents"].as_array().unwrap();
    assert!(incidents.len() > 1, "two pairs get slow, and each is seen: {list}");
    let (kept, folded): (Vec<&Value>, Vec<&Value>) =
        incidents.iter().partition(|incident| !incident["symptoms"].as_array().unwrap().is_empty());
    let [kept] = kept.as_slice() else { panic!("{list}") };
    assert_eq!((&kept["explanation"]["cause"], &kept["status"]), (&"rate-limit".into(), &"closed".into()), "{kept}");
    assert_eq!(kept["symptoms"].as_array().unwrap().len(), incidents.len(), "it has the symptoms of all: {kept}");
    for incident in folded {
        let last = &incident["timeline"].as_array().unwrap().last().unwrap()["text"];
        assert_eq!(*last, format!("it is {}: one cause at one place", kept["id"].as_str().unwrap()), "{incident}");
    }
}
