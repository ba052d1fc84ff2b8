//! Outputs that people paste when something is slow, one of each tool: `testdata/foreign/tools` has them, each with the fault that its tool shows
//! best, and in `expected.txt` what has to be said of each: a fault, behind `+` that all is well, behind `-` a fact and no fault.

use std::collections::BTreeSet;
use std::path::PathBuf;

use diagnose::statements::StatementKind;

use super::statements;

#[test]
fn each_tool_s_output_says_what_a_person_reads_in_it() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foreign/tools");
    let expected = std::fs::read_to_string(folder.join("expected.txt")).unwrap();
    let mut left: BTreeSet<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "expected.txt")
        .collect();
    let mut wrong = Vec::new();
    for line in expected.lines() {
        let (name, phrase) = line.split_once(": ").unwrap();
        assert!(left.remove(name), "{name}: no such file, or twice");
        let all = statements(&std::fs::read_to_string(folder.join(name)).unwrap());
        let is_fault = |kind: StatementKind| kind.is_fault();
        let says = |phrase: &str, of: &dyn Fn(StatementKind) -> bool| {
            all.iter().any(|one| of(one.kind) && one.says.contains(phrase))
        };
        let is_right = if let Some(fact) = phrase.strip_prefix("- ") {
            says(fact, &|kind| kind == StatementKind::Fact) && !all.iter().any(|one| is_fault(one.kind))
        } else if let Some(well) = phrase.strip_prefix("+ ") {
            says(well, &|kind| kind == StatementKind::Well) && !all.iter().any(|one| is_fault(one.kind))
        } else {
            says(phrase, &is_fault)
        };
        if !is_right {
            wrong.push(format!("{name}: {phrase}: {all:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(left.is_empty(), "without a line in expected.txt: {left:?}");
}
