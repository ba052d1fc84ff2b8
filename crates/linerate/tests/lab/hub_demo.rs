//! `linerate hub demo`: a wrong setting of one host, from the first bad result to its end, by a hub and its agents alone.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use hub::api::mesh::IncidentDetail;
use mesh::incident::{Element, Occurrence, Status, Subject};
use tempfile::TempDir;

/// The demonstration, for a user with a place of their own.
fn demo(place: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("XDG_RUNTIME_DIR", place.path()).env("TMPDIR", place.path()).env_remove("LINERATE_ARCHIVE");
    command.args(["hub", "demo"]).args(args).stdin(Stdio::null());
    command
}

/// What lies in the user's place besides the directory of labs.
fn left(place: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(place.path()).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| name != "linerate").collect()
}

#[test]
fn one_incident_opens_with_its_cause_and_place_and_the_fix_closes_it() {
    let place = TempDir::new().unwrap();
    let output = demo(&place, &["--json"]).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{complaint}");
    let detail: IncidentDetail = serde_json::from_slice(&output.stdout).unwrap();
    let incident = &detail.incident;
    assert_eq!(incident.status, Status::Closed);
    let at_site_b = [Element::To("site-b".to_owned()), Element::Host("site-b".to_owned())].map(Subject::Element);
    assert!(at_site_b.contains(&incident.subject), "{incident:#?}");
    let explanation = incident.explanation.as_ref().unwrap();
    assert_eq!((explanation.cause.as_str(), explanation.place.as_str()), ("receive-window-small", "site-b"));
    let changes = incident.timeline.iter().filter_map(|entry| match &entry.occurrence {
        Occurrence::Configuration { change, lead_s } => Some((change.what.as_str(), *lead_s)),
        _ => None,
    });
    let before = changes.into_iter().find(|(_, lead_s)| *lead_s >= 0);
    assert!(before.is_some_and(|(what, _)| what.contains("tcp_rmem")), "{incident:#?}");
    assert_eq!(left(&place), [""; 0]);
}

#[test]
fn interrupted_twice_it_ends_at_once_and_leaves_nothing() {
    let place = TempDir::new().unwrap();
    let mut child = demo(&place, &[]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("a hub runs") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it ended before its hub ran");
    }
    for _ in 0..2 {
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
    // Its hosts hold the other end as well: when all have let go of it, all are gone.
    told.read_to_string(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(left(&place), [""; 0]);
}
