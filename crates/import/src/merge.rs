//! Two logs of one test, one of each end, as one run.

use model::measurement::{DirectionTotal, Flow, Measurement, Whose};
use model::run::{Outcome, Role, Run};
use model::series::RunSamples;

/// A run with its samples.
pub type Stored = (Run, RunSamples);

/// Puts the two ends of each test together, where both were printed. What is left alone stays as it is.
pub(crate) fn ends(runs: Vec<Stored>) -> Vec<Stored> {
    let (clients, mut servers): (Vec<Stored>, Vec<Stored>) =
        runs.into_iter().partition(|(run, _)| run.role == Role::Client);
    let alone = clients.len() == 1 && servers.len() == 1;
    let mut merged = Vec::new();
    for client in clients {
        let other = servers
            .iter()
            .position(|server| same_connection(&client.0, &server.0) || (alone && same_transfer(&client.0, &server.0)));
        merged.push(match other {
            Some(at) => one_run(client, servers.remove(at)),
            None => client,
        });
    }
    merged.extend(servers);
    merged.sort_by_key(|(run, _)| run.started);
    merged
}

/// One's local address and port is the other's peer.
fn same_connection(client: &Run, server: &Run) -> bool {
    let (Some(ours), Some(theirs)) = (&client.measurement, &server.measurement) else { return false };
    let has_port = |address: &str| {
        address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0))
    };
    ours.flows.iter().filter(|flow| has_port(&flow.local_address)).any(|flow| {
        theirs
            .flows
            .iter()
            .any(|other| other.peer_address == flow.local_address && other.local_address == flow.peer_address)
    })
}

/// The same amount in the same time by the same protocol: addresses may not be printed, or be changed by NAT.
fn same_transfer(client: &Run, server: &Run) -> bool {
    let (Some(ours), Some(theirs)) = (&client.measurement, &server.measurement) else { return false };
    let near = |a: u64, b: u64, percent: u64| a.abs_diff(b) * 100 <= a.max(b) * percent;
    client.spec.protocol == server.spec.protocol
        && !ours.totals.is_empty()
        && ours.totals.iter().all(|total| {
            let bytes = |total: &DirectionTotal| total.received.or(total.sent).map(|bytes| bytes.get());
            let other = theirs.totals.iter().find(|other| other.heading == total.heading.mirrored());
            other.is_some_and(|other| {
                bytes(total).zip(bytes(other)).is_some_and(|(a, b)| near(a, b, 2))
                    && near(micros(total.elapsed), micros(other.elapsed), 10)
            })
        })
}

fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn one_run((mut run, mut samples): Stored, (server, of_server): Stored) -> Stored {
    samples.streams.extend(of_server.streams.into_iter().map(|mut stream| {
        (stream.heading, stream.whose) = (stream.heading.mirrored(), Whose::Peer);
        stream
    }));
    run.peer.host = server.local;
    if let (Some(ours), Some(theirs)) = (&mut run.measurement, server.measurement) {
        both_measured(ours, theirs);
    }
    if let (Outcome::Complete, Outcome::Failed(failure)) = (&run.outcome, server.outcome) {
        // A server that was stopped after its last test prints no failure of that test.
        if let Some(found) = &mut run.measurement {
            found.anomalies.push(format!("the server's log: {}", failure.detail));
        }
    }
    (run, samples)
}

fn both_measured(ours: &mut Measurement, theirs: Measurement) {
    ours.peer_cpu = theirs.local_cpu.or(ours.peer_cpu);
    ours.peer_counters = theirs.local_counters.or(ours.peer_counters.take());
    ours.anomalies.extend(theirs.anomalies.into_iter().map(|note| format!("the server's log: {note}")));
    for mut other in theirs.totals {
        other.heading = other.heading.mirrored();
        match ours.totals.iter_mut().find(|total| total.heading == other.heading) {
            Some(total) => total_of_both(total, &other),
            None => ours.totals.push(other),
        }
    }
    for mut other in theirs.flows {
        other.heading = other.heading.mirrored();
        std::mem::swap(&mut other.local_address, &mut other.peer_address);
        let same = |flow: &&mut Flow| flow.heading == other.heading && flow.stream == other.stream;
        match ours.flows.iter_mut().find(same) {
            Some(flow) => {
                flow.sent = flow.sent.or(other.sent);
                flow.received = flow.received.or(other.received);
                flow.retransmits = flow.retransmits.or(other.retransmits);
                flow.datagrams = other.datagrams.or(flow.datagrams);
                flow.mss = flow.mss.or(other.mss);
                flow.congestion_control = flow.congestion_control.take().or(other.congestion_control);
            }
            None => ours.flows.push(other),
        }
    }
}

/// Each end's own count before what the other end heard of it.
fn total_of_both(total: &mut DirectionTotal, other: &DirectionTotal) {
    let we_receive = total.heading == model::measurement::Heading::Inbound;
    let (own, heard) = if we_receive { (total.received, other.received) } else { (other.received, total.received) };
    total.received = own.or(heard);
    total.sent = if we_receive { other.sent.or(total.sent) } else { total.sent.or(other.sent) };
    total.retransmits = total.retransmits.or(other.retransmits);
    if !we_receive && other.received.is_some() {
        (total.elapsed, total.goodput) = (other.elapsed, other.goodput);
        // Only a receiver knows what was lost, and only a sender how many there were.
        if let Some(mut counts) = other.datagrams {
            if let Some(sent) = total.datagrams.map(|counts| counts.sent).filter(|sent| *sent > counts.sent) {
                let tail = units::PacketCount::new(sent.get() - counts.sent.get());
                (counts.sent, counts.lost) = (sent, counts.lost + tail);
                counts.lost_at_tail = counts.lost_at_tail + tail;
            }
            total.datagrams = Some(counts);
        }
    }
}
