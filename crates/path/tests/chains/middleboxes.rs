//! Boxes that packets do not ask for: limits of size, firewalls, connection tables, ECN boxes, merging adapters.

#![allow(clippy::cast_possible_truncation)] // Numbers of tests.

use std::num::NonZeroU32;

use path::reason::{Delay, Drop, Mark};
use path::{Ecn, FlowHash, PacketKind, Train};
use units::MonoTime;

use crate::support::{Log, at, chain, drive, segments};

/// One packet of a kind, on the link of `size` bytes.
fn packet(kind: PacketKind, size: u32) -> Train {
    Train { kind, ..segments(0, 1, size) }
}

fn delivered_at(log: &Log) -> Vec<MonoTime> {
    log.delivered.iter().map(|(at, _)| *at).collect()
}

#[test]
fn packet_as_large_as_the_mtu_passes_and_one_byte_more_does_not() {
    // 1,500 bytes of IP are 1,514 on the link.
    for (report, refused) in [("icmp", 1), ("silent", 0)] {
        let text = format!(r#"chain = [{{ mtu = {{ bytes = 1500, report = "{report}" }} }}]"#);
        let log = drive(&mut chain(&text, 1), [1_514, 1_515].map(|size| (at(0), packet(PacketKind::TcpData, size))));
        assert_eq!((log.delivered_packets(), log.dropped_packets(Drop::TooBig)), (1, 1), "{report}");
        assert_eq!(log.refused.len(), refused, "{report}");
        assert!(log.refused.iter().all(|(_, _, mtu, train)| mtu.get() == 1_500 && train.size == 1_515));
    }
}

#[test]
fn last_packet_of_a_train_passes_if_it_is_small_enough() {
    let train = Train { last_size: 600, ..segments(0, 5, 9_014) };
    let log = drive(&mut chain("chain = [{ mtu = { bytes = 1500 } }]", 1), [(at(0), train)]);
    assert_eq!((log.delivered_packets(), log.dropped_packets(Drop::TooBig)), (1, 4));
    assert_eq!(log.delivered[0].1.bytes().get(), 600);
}

#[test]
fn router_cuts_what_may_be_cut_and_a_black_hole_takes_it() {
    let may_be_cut = Train { whole: false, ..packet(PacketKind::Udp, 5_000) };
    for (report, passes) in [("icmp", 1), ("silent", 0)] {
        let text = format!(r#"chain = [{{ mtu = {{ bytes = 1500, report = "{report}" }} }}]"#);
        assert_eq!(drive(&mut chain(&text, 1), [(at(0), may_be_cut)]).delivered_packets(), passes, "{report}");
    }
}

#[test]
fn firewall_counts_packets_and_not_their_bytes() {
    for size in [100, 9_000] {
        let mut chain = chain("chain = [{ firewall = { packets-per-second = 1000 } }]", 1);
        let log = drive(&mut chain, (0..10).map(|n| (at(0), segments(n, 1, size))));
        assert_eq!(delivered_at(&log), (1..=10).map(|n| at(1_000 * n)).collect::<Vec<_>>(), "{size}");
        assert_eq!(chain.tallies().next().unwrap().delayed_for(Delay::Service).longest.as_millis(), 1);
    }
}

#[test]
fn firewall_passes_its_rate_and_drops_what_its_buffer_cannot_hold() {
    // 200,000 packets a second for a second come to one that can look at 100,000.
    let text = "chain = [{ firewall = { packets-per-second = 100000, queue = { packets = 64 } } }]";
    let log = drive(&mut chain(text, 1), (0..20_000).map(|n| (at(50 * n), segments(n as u32, 10, 1_514))));
    let passed = log.delivered_packets();
    assert!((100_000..=100_080).contains(&passed), "{passed}");
    assert_eq!(log.dropped_packets(Drop::FirewallFull), 200_000 - passed);
}

#[test]
fn firewall_looks_only_at_what_it_inspects() {
    for (inspects, late) in
        [("all", vec![true, true, true]), ("tcp", vec![true, false, false]), ("udp", vec![false, true, true])]
    {
        let text = format!(r#"chain = [{{ firewall = {{ packets-per-second = 10, inspects = "{inspects}" }} }}]"#);
        let kinds = [PacketKind::TcpData, PacketKind::Udp, PacketKind::TunnelledTcpData];
        let is_late =
            kinds.map(|kind| delivered_at(&drive(&mut chain(&text, 1), [(at(0), packet(kind, 100))]))[0] > at(0));
        assert_eq!(is_late.to_vec(), late, "{inspects}");
    }
}

#[test]
fn window_scale_is_taken_out_of_syns() {
    let text = "chain = [{ firewall = { packets-per-second = 100000, strips-window-scale = true } }]";
    let log =
        drive(&mut chain(text, 1), [PacketKind::TcpSyn, PacketKind::TcpData].map(|kind| (at(0), packet(kind, 74))));
    let stripped: Vec<bool> = log.delivered.iter().map(|(_, train)| train.edits.window_scale_stripped).collect();
    assert_eq!(stripped, [true, false]);
}

#[test]
fn idle_connection_is_forgotten_until_it_begins_anew() {
    let mut chain = chain(r#"chain = [{ conntrack = { forgets-after = "10s" } }]"#, 1);
    let second = |s: u64| at(s * 1_000_000);
    let trains = [
        (second(0), packet(PacketKind::TcpSyn, 74)),
        (second(9), packet(PacketKind::TcpData, 1_514)),
        (second(19), packet(PacketKind::TcpControl, 66)),
        (second(30), packet(PacketKind::TcpData, 1_514)),
        (second(31), packet(PacketKind::Udp, 500)),
        (second(32), packet(PacketKind::TcpData, 1_514)),
        (second(33), packet(PacketKind::TcpSyn, 74)),
        (second(34), packet(PacketKind::TcpData, 1_514)),
    ];
    let log = drive(&mut chain, trains);
    assert_eq!(log.dropped.iter().map(|(at, ..)| *at).collect::<Vec<_>>(), [second(30), second(32)]);
    assert_eq!(log.dropped_packets(Drop::Forgotten), 2);
}

#[test]
fn full_table_takes_no_connection_until_others_are_forgotten() {
    let mut chain = chain(r#"chain = [{ conntrack = { forgets-after = "16s", flows = 2 } }]"#, 1);
    let syn = |s: u64, flow| (at(s * 1_000_000), Train { flow: FlowHash(flow), ..packet(PacketKind::TcpSyn, 74) });
    // The third finds no room; the first goes on; the second is idle for too long, and the fourth takes its place.
    let log = drive(&mut chain, [syn(0, 1), syn(1, 2), syn(2, 3), syn(10, 1), syn(19, 4), syn(20, 5)]);
    let refused: Vec<u32> = log.dropped.iter().map(|(.., train)| train.flow.0).collect();
    assert_eq!(refused, [3, 5]);
    assert_eq!(log.dropped_packets(Drop::TableFull), 2);
}

#[test]
fn ecn_boxes_do_what_their_name_says() {
    let all = [Ecn::NotCapable, Ecn::Capable0, Ecn::Capable1, Ecn::Marked];
    let run = |what: &str| {
        let text = format!(r#"chain = [{{ ecn = "{what}" }}]"#);
        let log = drive(&mut chain(&text, 1), all.map(|ecn| (at(0), Train { ecn, ..segments(0, 1, 100) })));
        let reasons: Vec<Mark> = log.marked.iter().map(|(_, _, reason, _)| *reason).collect();
        (
            log.delivered.iter().map(|(_, train)| train.ecn).collect::<Vec<_>>(),
            reasons,
            log.dropped_packets(Drop::EcnCapable),
        )
    };
    assert_eq!(run("bleach"), (vec![Ecn::NotCapable; 4], vec![Mark::Bleached; 3], 0));
    let marked = vec![Ecn::NotCapable, Ecn::Marked, Ecn::Marked, Ecn::Marked];
    assert_eq!(run("mark-all"), (marked, vec![Mark::Always; 3], 0));
    assert_eq!(run("drop-capable"), (vec![Ecn::NotCapable], vec![], 3));
}

const MERGER: &str = r#"chain = [{ merger = { window = "50us" } }]"#;

#[test]
fn segment_that_comes_alone_is_late_by_the_window() {
    let mut chain = chain(MERGER, 1);
    let log =
        drive(&mut chain, [(at(0), packet(PacketKind::TcpData, 1_514)), (at(51), packet(PacketKind::TcpData, 1_514))]);
    assert_eq!(delivered_at(&log), [at(50), at(101)]);
    assert_eq!(chain.tallies().next().unwrap().delayed_for(Delay::Merging).packets.get(), 2);
}

#[test]
fn segments_within_the_window_are_merged_and_lost() {
    let log = drive(&mut chain(MERGER, 1), (0..5).map(|n| (at(49 * n), packet(PacketKind::TcpData, 1_514))));
    assert_eq!((log.delivered_packets(), log.dropped_packets(Drop::Merged)), (0, 5));
    let train = drive(&mut chain(MERGER, 1), [(at(0), segments(0, 40, 1_514))]);
    assert_eq!(train.dropped_packets(Drop::Merged), 40, "a train is merged with itself");
}

#[test]
fn flows_are_merged_apart() {
    let flow = |n: u32| Train { flow: FlowHash(n), ..packet(PacketKind::TcpData, 1_514) };
    let log = drive(&mut chain(MERGER, 1), [(at(0), flow(1)), (at(10), flow(2)), (at(20), flow(1))]);
    let passed: Vec<u32> = log.delivered.iter().map(|(_, train)| train.flow.0).collect();
    assert_eq!((passed, log.dropped_packets(Drop::Merged)), (vec![2], 2));
}

#[test]
fn other_tcp_is_left_alone_where_only_tunnels_are_merged() {
    let text = r#"chain = [{ merger = { window = "50us", tunnelled-only = true } }]"#;
    let run = |kind| drive(&mut chain(text, 1), [(at(0), Train { kind, ..segments(0, 3, 1_514) })]).delivered_packets();
    assert_eq!((run(PacketKind::TcpData), run(PacketKind::TunnelledTcpData), run(PacketKind::Udp)), (3, 0, 3));
}

#[test]
fn packets_without_payload_pass_and_do_not_overtake() {
    let kinds = [PacketKind::TcpData, PacketKind::TcpControl];
    let log = drive(&mut chain(MERGER, 1), kinds.map(|kind| (at(10), packet(kind, 200))));
    assert_eq!(
        log.delivered.iter().map(|(at, train)| (*at, train.kind)).collect::<Vec<_>>(),
        kinds.map(|kind| (at(10), kind))
    );
}

#[test]
fn segments_that_fit_together_pass() {
    // 66 bytes of headers, so 800 and 734 more are 1,534 on the link, and 700 and 634 are 1,334.
    let run =
        |size| drive(&mut chain(MERGER, 1), [at(0), at(10)].map(|when| (when, packet(PacketKind::TcpData, size))));
    assert_eq!(run(800).delivered_packets(), 0);
    assert_eq!(delivered_at(&run(700)), [at(10), at(60)]);
}

#[test]
fn merged_packet_has_64_kib_at_most_and_ends_with_a_short_segment() {
    // 45 segments of 1,448 bytes fit into 65,535, and one of 9,000 in the last place is a group of its own.
    let log = drive(&mut chain(MERGER, 1), [(at(0), segments(0, 46, 1_514))]);
    assert_eq!((log.delivered_packets(), log.dropped_packets(Drop::Merged)), (1, 45));
    let short = Train { last_size: 600, count: NonZeroU32::new(3).unwrap(), ..segments(0, 3, 1_514) };
    let log = drive(&mut chain(MERGER, 1), [(at(0), short), (at(10), packet(PacketKind::TcpData, 1_514))]);
    assert_eq!((delivered_at(&log), log.dropped_packets(Drop::Merged)), (vec![at(60)], 3));
}
