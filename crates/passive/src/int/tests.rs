//! Claims about reports, on bytes made from the layouts of the specifications, and on generated ones.

use super::collector::{Collector, FirstOfDatagram};
use super::decode::datagram;
use super::generate::TestReport;
use super::report::{IntHop, IntReport, Stamp};

/// Version 1.0 as AmLight's switches send it: switch 0xfb65d675, number 7, tracked, VLAN 42, 9.9.9.9:50000 to 8.8.8.8:50001, one
/// hop: in by 23, out by 11, queue 2 with 111 cells, 1456 ns.
const AMLIGHT: &str = "14000040fb65d675000000073a6e9c8dffffffffffff0000000000008100002a0800455c00400000000040110000090909\
                       0908080808c350c351002c00000100090810000609fc000000fb65d6750017000bffffffff0200006f3a6e94e43a6e9a94";
/// Version 2.0: hardware 5, number 42, node 10, tracked, ports 3 and 4, queue 1 with 2000, 192.0.2.1:40000 to 198.51.100.1:5201.
const VERSION2: &str = "2140002a0000000a140e0220500000000000000000030004010007d0450000280000400040060000c0000201c63364019c\
                        40145100000001000000015010020000000000";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn reports(payload: &[u8]) -> Vec<IntReport> {
    let mut reports = Vec::new();
    datagram(payload, |report| reports.push(report)).unwrap();
    reports
}

#[test]
fn amlights_report_reads_as_it_was_made() {
    let [report] = &reports(&bytes(AMLIGHT))[..] else { panic!("one report") };
    assert_eq!((report.sender.node, report.sequence.number, report.why.tracked), (0xfb65_d675, 7, true));
    let flow = report.flow.unwrap();
    assert_eq!((flow.source, flow.destination), ("9.9.9.9:50000".parse().unwrap(), "8.8.8.8:50001".parse().unwrap()));
    assert_eq!((flow.vlan, flow.protocol, flow.ip_bytes), (Some(42), 17, 64));
    let [hop] = &report.hops[..] else { panic!("one hop: {:?}", report.hops) };
    assert_eq!((hop.node, hop.ingress_port, hop.egress_port), (Some(0xfb65_d675), Some(23), Some(11)));
    assert_eq!((hop.queue, hop.occupancy, hop.latency_ns, hop.latency()), (Some(2), Some(111), None, Some(1_456)));
}

#[test]
fn report_of_version_2_reads_as_it_was_made() {
    let [report] = &reports(&bytes(VERSION2))[..] else { panic!("one report") };
    assert_eq!((report.sender.node, report.sender.hardware, report.sequence.number), (10, 5, 42));
    let flow = report.flow.unwrap();
    assert_eq!(
        (flow.source.to_string(), flow.destination.to_string()),
        ("192.0.2.1:40000".into(), "198.51.100.1:5201".into())
    );
    let [hop] = &report.hops[..] else { panic!("one hop: {:?}", report.hops) };
    assert_eq!((hop.ingress_port, hop.egress_port, hop.queue, hop.occupancy), (Some(3), Some(4), Some(1), Some(2_000)));
}

#[test]
fn report_cut_anywhere_is_an_error_within_it() {
    for whole in [bytes(AMLIGHT), bytes(VERSION2)] {
        for length in 0..whole.len() {
            if let Err(error) = datagram(&whole[..length], |_| {}) {
                assert!(error.at <= length, "{error} in {length}");
            }
        }
        assert!(datagram(&whole[..15], |_| {}).is_err());
    }
}

fn hop(node: u32, occupancy: u32) -> IntHop {
    IntHop {
        node: Some(node),
        ingress_port: Some(1),
        egress_port: Some(2),
        queue: Some(3),
        occupancy: Some(occupancy),
        ingress_ns: Some(Stamp::Short(u32::MAX - 99)),
        egress_ns: Some(Stamp::Short(900)),
        ..IntHop::default()
    }
}

fn report(sequence: u32, hops: Vec<IntHop>) -> TestReport {
    TestReport {
        node: 7,
        sequence,
        source: "192.0.2.1:40000".parse().unwrap(),
        destination: "198.51.100.1:5201".parse().unwrap(),
        hops,
    }
}

#[test]
fn generated_reports_of_up_to_ten_hops_read_back_in_the_order_of_the_way() {
    for count in 0..=10 {
        let hops: Vec<IntHop> = (0..count).map(|number| hop(100 + number, number * 10)).collect();
        let [read] = &reports(&report(5, hops.clone()).version1())[..] else { panic!("one report") };
        assert_eq!(read.hops, hops);
        // Over the wrap of 32 bits.
        assert!(read.hops.iter().all(|hop| hop.latency() == Some(1_000)));
    }
    let [read] = &reports(&report(5, vec![hop(7, 77)]).version2())[..] else { panic!("one report") };
    assert_eq!((read.hops[0].occupancy, read.hops[0].node), (Some(77), Some(7)));
}

#[test]
fn all_ones_are_no_value() {
    let none = IntHop { node: Some(9), ..IntHop::default() };
    let [read] = &reports(&report(1, vec![none]).version1())[..] else { panic!("one report") };
    assert_eq!(read.hops, [IntHop { node: Some(9), ..IntHop::default() }]);
}

fn collected(numbers: &[u32]) -> (u64, u64, u64) {
    let mut collector = Collector::new();
    for &number in numbers {
        for read in reports(&report(number, vec![hop(7, number % 1_000)]).version1()) {
            collector.report(&read, FirstOfDatagram::Yes);
        }
    }
    let sender = collector.take_interval(None).senders[0];
    (sender.lost, sender.late, sender.duplicates)
}

#[test]
fn gaps_are_lost_reports_until_they_come_late() {
    assert_eq!(collected(&[1, 2, 3]), (0, 0, 0));
    assert_eq!(collected(&[1, 2, 6]), (3, 0, 0));
    assert_eq!(collected(&[1, 2, 6, 4]), (2, 1, 0));
    assert_eq!(collected(&[1, 2, 2, 6, 4, 4]), (2, 1, 2));
    assert_eq!(collected(&[u32::MAX - 1, u32::MAX, 1]), (1, 0, 0), "over the wrap");
    assert_eq!(collected(&[1_000, 2]), (0, 1, 0), "far behind");
}

#[test]
fn a_queues_peak_is_kept_with_the_flow_that_met_it() {
    let mut collector = Collector::new();
    for number in 0..100 {
        let mut made = report(number, vec![hop(1, 5), hop(2, number % 50)]);
        made.source.set_port(40_000 + u16::try_from(number).unwrap());
        for read in reports(&made.version1()) {
            collector.datagram();
            collector.report(&read, FirstOfDatagram::Yes);
        }
    }
    let interval = collector.take_interval(Some(80));
    assert_eq!((interval.reports, interval.hops.len(), interval.senders[0].lost), (100, 2, 0));
    let second = &interval.hops[1];
    assert_eq!((second.node, second.most_occupancy, second.mean_occupancy), (2, Some(49), Some(24)));
    assert_eq!(second.peak_flow.unwrap().source.port(), 40_049, "the first that met it");
    assert_eq!(second.occupancy_classes.iter().sum::<u64>(), 100);
    assert_eq!(collector.take_interval(None).reports, 0);
}
