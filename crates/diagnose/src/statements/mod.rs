//! What each piece of evidence says by itself, with its numbers: no inference over several, only arithmetic that is beyond doubt.
//!
//! A single log of another tool is little for a ranking of causes and much for a person who can read it. These are that person's
//! sentences: what a window allows, where a path begins to lose, which counter moved.
//!
//! * `statement`: one of them
//! * `transfers`: runs
//! * `datagrams`: what runs of UDP lost
//! * `streams`: one test beside another of the same pair
//! * `probes`: echoes, hops, path MTU, downloads
//! * `counters`: counters of NICs and kernels, and of sockets

mod counters;
mod datagrams;
mod probes;
mod statement;
mod streams;
mod transfers;

use model::counters::CounterReadings;
use model::played::Finding;
use model::round::Round;

pub use statement::{Statement, StatementKind};

/// Counters of a host that belong to no run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostCounters {
    /// The host, where it is known.
    pub host: Option<String>,
    /// What they counted.
    pub readings: CounterReadings,
}

/// All that the evidence of a round says, faults first, each once.
#[must_use]
pub fn statements(round: &Round, counters: &[HostCounters]) -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::new();
    for tested in &round.tests {
        all.extend(match &tested.finding {
            Finding::Run(run) => transfers::of(tested, run),
            Finding::Echo(echoes) => probes::of_echoes(tested, echoes),
            Finding::Hops(trace) => probes::of_hops(tested, trace),
            Finding::PathMtu(mtu) => probes::of_mtu(tested, mtu),
            Finding::Downloads(downloads) => probes::of_downloads(downloads),
            Finding::Nothing { .. } => Vec::new(),
        });
    }
    all.extend(datagrams::of(round));
    all.extend(probes::of_queue(round));
    all.extend(streams::of(round));
    for of_host in counters {
        let host = of_host.host.as_deref().unwrap_or("this host");
        all.extend(counters::of(host, &of_host.readings));
    }
    let mut seen: Vec<String> = Vec::new();
    all.retain(|statement| {
        let is_new = !seen.contains(&statement.says);
        seen.push(statement.says.clone());
        is_new
    });
    all.sort_by_key(|statement| statement.kind);
    all
}
