//! Queues that report as switches do: a collector of INT sees how they fill.

use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroU32;
use std::time::Duration;

use lab::relay::Options;
use lab::relay::telemetry::IntTarget;
use passive::int::collector::{Collector, FirstOfDatagram};
use passive::int::decode::datagram;
use passive::int::report::IntReport;

use crate::world::{self, World, in_sandbox, v4};

/// A packet on the link: payload, UDP, IPv4, Ethernet.
const PACKET: u32 = 1_000 + 8 + 20 + 14;
const SENT: u32 = 60;

/// Sends packets at once through a port that takes a millisecond for each; the reports that came of it.
fn reports(every: u32, wanted: usize) -> Vec<IntReport> {
    world::ip("link set lo up");
    let collector = UdpSocket::bind("127.0.0.1:0").unwrap();
    collector.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let SocketAddr::V4(address) = collector.local_addr().unwrap() else { panic!("an address of IPv4") };
    let telemetry = Some(IntTarget { collector: address, every: NonZeroU32::new(every).unwrap() });
    let port = r#"{ port = { rate = "8336kbit/s", queue = { bytes = "1MB" } } }"#;
    let world = World::with(port, "", &Options { telemetry, ..Options::default() });
    let sink = world.hosts[1].run(|| UdpSocket::bind((v4(2), 0)).unwrap());
    let to = sink.local_addr().unwrap();
    let socket = world.hosts[0].run(|| UdpSocket::bind((v4(1), 0)).unwrap());
    for _ in 0..SENT {
        socket.send_to(&[0; 1_000], to).unwrap();
    }
    let mut found = Vec::new();
    let mut bytes = [0; 2_048];
    while found.len() < wanted {
        let length = collector.recv(&mut bytes).unwrap();
        datagram(&bytes[..length], |report| {
            if report.flow.as_ref().is_some_and(|flow| flow.destination == to) {
                found.push(report);
            }
        })
        .unwrap();
    }
    world.stop();
    found
}

#[test]
fn a_queue_reports_how_it_fills_and_how_long_packets_wait() {
    in_sandbox("telemetry::a_queue_reports_how_it_fills_and_how_long_packets_wait", || {
        let found = reports(1, SENT as usize);
        let hops: Vec<_> = found.iter().map(|report| report.hops[0]).collect();
        assert!(
            hops.iter().all(|hop| (hop.node, hop.egress_port, hop.queue) == (Some(1), Some(1), Some(0))),
            "{hops:?}"
        );
        // All but the first few came before the first had left: each found those behind it still there.
        let most = hops.iter().filter_map(|hop| hop.occupancy).max().unwrap();
        assert!(most > SENT / 2 * PACKET && most <= SENT * PACKET, "{most}");
        // The last waited for all that were sent before it, a millisecond each.
        let longest = hops.iter().filter_map(|hop| hop.latency_ns).max().unwrap();
        assert!((30_000_000..=60_000_000).contains(&longest), "{longest}");
        let mut collector = Collector::new();
        for report in &found {
            collector.datagram();
            collector.report(report, FirstOfDatagram::Yes);
        }
        let interval = collector.take_interval(None);
        assert_eq!((interval.reports, interval.senders[0].lost, interval.malformed), (u64::from(SENT), 0, 0));
    });
}

#[test]
fn of_many_packets_few_are_reported_where_few_are_wanted() {
    in_sandbox("telemetry::of_many_packets_few_are_reported_where_few_are_wanted", || {
        // The first and each tenth after it, with those of neighbours that look for each other between them.
        assert_eq!(reports(10, 5).len(), 5);
    });
}
