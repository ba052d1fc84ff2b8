//! pcapng files of several interfaces and sections: each interface has its own link layer, clock and offset.

use crate::files::{packets, written};
use crate::support::read;

/// The byte order of a section.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn two(self, value: u16) -> [u8; 2] {
        if matches!(self, Self::Little) { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    fn four(self, value: u32) -> [u8; 4] {
        if matches!(self, Self::Little) { value.to_le_bytes() } else { value.to_be_bytes() }
    }

    fn block(self, block_type: u32, body: &[u8]) -> Vec<u8> {
        let padded = body.len().next_multiple_of(4);
        let length = self.four(u32::try_from(12 + padded).unwrap());
        let mut out = [self.four(block_type), length].concat();
        out.extend(body);
        out.resize(8 + padded, 0);
        out.extend(length);
        out
    }

    fn section(self) -> Vec<u8> {
        let body = [&self.four(0x1a2b_3c4d)[..], &self.two(1), &self.two(0), &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &body)
    }

    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut out = [self.two(code), self.two(u16::try_from(value.len()).unwrap())].concat();
        out.extend(value);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    fn interface(self, kind: &Kind) -> Vec<u8> {
        let mut body = [&self.two(kind.link)[..], &[0; 2], &self.four(262_144)].concat();
        body.extend(self.option(2, b"eth0"));
        body.extend(self.option(9, &[kind.resolution]));
        if kind.offset_s != 0 {
            let bytes =
                if matches!(self, Self::Little) { kind.offset_s.to_le_bytes() } else { kind.offset_s.to_be_bytes() };
            body.extend(self.option(14, &bytes));
        }
        body.extend(self.option(0, &[]));
        self.block(1, &body)
    }

    fn packet(self, interface: u32, kind: &Kind, ns: u64, wire: u32, frame: &[u8]) -> Vec<u8> {
        let bytes = (kind.wrap)(frame);
        let since = u128::from(ns) - u128::try_from(kind.offset_s).unwrap() * 1_000_000_000;
        let units = u64::try_from(since * kind.per_second / 1_000_000_000).unwrap();
        let stored = u32::try_from(bytes.len()).unwrap();
        let wire = wire + stored - u32::try_from(frame.len()).unwrap();
        let (high, low) = (u32::try_from(units >> 32).unwrap(), u32::try_from(units & 0xffff_ffff).unwrap());
        let fields = [interface, high, low, stored, wire];
        let body: Vec<u8> = fields.into_iter().flat_map(|field| self.four(field)).chain(bytes).collect();
        self.block(6, &body)
    }
}

/// An interface of a capture.
struct Kind {
    link: u16,
    /// `if_tsresol`.
    resolution: u8,
    per_second: u128,
    /// `if_tsoffset`.
    offset_s: i64,
    /// From an Ethernet frame to what this interface captures.
    wrap: fn(&[u8]) -> Vec<u8>,
}

fn kinds() -> [Kind; 4] {
    let sll2 = |frame: &[u8]| [&[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0], &frame[14..]].concat();
    [
        Kind { link: 1, resolution: 6, per_second: 1_000_000, offset_s: 0, wrap: <[u8]>::to_vec },
        Kind {
            link: 101,
            resolution: 9,
            per_second: 1_000_000_000,
            offset_s: 1_600_000_000,
            wrap: |frame| frame[14..].to_vec(),
        },
        Kind { link: 276, resolution: 0x80 | 20, per_second: 1 << 20, offset_s: 0, wrap: sll2 },
        Kind {
            link: 0,
            resolution: 3,
            per_second: 1_000,
            offset_s: 900,
            wrap: |frame| [&[2, 0, 0, 0], &frame[14..]].concat(),
        },
    ]
}

/// The packets of a capture, the next each time from the next interface; the second half in a section of the other byte order,
/// whose interfaces come in reverse.
fn of_all_kinds() -> Vec<u8> {
    let all = packets(&written());
    let (first, second) = all.split_at(all.len() / 2);
    let mut out = Vec::new();
    for (order, part) in [(Order::Little, first), (Order::Big, second)] {
        let mut kinds = kinds();
        if matches!(order, Order::Big) {
            kinds.reverse();
        }
        out.extend(order.section());
        kinds.iter().for_each(|kind| out.extend(order.interface(kind)));
        for (number, (seconds, fraction, wire, frame)) in part.iter().enumerate() {
            let ns = u64::from(*seconds) * 1_000_000_000 + u64::from(*fraction);
            let at = number % kinds.len();
            out.extend(order.packet(u32::try_from(at).unwrap(), &kinds[at], ns, *wire, frame));
        }
    }
    out
}

#[test]
fn interfaces_of_different_link_layers_and_clocks_show_one_transfer() {
    let (report, plain) = (read(&of_all_kinds()), read(&written()));
    assert_eq!((report.damage, report.packets), (None, plain.packets));
    let (one, other) = (&report.connections[0], &plain.connections[0]);
    assert_eq!(one.transfers[0].counts, other.transfers[0].counts);
    // The coarsest clock counts milliseconds.
    for (found, expected) in [(one.first_ns, other.first_ns), (one.last_ns, other.last_ns)] {
        assert!((found - expected).abs() <= 1_000_000, "{found} and {expected}");
    }
}

#[test]
fn a_packet_of_an_interface_that_was_not_described_ends_the_file_there() {
    let mut file = of_all_kinds();
    // The first enhanced packet block.
    let mut at = 0;
    while file[at..at + 4] != Order::Little.four(6) {
        at += u32::from_le_bytes(file[at + 4..at + 8].try_into().unwrap()) as usize;
    }
    file[at + 8] = 7;
    let report = read(&file);
    let damage = report.damage.map(|damage| damage.to_string()).unwrap_or_default();
    assert!(report.packets == 0 && damage.ends_with("a packet of interface 7, of which there are 4"), "{damage}");
}
