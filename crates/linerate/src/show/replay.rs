//! What `linerate hub replay` says.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use lab::scenario::Scenario;
use mesh::clock;
use mesh::incident::Incident;
use units::{WallTime, duration};

use crate::cli::replay::ReplayArgs;

/// Before anything happens.
pub fn introduction(scenario: &Scenario, args: &ReplayArgs) -> String {
    let ReplayArgs { every, before, during, after, .. } = args;
    format!(
        "{}\nIn virtual time: {before} rounds as usual, {during} with the faults, {after} without them, each {} after the one before.\n\n",
        scenario.title,
        time(*every)
    )
}

fn time(span: Duration) -> String {
    match span.as_secs() {
        seconds if seconds >= 3_600 && seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        _ => duration::show(span),
    }
}

/// Something that happened.
pub fn line(at: WallTime, text: &str) -> String {
    format!("{}  {text}\n", clock::shown(at))
}

/// What goes wrong.
pub fn faults(scenario: &Scenario) -> String {
    format!("from here on it goes wrong: {}", names(scenario))
}

/// What is done about it.
pub fn fix(scenario: &Scenario) -> String {
    format!("taken out: {}", names(scenario))
}

fn names(scenario: &Scenario) -> String {
    scenario.faults.iter().map(|fault| fault.id.as_str()).collect::<Vec<_>>().join(", ")
}

/// When the faults are gone.
pub const TAKEN_OUT: &str = "the faults are taken out";

/// Where to look at it.
pub fn end(directory: &Path, incidents: &[Incident]) -> String {
    let shown = directory.display();
    let mut text = format!("\nnext: linerate view {shown}   to look at it\n");
    for incident in incidents.iter().filter(|incident| !incident.is_part_of_another()) {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "      linerate report {shown} {} --html report.html", incident.id);
    }
    text
}
