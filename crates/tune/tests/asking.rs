//! Questions as they are written and typed.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use tune::{Question, Wanted};

const BASE: &str = "[set]\nrate = \"1Gbit/s\"\nrtt = \"10ms\"\nbytes = \"1MB\"\ndeadline = \"1s\"\n";

fn refused(text: &str, wanted: &Wanted, part: &str) {
    let error = Question::read(text, wanted).unwrap_err().to_string();
    assert!(error.contains(part), "{text}\n{error}");
}

#[test]
fn files_that_ask_nothing_say_what_is_wrong() {
    let none = Wanted::default();
    for (text, part) in [
        ("name = 3", "expected a string"),
        ("[set]\nrtt = \"1ms\"", "`rate` is given nowhere"),
        ("[set]\nrate = \"1Gbit/s\"\nrtt = \"1ms\"\nbytes = \"1MB\"", "`deadline` is given nowhere: without one"),
        ("[set]\nrate = \"1Gbit/s\"\nrtt = \"1ms\"\ndeadline = \"1s\"", "`bytes` is given nowhere"),
        (&format!("{BASE}queue = 20"), "`queue` in [set]: `20` is integer; write a text such as \"20MB\""),
        (&format!("{BASE}windows = 3"), "`windows` in [set] is no parameter"),
        (&format!("{BASE}wmem = [\"1MiB\", \"2MiB\"]"), "what it may become stands in [vary]"),
        (&format!("{BASE}burst-length = {{ from = \"2s\", to = \"1s\" }}"), "2.00 s is not less than 1.00 s"),
        (&format!("{BASE}[vary]\nrtt = [\"1ms\", \"2ms\"]"), "it is no setting; there are `congestion`"),
        (&format!("{BASE}[vary]\nwindow = [1, 2]"), "`window` in [vary] is no parameter; there is `initial-window`"),
        (
            &format!("{BASE}[vary]\ncongestion = [\"cubic\", \"vegas\"]"),
            "with `congestion` = vegas this is no transfer",
        ),
        (&format!("{BASE}[vary]\nstreams = [0, 1]"), "with `streams` = 0 this is no transfer"),
        (&format!("{BASE}[vary]\nrmem = [\"4GiB\"]"), "2147483647B is the most"),
        (&format!("{BASE}[vary]\nfq = false"), "no setting that may be changed"),
    ] {
        refused(text, &none, part);
    }
}

#[test]
fn what_was_typed_holds_in_place_of_what_the_file_says() {
    let mut wanted = Wanted { keep: vec!["pace".to_owned()], ..Wanted::default() };
    wanted.set("rtt", "20ms").unwrap();
    wanted.set("burst-length", "25ms..2s").unwrap();
    wanted.set("burst-start", "1s, 2s").unwrap();
    let question = Question::read(BASE, &wanted).unwrap();
    assert_eq!(question.base.get("rtt").to_string(), "20.0 ms");
    assert_eq!(question.drawn.len(), 2);
    let names: Vec<&str> = question.dials.iter().map(|dial| dial.parameter.name).collect();
    assert!(names.contains(&"wmem") && !names.contains(&"pace"), "{names:?}");
    wanted.vary("wmem=1MiB..8MiB");
    wanted.vary("fq");
    let question = Question::read(&format!("{BASE}[vary]\nstreams = [1, 2]"), &wanted).unwrap();
    let names: Vec<&str> = question.dials.iter().map(|dial| dial.parameter.name).collect();
    assert_eq!(names, ["wmem", "fq"]);
    let sizes: Vec<String> = question.dials[0].values.iter().map(sweep::value::Value::exact).collect();
    assert_eq!(sizes, ["1048576B", "2097152B", "4194304B", "8388608B"], "4 MiB, what it is now, is there once");
}

#[test]
fn what_cannot_be_typed_is_told_where_it_was() {
    let mut wanted = Wanted::default();
    for (name, text, part) in [
        ("rtt", "209", "no unit"),
        ("burst-length", "2s..25ms", "is not less"),
        ("burst-length", "25ms..", "does not start with a number"),
        ("fq", "maybe", "neither true nor false"),
    ] {
        let error = wanted.set(name, text).unwrap_err();
        assert!(error.contains(part), "{name} {text}: {error}");
    }
    wanted.vary("wnd");
    refused(BASE, &wanted, "`wnd` in --vary is no parameter");
    let kept = Wanted { keep: vec!["buffers".to_owned()], ..Wanted::default() };
    refused(BASE, &kept, "`buffers` in --keep is no parameter");
}

#[test]
fn every_question_that_comes_with_the_program_can_be_asked() {
    let folder = format!("{}/questions", env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty());
    for file in files {
        let question = Question::read(&std::fs::read_to_string(&file).unwrap(), &Wanted::default()).unwrap();
        assert_eq!(format!("{}.toml", question.name), file.file_name().unwrap().to_string_lossy());
        assert!(question.with_own_queue().is_some());
    }
}
