//! `linerate why` on what storage gateways reported.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::actors::linerate::program;
use crate::actors::process::{Ended, Process};

fn linerate(folder: &Path, args: &[&str]) -> Ended {
    Process::start(program().current_dir(folder).args(args)).finish()
}

/// What an exporter said of four gateways, each 5 s: one was left out for a minute, then got everything.
fn recorded() -> String {
    let mut text = String::new();
    let mut begun = [0_u32; 4];
    for step in 0..40_u32 {
        for (at, begun) in begun.iter_mut().enumerate() {
            let away = (10..22).contains(&step);
            *begun += match (at, away, (22..24).contains(&step)) {
                (0, true, _) | (1..4, _, true) => 0,
                (0, _, true) => 40,
                _ => 10 + (step + u32::try_from(at).unwrap()) % 3,
            };
            let (at_ms, gateway) = (1_700_000_000_000 + u64::from(step) * 5000, at + 1);
            text.push_str(&format!("gateway_requests_total{{instance=\"gw{gateway}\"}} {begun} {at_ms}\n"));
            text.push_str(&format!("gateway_in_flight{{instance=\"gw{gateway}\"}} 20 {at_ms}\n"));
        }
    }
    text
}

#[test]
fn a_recording_and_the_status_of_it_have_one_cause_with_place_evidence_and_remedy() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    fs::write(at.join("metrics.txt"), recorded()).unwrap();
    let why = linerate(at, &["why", "metrics.txt"]);
    assert_eq!(why.code, Some(10), "{}", why.stderr);
    let words = why.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["gateway-catch-up", "at gw1", "nothing for 60 s, then 100 % of all requests", "Fix: ", "4 gateways"] {
        assert!(words.contains(said.trim()), "{said}: {}", why.stdout);
    }
    assert!(
        why.stdout.contains("no report answers: ") && why.stdout.contains("gateway-deletion-time"),
        "{}",
        why.stdout
    );

    let status = linerate(at, &["gateways", "status", "--read", "metrics.txt", "--json"]);
    assert_eq!(status.code, Some(0), "{}", status.stderr);
    fs::write(at.join("status.json"), &status.stdout).unwrap();
    assert_eq!(linerate(at, &["why", "status.json"]).stdout, why.stdout);
    let told: Value = serde_json::from_str(&linerate(at, &["why", "status.json", "--json"]).stdout).unwrap();
    let best = &told["problems"][0]["ranking"][0];
    assert_eq!(best["cause"], "gateway-catch-up");
    assert_eq!(best["places"][0]["place"], serde_json::json!({"kind": "host", "name": "gw1"}));
    assert!(linerate(at, &["why", "--explain", "gateway-catch-up"]).stdout.contains("reference counts"));
}

#[test]
fn a_status_without_observations_or_of_a_newer_version_is_refused_with_what_to_do() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let old = r#"{"format": 1, "gateways": [], "policy": "inflight-cmsd", "findings": []}"#;
    fs::write(at.join("old.json"), old).unwrap();
    let refused = linerate(at, &["why", "old.json"]);
    assert_eq!(refused.code, Some(9), "{}", refused.stderr);
    assert!(refused.stderr.contains("no observations") && refused.stderr.contains("--json"), "{}", refused.stderr);
    fs::write(at.join("new.json"), old.replace("\"format\": 1", "\"format\": 99")).unwrap();
    let newer = linerate(at, &["why", "new.json"]);
    assert!(newer.code == Some(9) && newer.stderr.contains("newer linerate"), "{}", newer.stderr);
    let broken = old.replace("\"findings\": []", "\"findings\": [], \"observations\": [{\"sign\": 3}]");
    fs::write(at.join("broken.json"), broken).unwrap();
    let broken = linerate(at, &["why", "broken.json"]);
    assert!(broken.code == Some(9) && broken.stderr.contains("no status of gateways"), "{}", broken.stderr);
}
