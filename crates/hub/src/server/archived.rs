//! perfSONAR's archiver delivers: its results become those of the tests and pairs of the plan that they fit, so that an existing mesh
//! is watched like one of agents.

use std::net::IpAddr;
use std::time::Duration;

use import::perfsonar::{self, Archived, ArchivedKind};
use mesh::clock;
use plan::Plan;
use plan::pairs::Pair;
use plan::plan::Host;
use plan::task::TestKind;

use super::counters::Event;
use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::archive::ArchiveReceipt;
use crate::api::order::LeaseName;
use crate::api::record::{Record, RecordKind, RunResult, Verdict};
use crate::store::rows::Arrival;

/// Stores a result under the name of the test and pair that it fits.
pub(super) fn deliver(hub: &Hub, request: &Request) -> Result<ArchiveReceipt, RequestError> {
    let archived = perfsonar::read(&request.body).map_err(|error| RequestError::NotUnderstood(error.to_string()))?;
    if archived.began > clock::later(hub.now(), CLOCKS_APART) {
        return Err(RequestError::NotUnderstood("this run began in the future: is its host's clock wrong?".to_owned()));
    }
    let planned = hub.schedule.planned();
    let Some(place) = planned.as_ref().and_then(|planned| place(planned.plan(), &archived)) else {
        let [from, to] = [&archived.from, &archived.to].map(|names| names.join(" or "));
        let kind = word(archived.kind);
        hub.log.say(hub.now(), format_args!("perfSONAR: no test of kind {kind} from {from} to {to} in the plan"));
        hub.counters.count(Event::RecordRefused);
        return Ok(ArchiveReceipt { verdict: Verdict::Unwanted, run: None });
    };
    let run = format!("{}/{}", place.name, archived.began.unix_seconds());
    let result = RunResult { began: archived.began, finding: archived.finding };
    let lease = LeaseName { run: run.clone(), attempt: 1 };
    let packed = serde_json::to_vec(&result).map_err(|error| RequestError::NotUnderstood(error.to_string()))?;
    let record = Record::pack(format!("perfsonar {run}"), RecordKind::Result { lease }, &packed, None);
    let unpacked = record.and_then(|record| {
        let unpacked = record.unpack().map_err(std::io::Error::other)?;
        Ok(Arrival { record, unpacked })
    });
    let arrival = unpacked.map_err(|error| RequestError::NotUnderstood(error.to_string()))?;
    let verdict = hub.schedule.keep(hub.store.as_ref(), &place.from, arrival, hub.now())?;
    hub.counters.count(if verdict == Verdict::Stored { Event::RecordStored } else { Event::RecordDuplicate });
    hub.watching.ring();
    Ok(ArchiveReceipt { verdict, run: Some(run) })
}

/// The test and pair of a plan that a result is of.
struct Place {
    /// As runs of it are called, without the second.
    name: String,
    /// The host that sends, or that asks.
    from: String,
}

fn place(plan: &Plan, archived: &Archived) -> Option<Place> {
    let (from, to) = (host(plan, &archived.from)?, host(plan, &archived.to)?);
    let fits = |test: &usize| {
        plan.tests[*test].task.kind() == kind(archived.kind) && plan.pairs(*test).contains(&Pair { from, to })
    };
    let test = &plan.tests[(0..plan.tests.len()).find(fits)?];
    let [asks, answers] = [from, to].map(|host| plan.hosts[host].name.clone());
    let name = format!("{}@{}/{asks}/{answers}", test.label, plan.groups[test.group].name);
    Some(Place { name, from: asks })
}

/// The host that is called one of these names: its name, one of its addresses, its machine.
fn host(plan: &Plan, names: &[String]) -> Option<usize> {
    names.iter().find_map(|name| plan.hosts.iter().position(|host| is_called(host, name)))
}

/// Names of DNS count in any case, addresses in any spelling.
fn is_called(host: &Host, name: &str) -> bool {
    let address = |text: &str| text.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    let said = address(name);
    let own = [Some(&host.name), host.address.as_ref(), host.machine.as_ref()];
    own.into_iter()
        .flatten()
        .chain(host.addresses.values())
        .any(|known| known.eq_ignore_ascii_case(name) || (said.is_some() && address(known) == said))
}

const fn kind(kind: ArchivedKind) -> TestKind {
    match kind {
        ArchivedKind::Tcp => TestKind::Tcp,
        ArchivedKind::Udp => TestKind::Udp,
        ArchivedKind::Echo => TestKind::Ping,
        ArchivedKind::Mtu => TestKind::Mtu,
        ArchivedKind::Hops => TestKind::Hops,
    }
}

/// As a plan has it.
const fn word(kind: ArchivedKind) -> &'static str {
    match kind {
        ArchivedKind::Tcp => "tcp",
        ArchivedKind::Udp => "udp",
        ArchivedKind::Echo => "ping",
        ArchivedKind::Mtu => "mtu",
        ArchivedKind::Hops => "hops",
    }
}

/// A host without a good clock may be ahead by as much.
const CLOCKS_APART: Duration = Duration::from_secs(600);
