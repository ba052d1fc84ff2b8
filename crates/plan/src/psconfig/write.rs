//! From a plan to a template.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::remark::Remarks;
use super::spec_of;
use super::template::Exported;
use super::values::written;
use crate::plan::{Group, Host, Plan, Shape, Ways};

pub(super) fn template(plan: &Plan) -> Exported {
    let mut remarks = Remarks::default();
    left_out(plan, &mut remarks);
    let mut top = Map::new();
    top.insert("_meta".to_owned(), json!({ "display-name": plan.title }));
    top.insert("addresses".to_owned(), addresses(plan));
    if let Some(hosts) = machines(plan) {
        top.insert("hosts".to_owned(), hosts);
    }
    let mut parts = Parts::default();
    let groups: Vec<Vec<String>> = plan.groups.iter().map(|group| parts.group(plan, group)).collect();
    for number in 0..plan.tests.len() {
        parts.tasks(plan, number, &groups, &mut remarks);
    }
    for (key, value) in
        [("groups", parts.groups), ("tests", parts.tests), ("tasks", parts.tasks), ("schedules", parts.schedules)]
    {
        if key != "schedules" || !value.is_empty() {
            top.insert(key.to_owned(), Value::Object(value));
        }
    }
    Exported { template: Value::Object(top), remarks: remarks.0 }
}

fn left_out(plan: &Plan, remarks: &mut Remarks) {
    let lists = [
        ("segments", plan.segments.len(), "links have no counterpart in a template"),
        ("ways", plan.ways.len(), "ways have no counterpart in a template"),
        ("expectations", plan.expectations.len(), "expectations have no counterpart in a template"),
    ];
    for (key, count, what) in lists {
        if count > 0 {
            remarks.add(key, what);
        }
    }
    if !plan.maintenance.is_empty() || !plan.budgets.is_empty() {
        remarks.add("maintenance", "maintenance and budgets have no counterpart in a template");
    }
    if plan.tests.iter().any(|test| test.expect.is_some()) {
        remarks.add("tests", "expectations have no counterpart in a template");
    }
    let has_more = |host: &Host| host.reach.is_some() || host.rate.is_some() || host.serves || host.port.is_some();
    if plan.hosts.iter().any(has_more) {
        remarks.add("hosts", "how hosts are reached and their rates have no counterpart in a template");
    }
}

/// Only hosts that somebody may ask have addresses.
fn addresses(plan: &Plan) -> Value {
    let mut addresses = Map::new();
    for host in plan.hosts.iter().filter(|host| host.address.is_some() || !host.addresses.is_empty()) {
        let mut address = Map::new();
        let first = host.address.as_ref().or_else(|| host.addresses.values().next());
        address.insert("address".to_owned(), json!(first));
        if let Some(machine) = &host.machine {
            address.insert("host".to_owned(), json!(machine));
        }
        if !host.addresses.is_empty() {
            let label = |(network, address): (&usize, &String)| {
                (plan.networks[*network].name.clone(), json!({ "address": address }))
            };
            address.insert("labels".to_owned(), host.addresses.iter().map(label).collect());
        }
        let tags = tags(host);
        if !tags.is_empty() {
            address.insert("tags".to_owned(), json!(tags));
        }
        addresses.insert(host.name.clone(), Value::Object(address));
    }
    Value::Object(addresses)
}

/// Roles as they are, attributes as `key:value`.
fn tags(host: &Host) -> Vec<String> {
    let attributes = host.attributes.iter().map(|(key, value)| format!("{key}:{value}"));
    host.roles.iter().cloned().chain(attributes).collect()
}

fn machines(plan: &Plan) -> Option<Value> {
    let machines: BTreeSet<&String> = plan.hosts.iter().filter_map(|host| host.machine.as_ref()).collect();
    let table: Map<String, Value> = machines.into_iter().map(|machine| (machine.clone(), json!({}))).collect();
    (!table.is_empty()).then_some(Value::Object(table))
}

#[derive(Default)]
struct Parts {
    groups: Map<String, Value>,
    tests: Map<String, Value>,
    tasks: Map<String, Value>,
    schedules: Map<String, Value>,
}

impl Parts {
    /// The groups of a template that one of a plan becomes: a list of pairs has one for each set of receivers.
    fn group(&mut self, plan: &Plan, group: &Group) -> Vec<String> {
        let chosen = |hosts: &[usize]| -> Value {
            let one = |host: &usize| {
                let name = &plan.hosts[*host].name;
                match group.network {
                    Some(network) => json!({ "name": name, "label": plan.networks[network].name }),
                    None => json!({ "name": name }),
                }
            };
            hosts.iter().map(one).collect()
        };
        let mut made: Vec<Map<String, Value>> = Vec::new();
        match &group.shape {
            Shape::Mesh(hosts) => made.push(object(json!({ "type": "mesh", "addresses": chosen(hosts) }))),
            Shape::Disjoint { a, b, ways } => made.push(disjoint(&chosen(a), &chosen(b), *ways)),
            Shape::List(_) => {
                for (senders, receivers) in bundles(group) {
                    made.push(disjoint(&chosen(&senders), &chosen(&receivers), Ways::One));
                }
            }
        }
        let is_list = matches!(group.shape, Shape::List(_));
        let mut names = Vec::with_capacity(made.len());
        for mut value in made {
            // Pairs that a list leaves out are not in its bundles.
            value.insert("excludes-self".to_owned(), json!("address"));
            if !is_list && !group.without.is_empty() {
                value.insert("excludes".to_owned(), excludes(group, &chosen));
            }
            names.push(put(&mut self.groups, &group.name, Value::Object(value)));
        }
        names
    }

    fn tasks(&mut self, plan: &Plan, number: usize, groups: &[Vec<String>], remarks: &mut Remarks) {
        let test = &plan.tests[number];
        let name: String = test.label.chars().map(|letter| if is_of_a_name(letter) { letter } else { '-' }).collect();
        let Some(value) = spec_of::test(test, &format!("tests[{number}]"), remarks) else { return };
        let test_name = put(&mut self.tests, &name, value);
        let schedule = test.every.or(plan.times.every).map(|every| {
            let repeat = json!({ "repeat": written(every) });
            let same = self.schedules.iter().find(|(_, known)| **known == repeat).map(|(name, _)| name.clone());
            same.unwrap_or_else(|| put(&mut self.schedules, &format!("every-{}", written(every)), repeat))
        });
        for group in &groups[test.group] {
            let mut task = object(json!({ "group": group, "test": test_name }));
            if let Some(schedule) = &schedule {
                task.insert("schedule".to_owned(), json!(schedule));
            }
            put(&mut self.tasks, &name, Value::Object(task));
        }
    }
}

fn disjoint(a: &Value, b: &Value, ways: Ways) -> Map<String, Value> {
    let mut group = object(json!({ "type": "disjoint", "a-addresses": a, "b-addresses": b }));
    if ways == Ways::One {
        group.insert("unidirectional".to_owned(), json!(true));
    }
    group
}

/// Senders that have the same receivers, with those.
fn bundles(group: &Group) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut receivers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for pair in group.pairs() {
        receivers.entry(pair.from).or_default().insert(pair.to);
    }
    let mut bundles: BTreeMap<BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
    for (from, to) in receivers {
        bundles.entry(to).or_default().push(from);
    }
    bundles.into_iter().map(|(to, from)| (from, to.into_iter().collect())).collect()
}

fn excludes(group: &Group, chosen: &dyn Fn(&[usize]) -> Value) -> Value {
    let mut targets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (from, to) in &group.without {
        targets.entry(*from).or_default().push(*to);
    }
    let exclude = |(from, to): (usize, Vec<usize>)| json!({ "local-address": chosen(&[from])[0], "target-addresses": chosen(&to) });
    targets.into_iter().map(exclude).collect()
}

/// Puts a value under a name, or under that name with a number where it is taken.
fn put(table: &mut Map<String, Value>, wanted: &str, value: Value) -> String {
    let mut name = wanted.to_owned();
    let mut number = 2;
    while table.contains_key(&name) {
        name = format!("{wanted}-{number}");
        number += 1;
    }
    table.insert(name.clone(), value);
    name
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(table) = value { table } else { Map::new() }
}

fn is_of_a_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, ':' | '.' | '_' | '-')
}
