//! `linerate lab check FILE`: what is wrong with a scenario file, and whether its faults are seen.

use linux::clock;
use path::Seed;
use serde::Serialize;
use twin::effect::{Effects, effects};
use units::duration::show;

use super::up::refuse;
use crate::cli::Common;
use crate::commands::print;
use crate::exit::Exit;
use crate::show::json;

/// What a check found.
#[derive(Debug, Serialize)]
struct Checked {
    scenario: String,
    hosts: usize,
    links: usize,
    tests: usize,
    /// For how long its tests run, in virtual time.
    #[serde(rename = "tested_us")]
    tested: u64,
    faults: Vec<CheckedFault>,
    warnings: Vec<String>,
}

/// What a fault does.
#[derive(Debug, Serialize)]
struct CheckedFault {
    fault: String,
    /// Tests that complain with it and not without it.
    complaints: Vec<String>,
}

/// Reads a scenario, which says all that is wrong with it at once; plays it with and without each of its faults.
pub fn run(common: &Common, name: &str, seed: u64) -> anyhow::Result<Exit> {
    let scenario = lab::scenario::load(name).map_err(refuse)?;
    let began = clock::now();
    let found = effects(&scenario, Seed(seed));
    let took = clock::now().since(began);
    let checked = Checked {
        scenario: scenario.name.clone(),
        hosts: scenario.hosts.len(),
        links: scenario.links.len(),
        tests: scenario.tests.len(),
        tested: units::duration::micros(found.play.round.elapsed),
        faults: found
            .faults
            .iter()
            .map(|fault| CheckedFault {
                fault: fault.fault.clone(),
                complaints: fault.complaints.iter().cloned().collect(),
            })
            .collect(),
        warnings: warnings(&found, scenario.truth.is_healthy()),
    };
    if common.json {
        return print(&json::document(&checked)?);
    }
    print(text(&checked, (&show(found.play.round.elapsed), &show(took))).as_bytes())
}

fn warnings(found: &Effects, is_healthy: bool) -> Vec<String> {
    let silent = found.faults.iter().filter(|fault| fault.complaints.is_empty());
    let mut warnings: Vec<String> = silent
        .map(|fault| format!("the fault `{}` makes no test complain: make it worse, or test where it is", fault.fault))
        .collect();
    if is_healthy {
        let labels = found.complaints.iter().map(|(label, complaint)| format!("{label} ({complaint:?})"));
        let labels: Vec<String> = labels.collect();
        if !labels.is_empty() {
            warnings.push(format!("the truth is healthy, and tests complain: {}", labels.join(", ")));
        }
    } else if found.complaints.is_empty() {
        warnings.push("no test complains: a diagnosis has nothing to go by".to_owned());
    }
    warnings
}

fn text(checked: &Checked, (tested, took): (&str, &str)) -> String {
    let Checked { scenario, hosts, links, tests, faults, warnings, .. } = checked;
    let mut text = format!(
        "{scenario}: no errors; {hosts} hosts, {links} links, {tests} tests, {} faults\n\
         played in virtual time: {tested} of tests, with and without each fault, in {took}\n",
        faults.len()
    );
    for CheckedFault { fault, complaints } in faults {
        let which = if complaints.is_empty() { "no test".to_owned() } else { complaints.join(", ") };
        text.push_str(&format!("fault {fault}: {which}\n"));
    }
    for warning in warnings {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}
