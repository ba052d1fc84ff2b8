//! What `linerate watch` prints of bursts, of queues of switches, and of drops.

use std::collections::BTreeMap;
use std::time::Duration;

use model::bursts::{BurstReport, DirectionBursts};
use model::host::drops::DropInterval;
use model::int::IntInterval;
use units::{ByteCount, DataRate};

use super::found::{Found, admitted, known_format};
use crate::evidence::{
    DeviceBursts, DropsOfBurst, HostDrops, HostFact, LargestBurst, LostByCounter, Shown, SwitchQueue,
};

/// Both directions, and the moments at which packets were dropped, by counter.
pub(super) fn bursts(text: &str) -> Result<Found, String> {
    let report: BurstReport = admitted(text)?;
    known_format([report.format, BurstReport::FORMAT])?;
    let mut facts: Vec<HostFact> =
        report.directions.iter().filter_map(|one| bursts_of(&report, one)).map(HostFact::Bursts).collect();
    facts.extend(drops_of(&report).into_values().map(HostFact::DropsOfBurst));
    Ok(Found { host: Some(report.host), shows: facts.into_iter().map(Shown::Host).collect() })
}

fn bursts_of(report: &BurstReport, one: &DirectionBursts) -> Option<DeviceBursts> {
    let largest = one.largest.first()?;
    Some(DeviceBursts {
        device: report.device.clone(),
        heading: one.heading,
        length: report.length,
        threshold_percent: report.threshold_percent,
        bursts: one.bursts,
        in_bursts: one.in_bursts,
        bytes: one.bytes,
        mean: one.mean,
        largest: LargestBurst { length: largest.length, bytes: largest.bytes, peak: largest.peak },
        queue: one.queue,
        retransmissions: one.retransmissions,
    })
}

fn drops_of(report: &BurstReport) -> BTreeMap<&str, DropsOfBurst> {
    let mut all: BTreeMap<&str, DropsOfBurst> = BTreeMap::new();
    let mean = report.directions.iter().map(|one| one.mean).max().unwrap_or_default();
    for moment in &report.drops {
        let buckets = moment.directions.iter().flat_map(|around| &around.wire_bytes);
        let most = buckets.max().copied().unwrap_or_default();
        let busiest = DataRate::of(ByteCount::new(most), report.bucket).unwrap_or_default();
        for grown in &moment.counters {
            let one = all.entry(&grown.counter).or_insert_with(|| DropsOfBurst {
                device: report.device.clone(),
                counter: grown.counter.clone(),
                packets: 0,
                moments: 0,
                first: Duration::from_nanos(moment.after.unix_nanos().saturating_sub(report.start.unix_nanos())),
                busiest,
                bucket: report.bucket,
                mean,
            });
            one.packets = one.packets.saturating_add(grown.packets.get());
            one.moments += 1;
            one.busiest = one.busiest.max(busiest);
        }
    }
    all
}

/// Each queue of a switch.
pub(super) fn telemetry(text: &str) -> Result<Found, String> {
    let interval: IntInterval = admitted(text)?;
    known_format([interval.format, IntInterval::FORMAT])?;
    let bytes = |units: u64| interval.cell_bytes.map(|cell| ByteCount::new(units.saturating_mul(u64::from(cell))));
    let queues = interval.hops.iter().map(|hop| SwitchQueue {
        node: hop.node,
        port: hop.egress_port,
        queue: hop.queue,
        reports: hop.reports,
        dropped: hop.dropped,
        most_bytes: hop.most_occupancy.and_then(bytes),
        most_units: hop.most_occupancy,
        most_latency: hop.most_latency_ns.map(Duration::from_nanos),
        flow: hop.peak_flow,
    });
    Ok(Found::of(queues.map(|queue| Shown::Host(HostFact::SwitchQueue(queue))).collect()))
}

/// One interval of a host.
pub(super) fn drops(text: &str) -> Result<Found, String> {
    let interval: DropInterval = admitted(text)?;
    known_format([interval.format, DropInterval::FORMAT])?;
    let mut lost: BTreeMap<String, LostByCounter> = BTreeMap::new();
    for grown in interval.counters.iter().filter(|grown| grown.kind.is_loss() && grown.increase > 0) {
        lost.insert(grown.counter.to_string(), LostByCounter { kind: grown.kind, packets: grown.increase });
    }
    let found = interval.retransmits.reading.as_ref().ok();
    let retransmitted =
        found.map(|found| found.peers.values().fold(found.missed, |sum, more| sum.saturating_add(*more)));
    let fact = HostDrops { place: interval.place(), length: interval.length, lost, retransmitted };
    Ok(Found { host: Some(interval.host), shows: vec![Shown::Host(HostFact::Dropped(fact))] })
}
