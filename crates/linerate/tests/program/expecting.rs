//! What a run should have reached, and the same transfer simulated with other settings.

use model::expectation::{Expected, How};
use model::run::Run;
use serde_json::Value;

use crate::actors::linerate::{ArchiveFile, Server, linerate, measured};
use crate::actors::process::Ended;

/// A test of half a second with a rate of its own, so that neither the machine nor the path is what limits it.
fn tested(archive: &ArchiveFile, more: &[&str]) -> Ended {
    let server = Server::start(&[]);
    let port = server.port.to_string();
    let test =
        ["test", "127.0.0.1", "--port", &port, "--time", "500ms", "--rate", "20Mbit/s", "--archive", archive.arg()];
    let ended = linerate(&[&test, more].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended
}

fn line<'a>(text: &'a str, label: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no `{label}`: {text}"))
}

#[test]
fn a_path_of_which_no_rate_is_known_has_a_reason_in_place_of_an_expectation() {
    let told = tested(&ArchiveFile::new(), &[]).stdout;
    let expected = line(&told, "expected ");
    assert!(expected.contains("unknown, no rate of the path is known") && expected.contains("--expect"), "{told}");
}

#[test]
fn a_test_says_what_it_should_have_reached_and_what_that_is_known_from() {
    let archive = ArchiveFile::new();
    let told = tested(&archive, &["--expect", "1Gbit/s"]).stdout;
    let expected = line(&told, "expected ");
    assert!(expected.contains("(the test asks for 20.0 Mbit/s); measured "), "{told}");
    let shown = linerate(&["runs", "show", "last", "--archive", archive.arg()]).stdout;
    assert_eq!(line(&shown, "expected "), expected);
    let path: Vec<&str> = line(&shown, "path ").split_whitespace().collect();
    assert_eq!(path, ["path", "1.00", "Gbit/s", "given", "as", "declared", "for", "the", "test"]);
    assert!(line(&shown, "send buffer ").contains("tcp_wmem of "), "{shown}");
}

#[test]
fn documents_hold_the_expectation_with_its_inputs() {
    let archive = ArchiveFile::new();
    let run: Run = serde_json::from_str(&tested(&archive, &["--expect", "1Gbit/s", "--json"]).stdout).unwrap();
    let [expectation] = &measured(&run).expectations[..] else { panic!("one direction: {run:?}") };
    let Expected::Predicted(prediction) = &expectation.expected else { panic!("{expectation:?}") };
    let inputs = &prediction.inputs;
    // Of buffers the kernel is asked, by both ends.
    let told = [&run.local, &run.peer.host].map(|host| host.tcp.unwrap());
    assert_eq!((inputs.send_buffer.value, inputs.send_buffer.how), (told[0].send.most, How::Host));
    assert_eq!((inputs.receive_buffer.value, inputs.receive_buffer.how), (told[1].receive.most, How::Host));
    assert_eq!((inputs.path_rate.value.bps(), inputs.rtt_us.how), (1_000_000_000, How::Measured));
}

#[test]
fn a_simulation_begins_with_what_a_run_knows_and_what_is_typed_counts_for_more() {
    let archive = ArchiveFile::new();
    tested(&archive, &["--expect", "1Gbit/s"]);
    let simulate = |more: &[&str]| {
        let ended = linerate(&[&["simulate", "flow", "--from-run", "last", "--archive", archive.arg()], more].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stdout
    };
    let typed = ["--wmem", "64MiB", "--rtt", "10ms", "--application-rate", "30Mbit/s"];
    let told = simulate(&typed);
    assert!(
        line(&told, "send buffer  ").contains("64 MiB") && line(&told, "send buffer  ").ends_with("--wmem"),
        "{told}"
    );
    assert!(line(&told, "RTT  ").ends_with("--rtt"), "{told}");
    assert!(line(&told, "path  ").ends_with("as declared for the test"), "{told}");
    assert!(told.lines().any(|line| line.starts_with("simulated ") && line.contains("; measured ")), "{told}");
    // Beside it, the same settings and what was measured in each step of time.
    let beside = linerate(&["simulate", "flow", "--beside", "last", "--archive", archive.arg()]);
    assert_eq!(beside.code, Some(0), "{}", beside.stderr);
    assert!(beside.stdout.contains("GOODPUT, MEASURED / SIMULATED"), "{}", beside.stdout);
    let document: Value = serde_json::from_str(&simulate(&[&typed[..], &["--json"]].concat())).unwrap();
    assert_eq!(document["from_run"]["inputs"]["send_buffer_bytes"]["value"], 64 << 20);
    let (simulated, measured) = (document["goodput_bps"].as_u64().unwrap(), &document["from_run"]["measured_bps"]);
    assert!((10_000_000..=30_100_000).contains(&simulated) && measured.as_u64().unwrap() > 0, "{document}");
}

#[test]
fn a_transfer_is_simulated_from_one_run_and_laid_beside_another() {
    let archive = ArchiveFile::new();
    let [first, second] = ["1Gbit/s", "2Gbit/s"].map(|expected| {
        let told = tested(&archive, &["--expect", expected, "--json"]).stdout;
        serde_json::from_str::<Run>(&told).unwrap()
    });
    let [first_id, second_id] = [&first, &second].map(|run| run.id.to_string());
    let simulate = |more: &[&str]| -> Value {
        let ended = linerate(&[&["simulate", "flow", "--json", "--archive", archive.arg()], more].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    };
    let total = |run: &Run| serde_json::to_value(&measured(run).totals[0]).unwrap();
    assert_ne!(total(&first), total(&second), "the two cannot be told apart");
    for (more, from, beside) in [
        (&["--beside", &first_id][..], Some(&first), &first),
        (&["--from-run", &first_id, "--beside", &first_id], Some(&first), &first),
        (&["--from-run", &first_id, "--beside", &second_id], Some(&first), &second),
        (&["--from-run", &second_id, "--beside", &first_id], Some(&second), &first),
        (&["--rate", "1Gbit/s", "--rtt", "10ms", "--time", "1s", "--beside", "last"], None, &second),
    ] {
        let document = simulate(more);
        let id = from.map(|run| serde_json::to_value(run.id).unwrap());
        assert_eq!(document.get("from_run").map(|taken| taken["run"].clone()), id, "{more:?}");
        assert_eq!(document["measured"]["total"], total(beside), "{more:?}");
    }
}

#[test]
fn a_run_in_a_file_is_as_good_as_one_in_the_archive() {
    let archive = ArchiveFile::new();
    let run = tested(&archive, &["--expect", "1Gbit/s", "--json"]).stdout;
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in
        [("run.json", run.clone()), ("export.json", format!(r#"{{"run":{run},"samples":{{"streams":[]}}}}"#))]
    {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let told = linerate(&["simulate", "flow", "--from-run", file.to_str().unwrap()]);
        assert_eq!(told.code, Some(0), "{name}: {}", told.stderr);
        assert!(line(&told.stdout, "asked for  ").contains("20.0 Mbit/s"), "{}", told.stdout);
    }
}

#[test]
fn what_cannot_be_taken_from_a_run_is_refused_with_a_way_out() {
    let archive = ArchiveFile::new();
    tested(&archive, &[]);
    let from = |name: &str, more: &[&str]| {
        linerate(&[&["simulate", "flow", "--from-run", name, "--archive", archive.arg()], more].concat())
    };
    let no_rate = from("last", &[]);
    assert_eq!(no_rate.code, Some(2));
    assert!(
        no_rate.stderr.contains("no rate of the path is known") && no_rate.stderr.contains("--rate"),
        "{}",
        no_rate.stderr
    );
    assert_eq!(from("last", &["--rate", "1Gbit/s"]).code, Some(0));
    assert_eq!(from("nothing-like-it", &[]).code, Some(9));
    assert_eq!(from("last", &["--rate", "1Gbit/s", "--test", "a to b"]).code, Some(2));
}
