//! `linerate host diff`.

use std::collections::BTreeSet;

use audit::Rules;
use audit::compare::{Match, Side, outliers};
use audit::scope::HostFacts;
use model::host::snapshot::Snapshot;

use super::sides::Sides;
use crate::cli::Common;
use crate::cli::host::diff::DiffArgs;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &DiffArgs) -> anyhow::Result<Exit> {
    let snapshots = snapshots(common, args)?;
    let names = names(&snapshots);
    let facts: Vec<HostFacts> = snapshots.iter().map(HostFacts::of).collect();
    let sides: Vec<Side<'_>> = names.iter().zip(&facts).map(|(name, facts)| Side { name, facts }).collect();
    let comparison = outliers(&Rules::built_in(), &sides, matching(&snapshots));
    if common.json {
        print(&show::json::document(&comparison)?)?;
    } else {
        let width = if args.all { show::host::diff::Width::All } else { show::host::diff::Width::Screen };
        print(show::host::diff::text(&comparison, width).as_bytes())?;
    }
    Ok(if comparison.differences.is_empty() { Exit::Success } else { Exit::Found })
}

fn snapshots(common: &Common, args: &DiffArgs) -> anyhow::Result<Vec<Snapshot>> {
    let mut sides = Sides::new(common);
    if let Some(group) = &args.group {
        return sides.group(group, &args.sides);
    }
    match args.sides.as_slice() {
        [] => Err(Complaint::new(Exit::Usage, "nothing to compare")
            .hint("name two snapshots, or one to compare with this host, or --group GROUP")
            .into()),
        [one] => sides.read(&[one.clone(), "this".to_owned()]),
        several => sides.read(several),
    }
}

fn host_name(snapshot: &Snapshot) -> &str {
    snapshot.machine.name.value().map_or("?", String::as_str)
}

/// What each is called: the host, and where that is not enough the time, and where that is not the number in the line.
fn names(snapshots: &[Snapshot]) -> Vec<String> {
    let distinct = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let hosts: Vec<String> = snapshots.iter().map(|snapshot| host_name(snapshot).to_owned()).collect();
    if distinct(&hosts) {
        return hosts;
    }
    let timed =
        snapshots.iter().zip(&hosts).map(|(snapshot, host)| format!("{host} {}", show::when::local(snapshot.taken)));
    let timed: Vec<String> = timed.collect();
    if distinct(&timed) {
        return timed;
    }
    timed.iter().enumerate().map(|(index, name)| format!("{name} ({})", index + 1)).collect()
}

/// One host has its own names for its devices; those of several tell slots.
fn matching(snapshots: &[Snapshot]) -> Match {
    let mut hosts = snapshots.iter().map(host_name);
    let first = hosts.next();
    if hosts.all(|host| Some(host) == first) { Match::Name } else { Match::Role }
}
