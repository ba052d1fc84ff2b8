//! `tests/cases/*.toml`: for each rule a host on which it fires, and what is different on one on which it passes.

use std::collections::BTreeSet;
use std::fs;

use audit::Rules;
use audit::expression::View;
use audit::report::Answer;
use serde::Deserialize;
use serde_json::Value;

use crate::support::{Situation, answers};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    pub(crate) rule: String,
    pub(crate) fires: Value,
    pub(crate) passes: Value,
    pub(crate) before: Option<Value>,
}

impl Written {
    fn firing(&self) -> Situation {
        Situation::new(self.fires.clone(), self.before.clone().or(Some(Value::Object(Default::default()))))
    }
}

pub(crate) fn cases() -> Vec<Written> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file: File = toml::from_str(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        cases.extend(file.case);
    }
    cases
}

#[test]
fn every_rule_has_a_case() {
    let covered: BTreeSet<String> = cases().into_iter().map(|case| case.rule).collect();
    let rules: BTreeSet<String> = Rules::built_in().all().iter().map(|rule| rule.id.clone()).collect();
    assert_eq!(rules.difference(&covered).collect::<Vec<_>>(), Vec::<&String>::new(), "rules without a case");
    assert_eq!(covered.difference(&rules).collect::<Vec<_>>(), Vec::<&String>::new(), "cases without a rule");
    assert_eq!(rules.len(), 138);
}

#[test]
fn each_fires_where_it_should_and_proposes_something() {
    let rules = Rules::built_in();
    for case in cases() {
        let report = case.firing().audit(&rules);
        let given = answers(&report, &case.rule);
        let unknown: Vec<_> = report.unknown.iter().filter(|unknown| unknown.rule == case.rule).collect();
        assert!(given.contains(&Answer::Fail), "{} gives {given:?}: {unknown:#?}", case.rule);
        let finding = report.findings.iter().find(|finding| finding.rule == case.rule).unwrap();
        assert!(finding.wanted.is_some(), "{} wants nothing", case.rule);
        let rule = rules.get(&case.rule).unwrap();
        assert_eq!(finding.fix.len(), rule.fix.len(), "{}: a step of the fix has no value", case.rule);
        for step in &finding.fix {
            assert!(!step.command.is_empty(), "{} has a step without a command", case.rule);
        }
        assert!(!finding.facts.is_empty(), "{} rests on no fact", case.rule);
    }
}

#[test]
fn each_passes_where_it_should() {
    let rules = Rules::built_in();
    for case in cases() {
        let report = case.firing().with(case.passes.clone()).audit(&rules);
        let given = answers(&report, &case.rule);
        assert!(given.contains(&Answer::Pass), "{} gives {given:?}", case.rule);
        assert!(!given.contains(&Answer::Fail), "{} gives {given:?}", case.rule);
    }
}

#[test]
fn no_missing_fact_makes_a_rule_pass() {
    let rules = Rules::built_in();
    let mut removed = 0;
    for case in cases() {
        let rule = rules.get(&case.rule).unwrap();
        for &number in &rule.slots[..rule.deciding] {
            let slot = rules.language().slot(number);
            // The profile is not read from the host: what it lacks has its own tests.
            if slot.path.root == "profile" {
                continue;
            }
            let mut without = vec![("now", case.firing().without(&slot.path))];
            if slot.view != View::Value {
                without.push(("before", Situation { before: None, ..case.firing() }));
            }
            for (when, situation) in without {
                let given = answers(&situation.audit(&rules), &case.rule);
                let fine = given.iter().any(|answer| matches!(answer, Answer::Fail | Answer::Unknown));
                assert!(fine, "{} gives {given:?} without {} ({when})", case.rule, slot.path);
                removed += 1;
            }
        }
    }
    assert!(removed > 200, "only {removed} facts were taken away");
}

#[test]
fn without_a_round_trip_time_no_buffer_is_judged() {
    let rules = Rules::built_in();
    for case in cases().iter().filter(|case| case.rule.ends_with("MEM-BDP")) {
        let path = audit::fact::Path {
            root: "profile".to_owned(),
            segments: vec![audit::fact::Segment::Key("rtt".to_owned())],
        };
        let report = case.firing().without(&path).audit(&rules);
        assert_eq!(answers(&report, &case.rule), [Answer::Unknown]);
        let unknown = report.unknown.iter().find(|unknown| unknown.rule == case.rule).unwrap();
        assert!(unknown.missing.iter().any(|lacked| lacked.missing.detail.contains("--rtt")), "{unknown:?}");
    }
}
