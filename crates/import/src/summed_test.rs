//! Tests of which a program prints sums only, as runs.

use std::time::Duration;

use model::host::HostIdentity;
use model::measurement::{DatagramCounts, DirectionTotal, Heading, Measurement, SteadyState};
use model::run::{Outcome, Peer, Run, RunId};
use model::spec::{Direction, Limit, Protocol};
use units::{ByteCount, DataRate, PacketCount, WallTime};

use super::declared::UserFacts;
use super::evidence::{Evidence, SummedTest};
use super::seen::Seen;

/// The run; the host is that whose prompt is above.
pub(crate) fn run(test: &SummedTest, item: &Evidence, id: RunId, at: WallTime, facts: &UserFacts) -> Run {
    let SummedTest { tool, target, protocol, window, heading, rate, elapsed, datagrams } = test.clone();
    let received = moved(rate, elapsed);
    let all = datagrams.map_or(received, |counts| sent(received, counts));
    let count = PacketCount::new;
    let total = DirectionTotal {
        heading,
        sent: Some(all),
        received: Some(received),
        elapsed,
        goodput: rate,
        retransmits: None,
        datagrams: datagrams.map(|[sent, received]| DatagramCounts {
            sent: count(sent),
            received: count(received),
            lost: count(sent.saturating_sub(received)),
            ..DatagramCounts::default()
        }),
        steady: SteadyState::NotCounted,
    };
    let seen = Seen {
        id,
        at,
        limit: Limit::Time(elapsed),
        local: HostIdentity { name: item.host.clone(), software: Some(tool.to_owned()), ..HostIdentity::default() },
        peer: Peer { target, address: None, host: HostIdentity::default() },
        outcome: Outcome::Complete,
        measurement: Measurement { totals: vec![total], ..Measurement::default() },
    };
    let mut run = seen.into_run(facts);
    run.spec.protocol = protocol;
    run.spec.window = window;
    run.spec.direction = if heading == Heading::Outbound { Direction::Forward } else { Direction::Reverse };
    // A stream of datagrams is as fast as its sender makes it.
    run.spec.rate = DataRate::of(all, elapsed).filter(|_| protocol == Protocol::Udp);
    run
}

fn moved(rate: DataRate, elapsed: Duration) -> ByteCount {
    let bits = u128::from(rate.bps()) * elapsed.as_millis() / 1_000;
    ByteCount::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
}

/// Datagrams have one size.
fn sent(received: ByteCount, [sent, arrived]: [u64; 2]) -> ByteCount {
    let bytes = u128::from(received.get()) * u128::from(sent) / u128::from(arrived.max(1));
    ByteCount::new(u64::try_from(bytes).unwrap_or(u64::MAX))
}
