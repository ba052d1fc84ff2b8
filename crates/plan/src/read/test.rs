//! Tests, and what is expected of them.

use std::collections::BTreeSet;
use std::time::Duration;

use document::{DocumentError, Key, Reference};
use model::spec::{Limit, Protocol, TestSpec};
use units::{DataRate, duration};

use super::names::Names;
use super::text::{ExpectationText, TestText};
use crate::operation::Trigger;
use crate::plan::{Expectation, Group, PairExpectation, Plan, Test};
use crate::task::text::{TaskText, USUAL_UDP_RATE};
use crate::task::{Flow, Ping, Task, TestKind, Weight};

const OWN_KEYS: [&str; 5] = ["label", "group", "expect", "every", "when"];

pub(super) fn tests(texts: Vec<TestText>, tasks: &[TaskText], names: &mut Names<'_>) -> Vec<Test> {
    let list = Key::top("tests");
    let both = texts.into_iter().zip(tasks).enumerate().take(super::names::MOST_TESTS);
    both.filter_map(|(number, (text, task))| test(text, task, &list.nth(number), names)).collect()
}

fn test(text: TestText, task_text: &TaskText, key: &Key, names: &mut Names<'_>) -> Option<Test> {
    task_text.only_keys(key, &OWN_KEYS, &mut names.desk);
    let made = task_text.settle(key, None, &mut names.desk);
    let group = match (text.group, names.groups.len()) {
        (Some(name), _) => {
            names.desk.defined(&key.at("group"), Reference { what: "group", name: &name }, &names.groups)
        }
        (None, 1) => Some(0),
        (None, _) => {
            names.desk.complain(
                key,
                DocumentError::Needs { of: "a test of a plan with several groups".to_owned(), key: "group" },
            );
            None
        }
    };
    let expect = match text.expect {
        Some(text) => Some(expectation(&text, &key.at("expect"), names)?),
        None => None,
    };
    if let Some(expect) = expect
        && (task_text.kind() == TestKind::Ping) != matches!(expect, Expectation::Rtt(_))
    {
        let problem = DocumentError::Keys("a rate is expected of `tcp`, `udp` and `http`, a time of `ping`");
        names.desk.complain(&key.at("expect"), problem);
    }
    let (task, group) = (made?, group?);
    let label = text.label.unwrap_or_else(|| usual_label(&task));
    if text.every.is_some_and(|every| every.is_zero()) {
        names.desk.complain(&key.at("every"), DocumentError::Keys("from one round to the next there is some time"));
    }
    let trigger = match text.when.as_deref() {
        None | Some("both") => Trigger::TimeOrChange,
        Some("time") => Trigger::Time,
        Some("change") if task.weight() == Weight::Heavy => Trigger::Change,
        Some(_) => {
            names.desk.complain(&key.at("when"), DocumentError::Keys(WHEN));
            return None;
        }
    };
    Some(Test { label, group, family: task_text.family(), task, expect, every: text.every, trigger })
}

/// What a test is called that says nothing about it.
pub(crate) fn usual_label(task: &Task) -> String {
    match task {
        Task::Tcp(_) => "tcp",
        Task::Udp(_) => "udp",
        Task::Ping(_) => "rtt",
        Task::Mtu => "mtu",
        Task::Http(_) => "download",
        Task::Hops => "hops",
    }
    .to_owned()
}

/// What a plan tests that says nothing about it.
pub(super) fn usual(groups: &[Group]) -> Vec<Test> {
    let udp = TestSpec {
        protocol: Protocol::Udp,
        limit: Limit::Time(Duration::from_secs(5)),
        rate: Some(USUAL_UDP_RATE),
        ..TestSpec::default()
    };
    let tasks = [
        Task::Ping(Ping::default()),
        Task::Mtu,
        Task::Hops,
        Task::Tcp(Flow { spec: TestSpec::default(), expect: None }),
        Task::Udp(Flow { spec: udp, expect: None }),
    ];
    let of_group = |group| {
        tasks.clone().map(|task| Test {
            label: usual_label(&task),
            group,
            task,
            family: None,
            expect: None,
            every: None,
            trigger: Trigger::default(),
        })
    };
    (0..groups.len()).flat_map(of_group).collect()
}

pub(super) fn expectations(texts: &[ExpectationText], names: &mut Names<'_>) -> Vec<PairExpectation> {
    let list = Key::top("expectations");
    let mut made = Vec::with_capacity(texts.len());
    for (number, text) in texts.iter().enumerate() {
        let key = list.nth(number);
        let from = names.hosts(&key.at("from"), &text.from);
        let to = names.hosts(&key.at("to"), &text.to);
        let network = names.network(&key.at("network"), text.network.as_deref());
        let expect = expectation(&text.expect, &key.at("expect"), names);
        if let (Some(network), Some(expect)) = (network, expect) {
            made.push(PairExpectation { from, to, network, expect });
        }
    }
    made
}

/// Reads `9Gbit/s`, `90%` or `50ms`.
fn expectation(text: &str, key: &Key, names: &mut Names<'_>) -> Option<Expectation> {
    let share = text.strip_suffix('%').map(|percent| percent.trim().parse::<f64>());
    let read = match share {
        Some(Ok(percent)) if percent > 0.0 && percent <= 100.0 => Some(Expectation::Percent(percent)),
        Some(_) => None,
        None => match text.parse::<DataRate>() {
            Ok(rate) if !rate.is_zero() => Some(Expectation::Rate(rate)),
            Ok(_) => None,
            Err(_) => duration::parse(text).ok().filter(|time| !time.is_zero()).map(Expectation::Rtt),
        },
    };
    if read.is_none() {
        let problem =
            DocumentError::Keys("expected is a rate (`9Gbit/s`), a part of the line rate (`90%`) or a time (`50ms`)");
        names.desk.complain(key, problem);
    }
    read
}

/// What can be told only where all the parts are there.
pub(super) fn check_all(plan: &Plan, names: &mut Names<'_>) {
    let mut labels = BTreeSet::new();
    for (number, test) in plan.tests.iter().enumerate() {
        if !labels.insert((test.group, &test.label)) {
            let problem = DocumentError::Twice { what: "test of this group", name: test.label.clone() };
            names.desk.complain(&Key::top("tests").nth(number), problem);
        }
    }
    let count = plan.tests.iter().map(|test| plan.groups[test.group].most_pairs()).fold(0, usize::saturating_add);
    if count > MOST_PAIRS {
        let problem = DocumentError::TooMany { what: "tests of pairs", count, limit: MOST_PAIRS };
        names.desk.complain(&Key::top("groups"), problem);
        return;
    }
    let tested: BTreeSet<usize> = plan.tests.iter().map(|test| test.group).collect();
    for group in tested.into_iter().map(|group| &plan.groups[group]) {
        if group.pairs().is_empty() {
            names
                .desk
                .complain(&Key::top("groups").at(&group.name), DocumentError::Keys("no pair of hosts is left to test"));
        }
    }
}

const WHEN: &str = "`when` is `time`, `change` (of the light tests of a pair; of tests that are not light) or `both`";
/// Ten tests of a mesh of a hundred hosts.
pub(crate) const MOST_PAIRS: usize = 100_000;
