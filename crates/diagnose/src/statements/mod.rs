//! What each piece of evidence says by itself, with its numbers: no inference over several, only arithmetic that is beyond doubt.
//!
//! A single log of another tool is little for a ranking of causes and much for a person who can read it. These are that person's
//! sentences: what a window allows, where a path begins to lose, which counter moved.
//!
//! * `statement`: one of them
//! * `transfers`: runs
//! * `datagrams`: what runs of UDP lost
//! * `matrix`: one measurement beside another, and what follows from both
//! * `probes`: echoes, hops, path MTU, downloads
//! * `beside`: a round, and the counters and facts of hosts beside it
//! * `bursts`: losses that come in few intervals, many at once
//! * `counters`: counters of NICs and kernels, and of sockets
//! * `hosts`: CPUs, handshakes, and sockets beside tests
//! * `usual_window`: an even rate that a window of a usual size leaves
//! * `links`: links, rings, buses and LRO of NICs
//! * `so_far`: one reading of counters, and the kernel's log
//! * `rates`: packets a second of devices, connections that were not made, copies by their marks
//! * `shapers`: qdiscs with a rate, and with drops
//! * `crawling`: streams of one test of which some are far slower
//! * `retransmits`: those that a kernel counted, and whether they were needed
//! * `echo_times`: echoes to a near host that wait somewhere
//! * `one_way`: delays in one direction, and packets that were not sent
//! * `windows`, `settings`: how TCP of Windows and of Linux is set
//! * `servers`: downloads from several servers
//! * `radio`: links of Wi-Fi
//! * `watches`: bursts, queues of switches, and drops that were watched
//! * `signatures`: lines that say something by themselves
//! * `stated`: rates that people state
//! * `figures`: numbers of a text, one beside the other
//! * `access`, `disks`, `ports`: access lines, disks beside copies, ports of routers with bad frames

mod access;
mod beside;
mod bursts;
mod counters;
mod crawling;
mod datagrams;
mod disks;
mod echo_times;
mod figures;
mod hosts;
mod links;
mod matrix;
mod one_way;
mod ports;
mod probes;
mod radio;
mod rates;
mod retransmits;
mod servers;
mod settings;
mod shapers;
mod signatures;
mod so_far;
mod stated;
mod statement;
mod transfers;
mod usual_window;
mod watches;
mod windows;

use import::evidence::HostFact;
use model::played::Finding;
use model::round::Round;

pub use beside::HostCounters;
pub use statement::{Statement, StatementKind};

/// All that the evidence of a round says, faults first, each once.
#[must_use]
pub fn statements(round: &Round, counters: &[HostCounters]) -> Vec<Statement> {
    with_facts(round, counters, &[])
}

/// The same, with what files say of hosts, by the host's name where it is known.
#[must_use]
pub fn with_facts(round: &Round, counters: &[HostCounters], facts: &[(Option<String>, HostFact)]) -> Vec<Statement> {
    let beside = beside::Beside { round, counters, facts };
    let mut all: Vec<Statement> = shapers::of(&beside);
    all.extend(matrix::decided(&beside));
    all.extend(links::of(&beside));
    all.extend(so_far::of(&beside));
    all.extend(disks::of(&beside));
    all.extend(hosts::of(&beside));
    all.extend(rates::of(&beside));
    all.extend(windows::of(&beside));
    all.extend(settings::of(&beside));
    all.extend(radio::of(&beside));
    all.extend(one_way::of(&beside));
    all.extend(ports::of(&beside));
    all.extend(signatures::of(&beside));
    all.extend(access::of(&beside));
    all.extend(stated::of(&beside));
    all.extend(watches::of(&beside));
    all.extend(figures::named(&beside));
    let most_send = settings::most_send(&beside);
    for tested in &round.tests {
        all.extend(match &tested.finding {
            Finding::Run(run) => transfers::of(tested, run, most_send),
            Finding::Echo(echoes) => probes::of_echoes(tested, echoes),
            Finding::Hops(trace) => probes::of_hops(tested, trace),
            Finding::PathMtu(mtu) => probes::of_mtu(tested, mtu),
            Finding::Downloads(downloads) => probes::of_downloads(downloads),
            Finding::Nothing { .. } => Vec::new(),
        });
    }
    all.extend(servers::of(round));
    all.extend(datagrams::of(round));
    all.extend(probes::of_queue(round));
    all.extend(matrix::others(&beside));
    for of_host in counters {
        let host = of_host.host.as_deref().unwrap_or("this host");
        all.extend(counters::of(host, &of_host.readings));
    }
    all.extend(figures::others(&beside));
    let mut seen: Vec<String> = Vec::new();
    all.retain(|statement| {
        let is_new = !seen.contains(&statement.says);
        seen.push(statement.says.clone());
        is_new
    });
    all.sort_by_key(|statement| statement.kind);
    all
}
