//! Plans and the grids of rounds, as people and as programs read them.

use std::collections::BTreeSet;
use std::fs;

use diagnose::grid::{Cell, Grade, Grids};
use model::target::TargetSource;
use plan::schedule::report::Report;
use serde_json::{Value, json};

use crate::actors::linerate::linerate;
use crate::actors::process::Ended;

const ROUND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/rounds/nrao-overlay.json");
const PLAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/plans/nrao.toml");
const TEMPLATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/foreign/psconfig/mesh.json");

/// What the program says of the incident's round after somebody changed it.
fn of_changed(change: impl FnOnce(&mut Value), arguments: &[&str]) -> Ended {
    let mut round: Value = serde_json::from_str(&fs::read_to_string(ROUND).unwrap()).unwrap();
    change(&mut round);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("round.json");
    fs::write(&path, round.to_string()).unwrap();
    linerate(&[&["round", "grid", path.to_str().unwrap()], arguments].concat())
}

fn grids_of_changed(change: impl FnOnce(&mut Value)) -> Grids {
    let ended = of_changed(change, &["--json"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    serde_json::from_str(&ended.stdout).unwrap()
}

/// The cell of a pair of the first grid.
fn cell<'a>(grids: &'a Grids, from: &str, to: &str) -> &'a Cell {
    let grid = &grids.grids[0];
    let at = |host: &str| grid.hosts.iter().position(|known| known == host).unwrap();
    &grid.rows[at(from)][at(to)]
}

#[test]
fn the_grid_of_the_incident_shows_the_nine_bad_pairs() {
    let ended = linerate(&["round", "grid", ROUND]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    insta::assert_snapshot!("grid", ended.stdout);
    let grids = grids_of_changed(|_| ());
    let mut bad = BTreeSet::new();
    for (row, from) in grids.grids[0].rows.iter().zip(&grids.grids[0].hosts) {
        for (cell, to) in row.iter().zip(&grids.grids[0].hosts) {
            if matches!(cell, Cell::Measured(found) if found.grade == Grade::F) {
                bad.insert((from.as_str(), to.as_str()));
            }
        }
    }
    let (outside, inside) = (["na-arc-3", "na-arc-5", "na-arc-6"], ["na-arc-1", "na-arc-2", "na-arc-4"]);
    assert_eq!(bad, outside.into_iter().flat_map(|from| inside.map(|to| (from, to))).collect());
}

#[test]
fn the_same_grid_is_a_line_for_each_pair_and_a_picture() {
    let csv = linerate(&["round", "grid", ROUND, "--csv"]).stdout;
    assert_eq!(csv.lines().count(), 31);
    assert!(csv.contains("\ngoodput,ingress,na-arc-6,na-arc-4,measured,F,0.000001,5000,"), "{csv}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid.svg");
    let ended = linerate(&["round", "grid", ROUND, "--svg", path.to_str().unwrap()]);
    assert_eq!((ended.code, &*ended.stdout), (Some(0), ""), "{}", ended.stderr);
    let svg = fs::read_to_string(&path).unwrap();
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> =
        picture.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    assert_eq!(texts.iter().filter(|text| **text == "F").count(), 9 + 1, "nine cells and the legend: {texts:?}");
    assert!(texts.contains(&"3.92G") && texts.contains(&"na-arc-6"), "{texts:?}");
}

#[test]
fn a_cell_that_was_not_measured_says_why() {
    let ended = of_changed(
        |round| {
            let tests = round["tests"].as_array_mut().unwrap();
            tests.retain(|test| test["from"]["host"] != "na-arc-5" && test["to"]["host"] != "na-arc-5");
            tests.retain(|test| test["from"]["host"] != "na-arc-1" || test["to"]["host"] != "na-arc-2");
            tests[0]["finding"] = json!({ "kind": "nothing", "result": { "detail": "the host\u{1b}[2J went away" } });
            // Its name has to stand in some cell to have a row.
            let mut last = tests[5].clone();
            last["from"]["host"] = json!("na-arc-5");
            tests.push(last);
            round["members"][4]["failure"] = json!("ssh: connect: no route to host");
        },
        &[],
    );
    let text = ended.stdout;
    assert!(text.contains("! the host\u{241b}[2J went away: na-arc-1 to na-arc-3\n"), "{text}");
    assert!(text.contains("! na-arc-5 took no part: ssh: connect: no route to host: na-arc-1 to na-arc-5"), "{text}");
    let row = text.lines().find(|line| line.starts_with("na-arc-1 ")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["na-arc-1", "·", "!", "A", "4.20G", "!", "B", "3.28G"]);
}

#[test]
fn a_pair_is_set_against_what_it_should_do() {
    let measure = |grids: &Grids, from: &str, to: &str| match cell(grids, from, to) {
        Cell::Measured(found) => (found.relative_to, found.grade, found.should.map(units::DataRate::bps)),
        other => panic!("{other:?}"),
    };
    let grids = grids_of_changed(|round| {
        round["segments"] =
            json!([{ "name": "s", "between": ["na-arc-1", "na-arc-2"], "rate_bps": 4_000_000_000_u64 }]);
        round["tests"][0]["way"] = json!([{ "segment": "s", "towards": "na-arc-2" }]);
        round["tests"][1]["expected_bps"] = json!(10_000_000_000_u64);
    });
    assert_eq!(measure(&grids, "na-arc-1", "na-arc-2"), (Some(TargetSource::Declared), Grade::A, Some(4_000_000_000)));
    assert_eq!(measure(&grids, "na-arc-1", "na-arc-3"), (Some(TargetSource::Declared), Grade::D, Some(10_000_000_000)));
    assert_eq!(measure(&grids, "na-arc-1", "na-arc-4").0, Some(TargetSource::SameHosts));
}

#[test]
fn a_grid_of_loss_shows_the_part_that_was_lost() {
    let lossy = |lost: u64| {
        of_changed(
            |round| {
                let result = &mut round["tests"][0]["finding"]["result"];
                result["spec"]["protocol"] = json!("udp");
                result["measurement"]["totals"][0]["datagrams"] = json!({
                    "sent": 10_000, "received": 10_000 - lost, "lost": lost, "lost_at_tail": 0,
                    "reordered": 0, "duplicated": 0, "jitter_us": 0 });
            },
            &[],
        )
        .stdout
    };
    for (lost, shown) in [(0, "A 0%"), (50, "D 0.5%")] {
        let text = lossy(lost);
        let grid = text.split("loss, network ingress").nth(1).unwrap();
        assert!(grid.contains(shown) && !grid.contains("100%"), "{text}");
        assert!(grid.contains("relative to the rate that TCP keeps at such loss"), "{text}");
    }
}

#[test]
fn rows_send_whoever_asked_and_each_network_has_a_grid() {
    let grids = grids_of_changed(|round| {
        // The first asks, the second sends.
        let tests = round["tests"].as_array_mut().unwrap();
        tests[0]["finding"]["result"]["spec"]["direction"] = json!("reverse");
        tests[0]["finding"]["result"]["measurement"]["totals"][0]["heading"] = json!("inbound");
        tests[0]["finding"]["result"]["measurement"]["totals"][0]["goodput_bps"] = json!(1_000_000_000_u64);
        tests.remove(5);
        let mut outside = tests[3].clone();
        for end in ["from", "to"] {
            outside[end].as_object_mut().unwrap().remove("network");
        }
        tests.push(outside);
    });
    let networks: Vec<Option<&str>> = grids.grids.iter().map(|grid| grid.network.as_deref()).collect();
    assert_eq!(networks, [None, Some("ingress")]);
    let overlay = Grids { grids: vec![grids.grids[1].clone()], ..grids };
    assert_eq!(*cell(&overlay, "na-arc-1", "na-arc-2"), Cell::NotPlanned);
    assert!(
        matches!(cell(&overlay, "na-arc-2", "na-arc-1"), Cell::Measured(found) if found.goodput.unwrap().bps() == 1_000_000_000)
    );
}

#[test]
fn what_a_plan_would_do_is_shown_and_nothing_is_sent() {
    let ended = linerate(&["round", "show", PLAN]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    insta::assert_snapshot!("schedule", ended.stdout);
    let report: Report = serde_json::from_str(&linerate(&["round", "show", PLAN, "--json"]).stdout).unwrap();
    assert_eq!((report.tests.len(), report.length), (102, report.least));
    let times = linerate(&["round", "show", PLAN, "--times"]).stdout;
    assert!(times.contains("na-arc-1.ingress"), "{times}");
}

#[test]
fn a_first_plan_of_names_is_written_and_can_be_shown() {
    let written = linerate(&["round", "init", ".", "me@dtn-east"]);
    assert_eq!((written.code, &*written.stderr), (Some(0), ""), "{}", written.stdout);
    assert!(written.stdout.contains("ssh = \"me@dtn-east\""), "{}", written.stdout);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.toml");
    fs::write(&path, &written.stdout).unwrap();
    let shown = linerate(&["round", "show", path.to_str().unwrap()]);
    assert_eq!((shown.code, &*shown.stderr), (Some(0), ""));
    assert!(shown.stdout.contains("10 tests in"), "{}", shown.stdout);
    let twice = linerate(&["round", "init", "east", "me@east"]);
    assert_eq!(twice.code, Some(2));
    assert!(twice.stderr.contains("no plan can be made of these hosts: duplicate key"), "{}", twice.stderr);
}

#[test]
fn a_list_of_partners_becomes_a_plan_of_what_every_host_answers() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let records = file(
        "records.json",
        r#"[{"type":["service"],"service-type":["owamp"],"service-locator":["tcp://ps1.example.org:861"]},
            {"type":["host"],"host-name":["ps2.example.org"]},{"type":["host"],"host-name":["no host"]}]"#,
    );
    let written = linerate(&["round", "init", ".", "--hosts-from", &records]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert!(written.stderr.contains("1 entries name no host"), "{}", written.stderr);
    assert!(!written.stdout.contains("ssh") && !written.stdout.contains("tcp"), "{}", written.stdout);
    let shown = linerate(&["round", "show", &file("plan.toml", &written.stdout)]);
    assert_eq!((shown.code, &*shown.stderr), (Some(0), ""));
    // Three tests of two pairs, one way.
    assert!(shown.stdout.contains("6 tests in"), "{}", shown.stdout);
    let services = file("activehosts.json", r#"{"hosts":[{"locator":"http://ls.example.org:8090/lookup/records"}]}"#);
    let refused = linerate(&["round", "init", ".", "--hosts-from", &services]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("lists lookup services"), "{}", refused.stderr);
    assert_eq!(linerate(&["round", "init", "."]).code, Some(2), "one host tests nobody");
}

#[test]
fn a_plan_and_a_template_become_each_other() {
    let template = linerate(&["round", "convert", PLAN]);
    assert!(
        template.stderr.contains("warning: segments: links have no counterpart in a template"),
        "{}",
        template.stderr
    );
    let value: Value = serde_json::from_str(&template.stdout).unwrap();
    assert_eq!(value["groups"]["overlay"]["type"], "mesh");
    assert_eq!(value["addresses"]["na-arc-1"]["labels"]["ingress"]["address"], "10.0.0.2");
    let plan = linerate(&["round", "convert", TEMPLATE]);
    assert_eq!(plan.code, Some(0));
    assert!(
        plan.stdout.contains("rate = \"26Gbit/s\"") && plan.stderr.contains("dns"),
        "{}{}",
        plan.stdout,
        plan.stderr
    );
    assert_eq!(linerate(&["round", "convert", TEMPLATE, "--quiet"]).stderr, "");
}

#[test]
fn what_cannot_be_used_is_said_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.toml");
    fs::write(&path, "title = \"t\"\n[hosts.a]\nadress = \"x\"\n[groups.g]\nmesh = [\"a\"]\n").unwrap();
    let ended = linerate(&["round", "show", path.to_str().unwrap()]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("plan.toml:3:1: hosts.a.adress: unknown key `adress`"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: did you mean `address`?"), "{}", ended.stderr);
    let ended = linerate(&["round", "grid", PLAN]);
    assert_eq!(ended.code, Some(9));
    assert!(ended.stderr.contains("is no round"), "{}", ended.stderr);
    let empty = of_changed(|round| round["tests"] = json!([]), &[]);
    assert_eq!(empty.code, Some(9));
    assert!(empty.stderr.contains("nothing that has a grid was measured"), "{}", empty.stderr);
}
