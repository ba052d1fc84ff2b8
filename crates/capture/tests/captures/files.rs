//! Files and wrappings: what is read, and what is said of damage.

use crate::support::{MS, Written, read};
use capture::file::FileError;

/// A few segments.
pub(crate) fn written() -> Vec<u8> {
    let mut written = Written::new(1_000, 10 * MS, 1_000);
    for segment in 0..4 {
        written.data((20 + u64::from(segment)) * MS, segment);
    }
    written.ack(35 * MS, 4, &[]);
    written.bytes
}

/// The packets of a pcap file, each with the time in seconds and nanoseconds.
pub(crate) fn packets(pcap: &[u8]) -> Vec<(u32, u32, u32, Vec<u8>)> {
    let field = |at: usize| u32::from_le_bytes(pcap[at..at + 4].try_into().unwrap());
    let (mut at, mut packets) = (24, Vec::new());
    while at < pcap.len() {
        let stored = field(at + 8) as usize;
        packets.push((field(at), field(at + 4), field(at + 12), pcap[at + 16..at + 16 + stored].to_vec()));
        at += 16 + stored;
    }
    packets
}

/// The same packets with another link layer, each as `wrap` makes it from its IP packet.
fn wrapped(link: u32, wrap: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let pcap = written();
    let mut out = pcap[..20].to_vec();
    out.extend(link.to_le_bytes());
    for (seconds, fraction, wire, frame) in packets(&pcap) {
        let packet = wrap(&frame[14..]);
        let wire = wire + u32::try_from(packet.len()).unwrap() - u32::try_from(frame.len()).unwrap();
        for field in [seconds, fraction, u32::try_from(packet.len()).unwrap(), wire] {
            out.extend(field.to_le_bytes());
        }
        out.extend(packet);
    }
    out
}

fn ethernet(tags: &[u8], inner: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1], tags, inner].concat()
}

/// An IPv4 header without the length of what it carries: BIG TCP has none either.
fn ipv4(protocol: u8, inner: &[u8]) -> Vec<u8> {
    [&[0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0, 198, 51, 100, 1, 198, 51, 100, 2], inner].concat()
}

fn udp(port: u16, inner: &[u8]) -> Vec<u8> {
    let mut out = vec![0xc0, 0];
    out.extend(port.to_be_bytes());
    out.extend([0; 4]);
    ipv4(17, &[&out, inner].concat())
}

/// From an IP packet to the frame around it.
type Wrapping = Box<dyn Fn(&[u8]) -> Vec<u8>>;

fn frame(ip: &[u8]) -> Vec<u8> {
    ethernet(&[8, 0], ip)
}

fn in_udp(port: u16, header: &[u8], ip: &[u8]) -> Vec<u8> {
    frame(&udp(port, &[header, ip].concat()))
}

#[test]
fn every_wrapping_shows_the_same_transfer() {
    let cases: Vec<(&str, u32, Wrapping)> = vec![
        ("VLAN", 1, Box::new(|ip| ethernet(&[0x81, 0, 0, 100, 8, 0], ip))),
        ("QinQ", 1, Box::new(|ip| ethernet(&[0x88, 0xa8, 0, 101, 0x81, 0, 0, 100, 8, 0], ip))),
        ("MPLS", 1, Box::new(|ip| ethernet(&[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64], ip))),
        ("PPPoE", 1, Box::new(|ip| ethernet(&[0x88, 0x64, 0x11, 0, 0, 7, 0, 0, 0, 0x21], ip))),
        ("raw", 101, Box::new(<[u8]>::to_vec)),
        ("null", 0, Box::new(|ip| [&[2, 0, 0, 0], ip].concat())),
        ("SLL", 113, Box::new(|ip| [&[0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0], ip].concat())),
        ("SLL2", 276, Box::new(|ip| [&[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0], ip].concat())),
        ("IP in IP", 1, Box::new(|ip| frame(&ipv4(4, ip)))),
        ("GRE", 1, Box::new(|ip| frame(&ipv4(47, &[&[0, 0, 8, 0], ip].concat())))),
        ("GRE with key", 1, Box::new(|ip| frame(&ipv4(47, &[&[0x20, 0, 8, 0, 0, 0, 0, 9], ip].concat())))),
        ("ERSPAN I", 1, Box::new(|ip| frame(&ipv4(47, &[&[0, 0, 0x88, 0xbe], &*frame(ip)].concat())))),
        ("ERSPAN II", 1, {
            let header = [0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 0, 0, 0, 0, 0];
            Box::new(move |ip| frame(&ipv4(47, &[&header[..], &*frame(ip)].concat())))
        }),
        ("VXLAN", 1, Box::new(|ip| in_udp(4_789, &[8, 0, 0, 0, 0, 0, 42, 0], &frame(ip)))),
        ("Geneve", 1, Box::new(|ip| in_udp(6_081, &[1, 0, 0x65, 0x58, 0, 0, 42, 0, 1, 2, 3, 0], &frame(ip)))),
        ("GTP-U", 1, Box::new(|ip| in_udp(2_152, &[0x32, 255, 0, 0, 0, 0, 0, 7, 0, 1, 0, 0], ip))),
    ];
    let plain = read(&written()).connections.remove(0).transfers.remove(0);
    for (name, link, wrap) in cases {
        let report = read(&wrapped(link, wrap));
        assert_eq!(report.counts.tcp, report.packets, "{name}: {:?}", report.counts);
        let transfer = report.connections.into_iter().next().and_then(|mut only| only.transfers.pop());
        assert_eq!(transfer.map(|transfer| transfer.counts), Some(plain.counts), "{name}");
    }
}

/// A tag in the first word, for packets of the client, and in the second for those of the server.
type TwoTags = Box<dyn Fn(u8, &[u8]) -> Vec<u8>>;

fn tagged_by_direction() -> Vec<(&'static str, &'static str, TwoTags)> {
    vec![
        ("VLAN", "VLAN 7", Box::new(|tag, ip| ethernet(&[0x81, 0, 0, tag, 8, 0], ip))),
        ("MPLS", "MPLS 7", Box::new(|tag, ip| ethernet(&[0x88, 0x47, 0, 0, tag << 4 | 1, 64], ip))),
        ("GRE", "GRE key 7", Box::new(|tag, ip| frame(&ipv4(47, &[&[0x20, 0, 8, 0, 0, 0, 0, tag], ip].concat())))),
        ("VXLAN", "VXLAN 7", Box::new(|tag, ip| in_udp(4_789, &[8, 0, 0, 0, 0, 0, tag, 0], &frame(ip)))),
        ("Geneve", "Geneve 7", Box::new(|tag, ip| in_udp(6_081, &[0, 0, 0x65, 0x58, 0, 0, tag, 0], &frame(ip)))),
        ("GTP-U", "GTP-U 0x7", Box::new(|tag, ip| in_udp(2_152, &[0x30, 255, 0, 0, 0, 0, 0, tag], ip))),
    ]
}

/// Whether the client sent an IP packet of [`written`].
fn is_of_client(ip: &[u8]) -> bool {
    ip[15] == 1
}

#[test]
fn tags_that_differ_by_direction_are_around_one_connection() {
    let plain = read(&written()).connections.remove(0).transfers.remove(0);
    for (name, tags, wrap) in tagged_by_direction() {
        let report = read(&wrapped(1, |ip| wrap(if is_of_client(ip) { 7 } else { 9 }, ip)));
        let [connection] = &*report.connections else { panic!("{name}: {} connections", report.connections.len()) };
        assert_eq!(connection.transfers[0].counts, plain.counts, "{name}");
        assert_eq!(connection.tags.as_deref(), Some(tags), "{name}");
    }
}

#[test]
fn tags_are_named_from_the_outermost_on() {
    let wrap = |ip: &[u8]| in_udp(4_789, &[8, 0, 0, 0, 0, 0, 42, 0], &ethernet(&[0x81, 0, 0, 100, 8, 0], ip));
    assert_eq!(read(&wrapped(1, wrap)).connections[0].tags.as_deref(), Some("VXLAN 42, VLAN 100"));
    assert_eq!(read(&written()).connections[0].tags, None);
}

/// The packets of [`written`], each with data as parts of `first` bytes of TCP and of the rest; `order` says what becomes of the two.
fn in_fragments(
    cut: impl Fn(&[u8]) -> Option<[Vec<u8>; 2]>,
    keep: impl Fn(usize, [Vec<u8>; 2]) -> Vec<Vec<u8>>,
) -> Vec<u8> {
    let pcap = written();
    let mut out = pcap[..24].to_vec();
    for (number, (seconds, fraction, _, frame)) in packets(&pcap).into_iter().enumerate() {
        let parts = cut(&frame).map_or_else(|| vec![frame], |parts| keep(number, parts));
        for part in parts {
            let length = u32::try_from(part.len()).unwrap();
            // All of a packet's parts come at one instant; what was not stored counts by the IP header.
            [seconds, fraction, length, 2_000].iter().for_each(|field| out.extend(field.to_le_bytes()));
            out.extend(part);
        }
    }
    out
}

/// The packet with the last data.
const LAST: usize = 6;
/// Bytes of TCP in the first part: the header and some data.
const FIRST: u16 = 800;

fn cut_ipv4(frame: &[u8]) -> Option<[Vec<u8>; 2]> {
    let carried = u16::from_be_bytes([frame[16], frame[17]]) - 20;
    let part = |place: u16, bytes: u16, rest: &[u8]| {
        let mut part = frame[..34].to_vec();
        part[16..18].copy_from_slice(&(20 + bytes).to_be_bytes());
        part[20..22].copy_from_slice(&place.to_be_bytes());
        [&part, rest].concat()
    };
    let later = || part(FIRST / 8, carried - FIRST, &[0; 40]);
    (carried > FIRST).then(|| [part(0x2000, FIRST, &frame[34..]), later()])
}

fn cut_ipv6(frame: &[u8]) -> Option<[Vec<u8>; 2]> {
    let carried = u16::from_be_bytes([frame[16], frame[17]]) - 20;
    let mapped = |at: usize| [&[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0], &frame[at..at + 4]].concat();
    let part = |place: u16, bytes: u16, rest: &[u8]| {
        let mut part = [&frame[..12], &[0x86, 0xdd, 0x60, 0, 0, 0]].concat();
        part.extend((8 + bytes).to_be_bytes());
        part.extend([44, 64]);
        part.extend([mapped(26), mapped(30)].concat());
        part.extend([6, 0]);
        part.extend(place.to_be_bytes());
        part.extend([0, 0, frame[18], frame[19]]);
        [&part, rest].concat()
    };
    if carried <= FIRST {
        return Some([part(0, carried, &frame[34..]), Vec::new()]);
    }
    Some([part(1, FIRST, &frame[34..]), part(FIRST, carried - FIRST, &[0; 40])])
}

fn both(_: usize, parts: [Vec<u8>; 2]) -> Vec<Vec<u8>> {
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

#[test]
fn parts_of_an_ip_packet_are_one_segment() {
    let plain = read(&written()).connections.remove(0).transfers.remove(0);
    for (name, file) in [("IPv4", in_fragments(cut_ipv4, both)), ("IPv6", in_fragments(cut_ipv6, both))] {
        let report = read(&file);
        assert_eq!((report.counts.tcp, report.counts.fragments, report.counts.fragments_apart), (8, 4, 0), "{name}");
        assert_eq!(report.connections[0].transfers[0].counts, plain.counts, "{name}");
        assert_eq!(report.connections[0].transfers[0].delivered_bytes, plain.delivered_bytes, "{name}");
    }
}

#[test]
fn parts_of_copies_belong_to_their_own_and_a_part_without_its_first_is_counted_apart() {
    let plain = read(&written()).connections.remove(0).transfers.remove(0);
    let doubled = in_fragments(cut_ipv4, |_, [first, later]| vec![first.clone(), first, later.clone(), later]);
    let report = read(&doubled);
    assert_eq!((report.counts.fragments_apart, report.connections[0].duplicates), (0, 4));
    assert_eq!(report.connections[0].transfers[0].counts, plain.counts);
    let torn =
        in_fragments(cut_ipv4, |number, [first, later]| if number == LAST { vec![later] } else { vec![first, later] });
    assert_eq!((read(&torn).counts.fragments, read(&torn).counts.fragments_apart), (4, 1));
}

#[test]
fn a_link_layer_that_is_not_read_is_named() {
    let report = read(&wrapped(147, <[u8]>::to_vec));
    assert_eq!((report.counts.unknown_link, report.counts.first_unknown_link), (8, Some(147)));
}

/// The packets as pcapng; each option is in the interface block.
fn pcapng(options: &[u8], ticks: impl Fn(u64) -> u64) -> Vec<u8> {
    let block = |block_type: u32, body: &[u8]| {
        let padded = body.len().next_multiple_of(4);
        let length = u32::try_from(12 + padded).unwrap();
        let mut out = [block_type.to_le_bytes(), length.to_le_bytes()].concat();
        out.extend(body);
        out.resize(8 + padded, 0);
        out.extend(length.to_le_bytes());
        out
    };
    let mut out = block(0x0a0d_0d0a, &[&[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0], &[0xff; 8][..]].concat());
    out.extend(block(1, &[&[1, 0, 0, 0, 0, 0, 4, 0], options].concat()));
    for (seconds, fraction, wire, frame) in packets(&written()) {
        let units = ticks(u64::from(seconds) * 1_000_000_000 + u64::from(fraction));
        let mut body = vec![0; 4];
        body.extend(u32::try_from(units >> 32).unwrap().to_le_bytes());
        body.extend(u32::try_from(units & 0xffff_ffff).unwrap().to_le_bytes());
        body.extend(u32::try_from(frame.len()).unwrap().to_le_bytes());
        body.extend(wire.to_le_bytes());
        body.extend(frame);
        out.extend(block(6, &body));
    }
    // Statistics: seven drops of the interface, five of the system.
    let counts = [5, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0];
    out.extend(block(5, &[&[0; 12], &counts[..]].concat()));
    out
}

#[test]
fn pcapng_has_the_same_packets_with_any_clock() {
    let plain = read(&written());
    let cases = [
        ("microseconds", pcapng(&[], |ns| ns / 1_000)),
        ("nanoseconds", pcapng(&[9, 0, 1, 0, 9, 0, 0, 0], |ns| ns)),
        ("offset", pcapng(&[9, 0, 1, 0, 9, 0, 0, 0, 14, 0, 8, 0, 100, 0, 0, 0, 0, 0, 0, 0], |ns| ns - 100_000_000_000)),
    ];
    for (name, file) in cases {
        let report = read(&file);
        assert_eq!(report.damage, None, "{name}");
        assert_eq!((report.drops.interface, report.drops.system), (7, 5), "{name}");
        assert_eq!(report.connections[0].first_ns, plain.connections[0].first_ns, "{name}");
        assert_eq!(report.connections[0].transfers[0].counts, plain.connections[0].transfers[0].counts, "{name}");
    }
}

#[test]
fn both_byte_orders_and_units_of_pcap_are_read() {
    let plain = read(&written());
    let swapped = |word: &[u8]| word.iter().rev().copied().collect::<Vec<u8>>();
    let mut big = Vec::new();
    let pcap = written();
    big.extend(swapped(&pcap[..4]));
    big.extend([swapped(&pcap[4..6]), swapped(&pcap[6..8])].concat());
    pcap[8..24].chunks(4).for_each(|word| big.extend(swapped(word)));
    let mut micros = [&[0xd4, 0xc3, 0xb2, 0xa1], &pcap[4..24]].concat();
    for (seconds, fraction, wire, frame) in packets(&pcap) {
        let length = u32::try_from(frame.len()).unwrap();
        [seconds, fraction, length, wire].iter().for_each(|field| big.extend(field.to_be_bytes()));
        [seconds, fraction / 1_000, length, wire].iter().for_each(|field| micros.extend(field.to_le_bytes()));
        big.extend(&frame);
        micros.extend(&frame);
    }
    for file in [big, micros] {
        let report = read(&file);
        assert_eq!(report.connections[0].transfers[0].counts, plain.connections[0].transfers[0].counts);
        assert_eq!(report.connections[0].last_ns, plain.connections[0].last_ns);
    }
}

#[test]
fn a_cut_file_is_read_up_to_the_cut_and_the_cut_is_named() {
    let whole = written();
    let report = read(&whole[..whole.len() - 20]);
    assert_eq!(report.packets, 7);
    let damage = report.damage.map(|damage| damage.to_string()).unwrap_or_default();
    assert!(damage.contains("after frame 7") && damage.contains("byte "), "{damage}");
}

#[test]
fn a_record_that_is_too_long_ends_the_file_there() {
    let mut file = written();
    // The stored length of the third record.
    let third: usize = 24 + packets(&file).iter().take(2).map(|packet| 16 + packet.3.len()).sum::<usize>();
    file[third + 11] = 0x7f;
    let report = read(&file);
    assert_eq!(report.packets, 2);
    assert!(matches!(report.damage, Some(FileError::Length { frame: 2, .. })), "{:?}", report.damage);
}

#[test]
fn what_is_no_capture_is_refused_with_its_first_bytes() {
    let report = read(b"GET / HTTP/1.1\r\n\r\n and more than a header");
    assert!(matches!(report.damage, Some(FileError::UnknownFormat { .. })), "{:?}", report.damage);
    assert_eq!(report.packets, 0);
}

#[test]
fn copies_of_a_span_port_are_counted_once() {
    let plain = written();
    let mut doubled = plain[..24].to_vec();
    let mut at = 24;
    for (.., frame) in packets(&plain) {
        let record = &plain[at..at + 16 + frame.len()];
        doubled.extend(record);
        doubled.extend(record);
        at += record.len();
    }
    let (report, plain) = (read(&doubled), read(&plain));
    assert_eq!(report.connections[0].duplicates, plain.packets);
    assert_eq!(report.connections[0].transfers[0].counts, plain.connections[0].transfers[0].counts);
}

#[test]
fn pieces_of_a_file_give_what_the_whole_gives() {
    let whole = written();
    for size in [1, 7, 64] {
        let mut trace = capture::Trace::new(capture::TraceOptions::default());
        let mut rest = Vec::new();
        for piece in whole.chunks(size) {
            rest.extend(piece);
            let used = trace.read(&rest).unwrap();
            rest.drain(..used);
        }
        let report = trace.end(&rest);
        assert_eq!((report.packets, report.damage), (8, None), "in pieces of {size}");
    }
}
