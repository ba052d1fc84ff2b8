//! From a template to a plan.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::between::{self, Places};
use super::entries::table;
use super::remark::Remarks;
use super::spec::{self, Read};
use super::template::{Imported, LONGEST_TEMPLATE, TemplateError};
use super::values::duration;
use crate::operation::Trigger;
use crate::plan::{Group, Plan, Test, Times};
use crate::read::names::{MOST_HOSTS, MOST_TESTS};
use crate::read::test::MOST_PAIRS;

pub(super) fn template(file: &str, bytes: &[u8]) -> Result<Imported, TemplateError> {
    let file = file.to_owned();
    if bytes.len() > LONGEST_TEMPLATE {
        return Err(TemplateError::TooLarge { file, limit: LONGEST_TEMPLATE });
    }
    let top: Map<String, Value> = serde_json::from_slice(bytes).map_err(|source| {
        let (line, column) = (source.line(), source.column());
        TemplateError::Json { file: file.clone(), line, column, source }
    })?;
    for key in ["addresses", "groups", "tests", "tasks"] {
        if !top.get(key).is_some_and(Value::is_object) {
            return Err(TemplateError::Lacks { file, key });
        }
    }
    let addresses = table(&top, "addresses").len();
    if addresses > MOST_HOSTS {
        return Err(TemplateError::TooMany { file, what: "addresses", count: addresses, limit: MOST_HOSTS });
    }
    let mut remarks = Remarks::default();
    left_out(&top, &mut remarks);
    let mut places = between::places(&top, &mut remarks);
    let (groups, tests) = tasks(&top, &mut places, &mut remarks);
    let count = tests.iter().map(|test| groups[test.group].most_pairs()).fold(0, usize::saturating_add);
    if count > MOST_PAIRS || tests.len() > MOST_TESTS {
        return Err(TemplateError::TooMany { file, what: "tests of pairs", count, limit: MOST_PAIRS });
    }
    if tests.is_empty() {
        let why = remarks.0.first().map_or_else(|| "there is none".to_owned(), ToString::to_string);
        return Err(TemplateError::Nothing { file, why });
    }
    let plan = Plan {
        title: title(&top)
            .unwrap_or_else(|| file.rsplit('/').next().unwrap_or_default().trim_end_matches(".json").to_owned()),
        about: None,
        times: Times::default(),
        hosts: places.hosts,
        networks: places.networks,
        segments: Vec::new(),
        ways: Vec::new(),
        groups,
        tests,
        expectations: Vec::new(),
        maintenance: Vec::new(),
        budgets: Vec::new(),
    };
    Ok(Imported { plan, remarks: remarks.0 })
}

fn title(top: &Map<String, Value>) -> Option<String> {
    let title = top.get("_meta")?.get("display-name")?.as_str()?;
    Some(title.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|title| !title.is_empty())
}

/// What whole templates may have and plans do not.
fn left_out(top: &Map<String, Value>, remarks: &mut Remarks) {
    let known = [
        ("archives", "archives belong to perfSONAR; rounds are kept here"),
        ("address-classes", "classes of addresses are not worked out"),
        ("contexts", "contexts are not entered"),
        ("includes", "other files are not fetched; join them first"),
        ("subtasks", "tasks within tasks are not run"),
    ];
    for (key, value) in top {
        if value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty) {
            continue;
        }
        match known.iter().find(|(known, _)| known == key) {
            Some((_, what)) => remarks.add(key.clone(), *what),
            None => {
                if !["addresses", "groups", "tests", "tasks", "hosts", "schedules", "_meta"].contains(&key.as_str()) {
                    remarks.add(key.clone(), "is no part of a template that we know");
                }
            }
        }
    }
}

fn tasks(top: &Map<String, Value>, places: &mut Places, remarks: &mut Remarks) -> (Vec<Group>, Vec<Test>) {
    let mut specs: BTreeMap<&str, Option<Read>> = BTreeMap::new();
    // Groups by name, and those whose tests go to one address by that as well.
    let mut known: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    let (mut groups, mut tests): (Vec<Group>, Vec<Test>) = (Vec::new(), Vec::new());
    for (name, task) in table(top, "tasks").iter().take(MOST_TESTS + 1) {
        let place = format!("tasks.{name}");
        if task.get("disabled").and_then(Value::as_bool).unwrap_or(false) {
            remarks.add(place, "is disabled");
            continue;
        }
        let named = |key: &str| task.get(key).and_then(Value::as_str);
        let (Some(group), Some(test)) = (named("group"), named("test")) else {
            remarks.add(place, "a task has a `group` and a `test`");
            continue;
        };
        let Some((test_name, value)) = table(top, "tests").iter().find(|(name, _)| *name == test) else {
            remarks.add(place, format!("no test is called `{test}`"));
            continue;
        };
        let read = specs.entry(test_name).or_insert_with(|| spec::read(test_name, value, remarks));
        let Some(Read { task: made, family, to }) = read.clone() else { continue };
        let key = (group.to_owned(), to.clone());
        let number = match known.get(&key) {
            Some(number) => *number,
            None => {
                let Some(made) = between::group(top, group, to.as_deref(), places, remarks) else { continue };
                groups.push(unique(made, &groups));
                known.insert(key, groups.len() - 1);
                groups.len() - 1
            }
        };
        let every = named("schedule").and_then(|schedule| every(top, schedule, &place, remarks));
        extras(task, &place, remarks);
        tests.push(Test {
            label: name.clone(),
            group: number,
            task: made,
            family,
            expect: None,
            every,
            trigger: Trigger::default(),
        });
    }
    (groups, tests)
}

/// A group under a name that no other has.
fn unique(mut group: Group, groups: &[Group]) -> Group {
    let wanted = group.name.clone();
    let mut number = 2;
    while groups.iter().any(|other| other.name == group.name) {
        group.name = format!("{wanted}-{number}");
        number += 1;
    }
    group
}

fn every(top: &Map<String, Value>, schedule: &str, place: &str, remarks: &mut Remarks) -> Option<Duration> {
    let Some(found) = table(top, "schedules").get(schedule) else {
        remarks.add(place, format!("no schedule is called `{schedule}`"));
        return None;
    };
    for key in ["start", "until", "max-runs"] {
        if found.get(key).is_some() {
            remarks.add(format!("schedules.{schedule}.{key}"), "rounds begin when they are told to");
        }
    }
    let repeat = found.get("repeat")?.as_str()?;
    let time = duration(repeat).filter(|time| !time.is_zero());
    if time.is_none() {
        remarks.add(format!("schedules.{schedule}.repeat"), format!("`{repeat}` is not understood"));
    }
    time
}

fn extras(task: &Value, place: &str, remarks: &mut Remarks) {
    for (key, what) in [
        ("subtasks", "tasks within tasks are not run"),
        ("scheduled-by", "who leads a round is not said in a plan"),
        ("priority", "tests have no priorities"),
    ] {
        if task.get(key).is_some() {
            remarks.add(format!("{place}.{key}"), what);
        }
    }
}
