//! Labs: those that are running, those there could be, and what the machine can do.

use comfy_table::Table;
use lab::check::{Ability, Can};
use lab::network::kept::Record;

use super::{json, table, when};

/// A lab that has just come up, and what to do with it.
pub fn up(record: &Record, title: &str) -> String {
    let mut text = format!("The lab {} is up: {title}\n\n", record.name);
    let mut hosts = Table::new();
    hosts.set_header(["HOST", "ADDRESSES"]);
    for host in &record.hosts {
        hosts.add_row([host.name.clone(), addresses(host)]);
    }
    text.push_str(&table::text(hosts));
    if let [first, .., last] = record.hosts.as_slice() {
        let (name, first, last) = (&record.name, &first.name, &last.name);
        text.push_str(&format!("\nlinerate lab exec {name}/{first} -- ping -c 3 {last}\nlinerate lab down {name}\n"));
    }
    text
}

/// The labs that are running, and the scenarios there are.
pub fn list(scenarios: &[(&str, String)], running: &[&Record]) -> String {
    let mut text = String::new();
    if !running.is_empty() {
        let mut labs = Table::new();
        labs.set_header(["LAB", "SCENARIO", "SEED", "UP SINCE", "HOST", "ADDRESSES"]);
        for record in running {
            for (place, host) in record.hosts.iter().enumerate() {
                let about = [
                    record.name.clone(),
                    record.scenario.clone(),
                    record.seed.to_string(),
                    when::local(record.up_unix_ns),
                ];
                let about = if place == 0 { about } else { Default::default() };
                labs.add_row(about.into_iter().chain([host.name.clone(), addresses(host)]));
            }
        }
        text.push_str(&table::text(labs));
        text.push('\n');
    }
    let mut known = Table::new();
    known.set_header(["SCENARIO", "WHAT IT IS"]);
    for (name, title) in scenarios {
        known.add_row([*name, title]);
    }
    text.push_str(&table::text(known));
    text
}

/// The same as one document: docs/formats/lab.md.
pub fn list_json(scenarios: &[(&str, String)], running: &[&Record]) -> anyhow::Result<Vec<u8>> {
    let scenarios: Vec<_> =
        scenarios.iter().map(|(name, title)| serde_json::json!({ "name": name, "title": title })).collect();
    json::document(&serde_json::json!({ "running": running, "scenarios": scenarios }))
}

/// What the machine can do; behind that, why it cannot what it cannot, and the way out.
pub fn abilities(abilities: &[Ability]) -> String {
    let mut all = Table::new();
    all.set_header(["", "WHAT", "FOR"]);
    let mut ways_out = String::new();
    for Ability { what, can, matters, get } in abilities {
        let (answer, what) = match can {
            Can::Yes(None) => ("yes", what.clone()),
            Can::Yes(Some(detail)) => ("yes", format!("{what}: {detail}")),
            Can::No(why) => {
                ways_out.push_str(&format!("\n{what}: {why}\n    to get it: {get}\n"));
                ("no", what.clone())
            }
        };
        all.add_row([answer, &what, *matters]);
    }
    table::text(all) + &ways_out
}

fn addresses(host: &lab::network::kept::HostRecord) -> String {
    host.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
