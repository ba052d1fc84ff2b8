//! Round-trip times from probes.

use std::time::Duration;

use model::measurement::{Latency, RttSummary};
use model::series::ProbeSamples;
use stats::summary::Ordered;
use units::{MonoTime, PacketCount};

use crate::stamp::prober::Probe;
use report::PeerTime;

/// The idle and the loaded round-trip times; `None` where no probe was sent.
#[must_use]
pub fn latency(probes: &[Probe]) -> Option<Latency> {
    let part = |idle: bool| summary(probes.iter().filter(|probe| probe.idle == idle));
    (!probes.is_empty()).then(|| Latency { idle: part(true), loaded: part(false), packet_times: None })
}

fn summary<'a>(probes: impl Iterator<Item = &'a Probe>) -> Option<RttSummary> {
    let mut sent = 0_u64;
    let times: Vec<Duration> = probes.inspect(|_| sent += 1).filter_map(Probe::rtt).collect();
    (sent > 0).then(|| round_trips(sent, &times))
}

/// The summary of the round trips of those answered among `sent` probes.
#[must_use]
pub fn round_trips(sent: u64, times: &[Duration]) -> RttSummary {
    let lost = sent.saturating_sub(times.len() as u64);
    #[expect(clippy::cast_precision_loss, reason = "an RTT has fewer than 2^53 microseconds")]
    let times = Ordered::new(times.iter().map(|time| time.as_micros() as f64).collect());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "quantiles of whole microseconds")]
    let micros = |value: f64| value.round() as u64;
    RttSummary {
        sent: PacketCount::new(sent),
        lost: PacketCount::new(lost),
        min_us: times.min().map(micros),
        median_us: times.median().map(micros),
        p95_us: times.quantile(0.95).map(micros),
        p99_us: times.quantile(0.99).map(micros),
        max_us: times.max().map(micros),
    }
}

/// The probes as samples, with times from `start`. `stamp_minus_mono_ns` turns the peer's stamps into its monotonic
/// clock; without it or a clock relation the one-way times are not known.
#[must_use]
pub fn samples(probes: &[Probe], start: MonoTime, peer: Option<(PeerTime, i64)>) -> ProbeSamples {
    let there = |probe: &Probe| {
        let (peer, stamp_minus_mono_ns) = peer?;
        let arrived = probe.answer?.received.to_mono(stamp_minus_mono_ns)?;
        let arrived = report::clock::to_local(&peer.relation, arrived, peer.peer_start);
        i32::try_from(arrived.signed_nanos_since(probe.sent) / 1_000).ok()
    };
    ProbeSamples {
        sent_us: probes.iter().map(|probe| probe.sent.signed_nanos_since(start).div_euclid(1_000)).collect(),
        rtt_us: probes.iter().map(|probe| u32::try_from(probe.rtt()?.as_micros()).ok()).collect(),
        there_us: probes.iter().map(there).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::packet::NtpTime;
    use crate::stamp::prober::ProbeAnswer;

    fn probe(idle: bool, sent: u64, rtt_us: Option<u64>) -> Probe {
        let answer = rtt_us.map(|rtt| ProbeAnswer {
            received: NtpTime::default(),
            held_ns: 10_000,
            heard: MonoTime::from_nanos(sent + rtt * 1_000 + 10_000),
        });
        Probe { idle, sent: MonoTime::from_nanos(sent), answer }
    }

    #[test]
    fn lost_probes_are_counted_and_the_time_held_is_taken_out() {
        let probes = [probe(true, 0, Some(200)), probe(true, 5, None), probe(false, 9, Some(12_000))];
        let latency = latency(&probes).unwrap();
        let idle = latency.idle.unwrap();
        assert_eq!((idle.sent.get(), idle.lost.get(), idle.min_us), (2, 1, Some(200)));
        assert_eq!(latency.loaded.unwrap().median_us, Some(12_000));
    }

    #[test]
    fn all_lost_is_not_zero_delay() {
        let loaded = latency(&[probe(false, 0, None)]).unwrap().loaded.unwrap();
        assert_eq!((loaded.lost.get(), loaded.median_us), (1, None));
    }
}
