//! Probes before and beside the streams of a test.

use std::time::Duration;

use model::measurement::{Latency, PacketTimes, RttSummary};
use model::series::ProbeSamples;
use sim::ProbeTimes;
use units::PacketCount;

use crate::convert::micros;

/// What probes tell: those before the test, and the round trips beside its streams.
pub(super) fn latency(
    idle: &[Option<ProbeTimes>],
    packet_times: Option<PacketTimes>,
    beside: &[(Duration, Option<ProbeTimes>)],
    every: Duration,
) -> (Option<Latency>, ProbeSamples) {
    let mut samples = ProbeSamples::default();
    let count = i64::try_from(idle.len()).unwrap_or(i64::MAX);
    for (number, times) in (0_i64..).zip(idle) {
        push(&mut samples, (number - count) * IDLE_EVERY_US, *times);
    }
    let idle: Vec<_> = idle.iter().map(round_trip).collect();
    if every.is_zero() {
        let latency = Latency { idle: Some(summary(&idle)), loaded: None, packet_times };
        return (Some(latency), samples);
    }
    let mut loaded = Vec::new();
    let mut due = Duration::ZERO;
    for (at, times) in beside.iter().filter(|(at, _)| !at.is_zero()) {
        if *at >= due {
            loaded.push(round_trip(times));
            push(&mut samples, micros(*at), *times);
            due = *at + every;
        }
    }
    (Some(Latency { idle: Some(summary(&idle)), loaded: Some(summary(&loaded)), packet_times }), samples)
}

fn push(samples: &mut ProbeSamples, sent_us: i64, times: Option<ProbeTimes>) {
    samples.sent_us.push(sent_us);
    samples.rtt_us.push(times.map(|times| u32::try_from(times.round_trip.as_micros()).unwrap_or(u32::MAX)));
    // Both clocks are one here.
    samples.there_us.push(times.and_then(|times| i32::try_from(times.forward.as_micros()).ok()));
}

fn round_trip(times: &Option<ProbeTimes>) -> Option<Duration> {
    times.map(|times| times.round_trip)
}

/// Counts and quantiles (nearest rank).
pub(crate) fn summary(round_trips: &[Option<Duration>]) -> RttSummary {
    let mut answered: Vec<u64> = round_trips.iter().flatten().map(|rtt| units::duration::micros(*rtt)).collect();
    answered.sort_unstable();
    let lost = round_trips.len() - answered.len();
    let at = |percent: usize| {
        let rank = (answered.len() * percent).div_ceil(100).max(1);
        answered.get(rank - 1).copied()
    };
    RttSummary {
        sent: PacketCount::new(round_trips.len() as u64),
        lost: PacketCount::new(lost as u64),
        min_us: answered.first().copied(),
        median_us: at(50),
        p95_us: at(95),
        p99_us: at(99),
        max_us: answered.last().copied(),
    }
}

/// Probes before a test, and from one to the next in microseconds, as a live test sends them.
pub(crate) const IDLE: u32 = 10;
pub(crate) const IDLE_EVERY_US: i64 = 1_000;
