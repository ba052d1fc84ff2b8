//! A chain of all elements allocates nothing for a packet, once it has held what it holds.

use crate::support::{at, chain, segments};
use path::reason::{Drop, Mark};
use path::{Ecn, ElementIndex, FlowHash, PacketKind, Train, Watcher};
use units::{MonoTime, Mtu};

/// Counts, and keeps nothing.
#[derive(Default)]
struct Counts {
    delivered: u64,
    dropped: u64,
    marked: u64,
    duplicated: u64,
    refused: u64,
}

impl Watcher for Counts {
    fn delivered(&mut self, _: MonoTime, train: Train) {
        self.delivered += u64::from(train.count.get());
    }

    fn dropped(&mut self, _: MonoTime, _: ElementIndex, _: Drop, train: Train) {
        self.dropped += u64::from(train.count.get());
    }

    fn marked(&mut self, _: MonoTime, _: ElementIndex, _: Mark, train: Train) {
        self.marked += u64::from(train.count.get());
    }

    fn duplicated(&mut self, _: MonoTime, _: ElementIndex, train: Train) {
        self.duplicated += u64::from(train.count.get());
    }

    fn refused(&mut self, _: MonoTime, _: ElementIndex, _: Mtu, train: Train) {
        self.refused += u64::from(train.count.get());
    }
}

/// All elements, each so that something happens in it and much still comes to the next.
const ALL: &str = r#"chain = [
    { conntrack = { forgets-after = "5ms", flows = 8 } },
    { mtu = { bytes = 1500, report = "icmp" } },
    { policer = { rate = "900Mbit/s", burst = "100kB" } },
    { classes = { rate = "1Gbit/s", expedited = { queue = { bytes = "30kB" } }, best-effort = { weight = 3, queue = { bytes = "1MB" } },
        scavenger = { weight = 1, queue = { bytes = "1MB" } }, cross = [{ dscp = 8, bursts = [{ rate = "100Mbit/s" }] }] } },
    { port = { rate = "1Gbit/s", queue = { bytes = "200kB", mark-above = "20kB" }, cross = { bursts = [
        { rate = "1Gbit/s", length = "1ms", period = "4ms", jitter = "1ms" }] } } },
    { port = { rate = "900Mbit/s", queue = { bytes = "1MB", red = { min = "5kB", max = "500kB", weight = 0.01, ecn = true } } } },
    { port = { rate = "850Mbit/s", queue = { bytes = "1MB", codel = { target = "500us", interval = "10ms" } } } },
    { shaper = { rate = "850Mbit/s", burst = "20kB", queue = { bytes = "100kB" } } },
    { firewall = { packets-per-second = 70000, queue = { packets = 100 }, inspects = "all" } },
    { delay = { time = "5ms" } },
    { delay = { time = "1ms", jitter = "1ms", order = "free" } },
    { loss = { random = 0.01 } },
    { loss = { bursty = { to-bad = 0.01, to-good = 0.3 } } },
    { reorder = { probability = 0.05, time = "300us" } },
    { duplicate = { probability = 0.05 } },
    { corrupt = { probability = 0.05 } },
    { merger = { window = "5us", tunnelled-only = true } },
    { ecn = "bleach" },
]"#;

#[test]
fn no_packet_costs_an_allocation() {
    let mut chain = chain(ALL, 1);
    let mut counts = Counts::default();
    let mut frame = 0;
    let mut send = |until: u32, counts: &mut Counts| {
        while frame < until {
            chain.offer(at(u64::from(frame) * 60), traffic(frame), counts);
            frame += 1;
        }
    };
    send(20_000, &mut counts);
    let before = counts.delivered;
    let allocated = allocation_counter::measure(|| send(40_000, &mut counts));
    assert!(counts.delivered > before + 20_000, "packets come through");
    assert!(counts.dropped > 1_000 && counts.marked > 1_000 && counts.duplicated > 1_000 && counts.refused > 100);
    assert_eq!(allocated.count_total, 0, "{allocated:?}");
    let one = allocation_counter::measure(|| std::mem::drop(std::hint::black_box(vec![0_u8; 100])));
    assert_eq!(one.count_total, 1, "they are counted");
}

/// About 800 Mbit/s of mixed traffic.
fn traffic(frame: u32) -> Train {
    let kind = match frame % 50 {
        0 => PacketKind::TcpSyn,
        1 => PacketKind::TcpControl,
        2 => PacketKind::Udp,
        3 => PacketKind::TunnelledTcpData,
        _ => PacketKind::TcpData,
    };
    let size = if frame.is_multiple_of(97) { 1_600 } else { 1_514 };
    let ecn = if frame.is_multiple_of(2) { Ecn::Capable0 } else { Ecn::NotCapable };
    let dscp = [0, 0, 0, 46, 8][frame as usize % 5];
    Train { kind, ecn, dscp, flow: FlowHash(frame / 50 % 10), ..segments(frame, 4, size) }
}
