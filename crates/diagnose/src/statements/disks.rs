//! What a disk takes, beside files that were copied.

use import::evidence::{DiskRate, DiskUse, HostFact, UnreadSocket};
use model::run::Run;
use model::spec::{Limit, Protocol};
use units::DataRate;

use super::beside::{Beside, MOST_FACTS, Transfer, is_held_by, named};
use super::statement::{Statement, percent};

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let disks = beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::Disk(disk) => Some((host.as_ref(), disk)),
        _ => None,
    });
    let mut all: Vec<Statement> = disks.take(MOST).map(|(host, disk)| of_disk(beside, host, disk)).collect();
    let facts = || beside.facts.iter().take(MOST_FACTS);
    all.extend(facts().filter_map(|(host, fact)| match fact {
        HostFact::DiskUse(disk) => Some(of_use(beside, named(host.as_ref()), disk)),
        _ => None,
    }));
    // What a busy disk makes programs do.
    all.extend(facts().filter_map(|(host, fact)| match fact {
        HostFact::Unread(socket) => Some(unread(named(host.as_ref()), socket)),
        _ => None,
    }));
    all
}

/// A disk that has something to do nearly all the time takes no more.
fn of_use(beside: &Beside<'_>, host: &str, disk: &DiskUse) -> Statement {
    let rates = [("reads", disk.reads), ("writes", disk.writes)];
    let rates: Vec<String> = rates
        .into_iter()
        .filter_map(|(what, rate)| Some(format!(", {what} {}", rate.filter(|rate| !rate.is_zero())?)))
        .collect();
    let says = format!(
        "the disk {} of {host} is busy for {} of the time{}",
        disk.device,
        percent(f64::from(disk.busy) / 1e4),
        rates.concat()
    );
    if disk.busy < FULL {
        return Statement::fact(says);
    }
    let moved = disk.writes.max(disk.reads).unwrap_or_default();
    let copy = copies(beside).into_iter().find(|(_, copied)| is_held_by(moved, *copied));
    let copy = copy
        .map_or_else(String::new, |(whose, copied)| format!(", which is what the copy from {whose} has ({copied})"));
    let network = fastest_test(beside).filter(|fastest| fastest.bps() / 3 > moved.bps());
    let network = network.map_or_else(String::new, |fastest| format!("; a test of the network reached {fastest}"));
    Statement::fault(format!("{says}{copy}{network}: the disk is the limit, not the network"))
}

/// A program that leaves what has arrived where it is.
fn unread(host: &str, socket: &UnreadSocket) -> Statement {
    Statement::fault(format!(
        "{} that came from {} wait at {host} and are not read (Recv-Q): the program there is slower than the network, or waits for its disk",
        socket.waiting, socket.peer
    ))
}

/// Hundredths of a percent of the time.
const FULL: u32 = 9_500;

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
