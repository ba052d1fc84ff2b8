//! Tests that two routers ran, as runs: one for each direction.

use model::host::HostIdentity;
use model::measurement::{DirectionTotal, Heading, Measurement, SteadyState};
use model::run::{Outcome, Peer, Run, RunId};
use model::spec::{Direction, Limit, Protocol};
use units::{ByteCount, DataRate, WallTime};

use super::declared::UserFacts;
use super::evidence::RouterTest;
use super::seen::Seen;

/// The runs; `id` is that of the first.
pub(crate) fn runs(test: &RouterTest, ids: [RunId; 2], at: WallTime, facts: &UserFacts) -> Vec<Run> {
    let rates = [(Heading::Outbound, test.sent), (Heading::Inbound, test.received)];
    let known = ids.into_iter().zip(rates).filter_map(|(id, (heading, rate))| Some((id, heading, rate?)));
    known.map(|(id, heading, rate)| of_direction(test, &Total { id, heading, rate }, at, facts)).collect()
}

/// What one direction reached.
struct Total {
    id: RunId,
    heading: Heading,
    rate: DataRate,
}

fn of_direction(test: &RouterTest, reached: &Total, at: WallTime, facts: &UserFacts) -> Run {
    let bytes = moved(test, reached.rate);
    let total = DirectionTotal {
        heading: reached.heading,
        sent: Some(bytes),
        // Over UDP the sender's count is all there is.
        received: Some(bytes).filter(|_| !test.is_udp),
        elapsed: test.elapsed,
        goodput: reached.rate,
        retransmits: None,
        datagrams: None,
        steady: SteadyState::NotCounted,
    };
    let note = "a test of two routers: their own CPUs sent and received".to_owned();
    let seen = Seen {
        id: reached.id,
        at,
        limit: Limit::Time(test.elapsed),
        local: HostIdentity {
            name: test.local.clone(),
            software: Some("RouterOS".to_owned()),
            ..HostIdentity::default()
        },
        peer: Peer { target: test.target.clone(), address: None, host: HostIdentity::default() },
        outcome: Outcome::Complete,
        measurement: Measurement { totals: vec![total], anomalies: vec![note], ..Measurement::default() },
    };
    let mut run = seen.into_run(facts);
    run.spec.protocol = if test.is_udp { Protocol::Udp } else { Protocol::Tcp };
    run.spec.direction = match reached.heading {
        Heading::Outbound => Direction::Forward,
        Heading::Inbound => Direction::Reverse,
    };
    run.spec.streams = test.connections.unwrap_or(1).clamp(1, MOST_STREAMS);
    let asked = test.asked.iter().find(|(heading, _)| *heading == reached.heading);
    run.spec.rate = asked.map(|(_, rate)| DataRate::from_bps(rate.bps() / u64::from(run.spec.streams)));
    run
}

fn moved(test: &RouterTest, rate: DataRate) -> ByteCount {
    let bits = u128::from(rate.bps()) * test.elapsed.as_millis() / 1_000;
    ByteCount::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
}

/// As many as a specification has.
const MOST_STREAMS: u16 = 128;
