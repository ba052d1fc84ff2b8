//! What a disk takes, beside files that were copied.

use import::evidence::{DiskRate, HostFact};
use model::run::Run;
use model::spec::{Limit, Protocol};
use units::DataRate;

use super::beside::{Beside, MOST_FACTS, Transfer, is_held_by, named};
use super::statement::Statement;

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let disks = beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::Disk(disk) => Some((host.as_ref(), disk)),
        _ => None,
    });
    disks.take(MOST).map(|(host, disk)| of_disk(beside, host, disk)).collect()
}

const MOST: usize = 4;

fn of_disk(beside: &Beside<'_>, host: Option<&String>, disk: &DiskRate) -> Statement {
    let DiskRate { written, rate } = disk;
    let says = format!("a disk of {} takes {rate} (dd wrote {written})", named(host));
    let copies = copies(beside);
    let Some((whose, copied)) = copies.iter().find(|(_, copied)| is_held_by(*rate, *copied)) else {
        return Statement::fact(format!("{says}: no copy to it is faster"));
    };
    let network = fastest_test(beside).filter(|fastest| fastest.bps() / 3 > copied.bps());
    let network =
        network.map_or_else(String::new, |fastest| format!(", where a test of the network reached {fastest}"));
    Statement::fault(format!(
        "{says}, and the copy from {whose} has {copied}{network}: the disk is its limit, not the network"
    ))
}

/// Files that programs copied, with the rate of each.
fn copies(beside: &Beside<'_>) -> Vec<(String, DataRate)> {
    let copies = beside.transfers().filter(|one| is_copy(one.run));
    copies.map(|Transfer { total, from, to, .. }| (format!("{from} to {to}"), total.goodput)).collect()
}

fn is_copy(run: &Run) -> bool {
    matches!(run.spec.limit, Limit::Bytes(_)) && run.command.is_empty() && run.local.software.is_some()
}

/// Of tests that read no disk.
fn fastest_test(beside: &Beside<'_>) -> Option<DataRate> {
    let tests = beside.transfers().filter(|one| !is_copy(one.run) && one.run.spec.protocol == Protocol::Tcp);
    tests.map(|one| one.total.goodput).max()
}
