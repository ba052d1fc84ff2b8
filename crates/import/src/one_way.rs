//! Packets in one direction as a run of UDP: what became of them.

use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::{DatagramCounts, DirectionTotal, Heading, Measurement, SteadyState};
use model::run::{Outcome, Peer, Run, RunId};
use model::spec::{Limit, Protocol};
use units::{ByteCount, DataRate, PacketCount, WallTime};

use super::declared::UserFacts;
use super::evidence::{OneWaySeries, TEST_PACKET};
use super::seen::Seen;

/// The run: a UDP flow of a few kbit/s, in the direction of the packets.
pub(crate) fn run(series: &OneWaySeries, id: RunId, at: WallTime, facts: &UserFacts) -> Run {
    let packet = u64::from(TEST_PACKET) + u64::from(series.padding.unwrap_or(0));
    let received = series.sent.saturating_sub(series.lost);
    let bytes = |packets: u64| ByteCount::new(packets.saturating_mul(packet));
    let elapsed = if series.elapsed.is_zero() { AT_LEAST } else { series.elapsed };
    let count = PacketCount::new;
    let total = DirectionTotal {
        heading: Heading::Outbound,
        sent: Some(bytes(series.sent)),
        received: Some(bytes(received)),
        elapsed,
        goodput: DataRate::of(bytes(received), elapsed).unwrap_or_default(),
        retransmits: None,
        datagrams: Some(DatagramCounts {
            sent: count(series.sent),
            received: count(received),
            lost: count(series.lost),
            reordered: count(series.reordered),
            duplicated: count(series.duplicated),
            ..DatagramCounts::default()
        }),
        steady: SteadyState::NotCounted,
    };
    let mut anomalies = vec![format!("a series of {}: a packet every now and then, and no load", series.tool)];
    if series.padding.is_none() {
        anomalies
            .push(format!("the size of its packets is not printed, assumed: {packet} bytes, those without padding"));
    }
    if series.elapsed.is_zero() {
        anomalies.push("how long it lasted is not printed, assumed: 1 s".to_owned());
    }
    let named = |name: &str| HostIdentity { name: Some(name.to_owned()), ..HostIdentity::default() };
    let seen = Seen {
        id,
        at,
        limit: Limit::Time(elapsed),
        local: HostIdentity { software: Some(series.tool.to_owned()), ..named(&series.from) },
        peer: Peer { target: series.to.clone(), address: None, host: named(&series.to) },
        outcome: Outcome::Complete,
        measurement: Measurement { totals: vec![total], anomalies, ..Measurement::default() },
    };
    let mut run = seen.into_run(facts);
    run.spec.protocol = Protocol::Udp;
    run.spec.length = Some(ByteCount::new(packet));
    // What somebody expects of a path is no matter of a packet every now and then, which keeps to its schedule.
    (run.declared.expected, run.declared_line_rate) = (None, None);
    run.spec.rate = DataRate::of(bytes(series.sent), elapsed);
    run
}

/// A time to reckon with where none is known.
const AT_LEAST: Duration = Duration::from_secs(1);

/// The program of a run that is such a series, and no load; either of its hosts may have printed it.
#[must_use]
pub fn one_way_tool(run: &Run) -> Option<&str> {
    let tool = run.local.software.as_deref().filter(|software| TOOLS.contains(software))?;
    (run.spec.protocol == Protocol::Udp && run.command.is_empty()).then_some(tool)
}

/// Programs that send a packet every now and then.
const TOOLS: [&str; 3] = ["owping", "pscheduler", crate::own::ONE_WAY];
