//! Each layer by itself: what is around a TCP segment, and what is read of it.

use capture::decode::{Content, LaterFragment, Segment, decode};

const ETHERNET: u16 = 1;
/// The payload that the headers state and the capture does not have.
const PAYLOAD: u32 = 1_000;

/// A TCP header with time stamps, of a segment with [`PAYLOAD`] bytes.
fn tcp() -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(40_000_u16.to_be_bytes());
    header.extend(5_201_u16.to_be_bytes());
    header.extend(1_000_u32.to_be_bytes());
    header.extend(7_u32.to_be_bytes());
    header.extend([8 << 4, 0x10, 1, 0xf4, 0, 0, 0, 0]);
    header.extend([1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6]);
    header
}

/// What the IP header says of its length.
#[derive(Clone, Copy)]
enum Stated {
    Length,
    /// Larger than the field can say (BIG TCP).
    Nothing,
}

fn ipv4(protocol: u8, stated: Stated, inner: &[u8]) -> Vec<u8> {
    let total = 20 + u32::try_from(inner.len()).unwrap() + PAYLOAD;
    let total = if matches!(stated, Stated::Length) { u16::try_from(total).unwrap() } else { 0 };
    let mut out = vec![0x45, 0];
    out.extend(total.to_be_bytes());
    out.extend([0, 7, 0x40, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    out.extend(inner);
    out
}

fn ipv6(next: u8, stated: Stated, inner: &[u8]) -> Vec<u8> {
    let length = u32::try_from(inner.len()).unwrap() + PAYLOAD;
    let length = if matches!(stated, Stated::Length) { u16::try_from(length).unwrap() } else { 0 };
    let mut out = vec![0x60, 0, 0, 0];
    out.extend(length.to_be_bytes());
    out.extend([next, 64]);
    out.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    out.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    out.extend(inner);
    out
}

fn frame(tags: &[u8], inner: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1], tags, inner].concat()
}

fn plain() -> Vec<u8> {
    frame(&[8, 0], &ipv4(6, Stated::Length, &tcp()))
}

fn over_ipv4(protocol: u8, header: &[u8], inner: &[u8]) -> Vec<u8> {
    frame(&[8, 0], &ipv4(protocol, Stated::Length, &[header, inner].concat()))
}

fn udp(port: u16, header: &[u8], inner: &[u8]) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    [&[0xc0, 0, high, low, 0, 0, 0, 0], header, inner].concat()
}

/// IPv6 with one extension header before TCP.
fn extended(next: u8, header: &[u8]) -> Vec<u8> {
    frame(&[0x86, 0xdd], &ipv6(next, Stated::Length, &[header, &tcp()].concat()))
}

fn read(link: u16, packet: &[u8]) -> (Content, Segment) {
    let wire = u32::try_from(packet.len()).unwrap() + PAYLOAD;
    let mut segment = Segment::default();
    (decode(link, packet, wire, &mut segment), segment)
}

/// Name, link layer, packet.
type Case = (&'static str, u16, Vec<u8>);

fn around_ipv4() -> Vec<Case> {
    let ip = ipv4(6, Stated::Length, &tcp());
    vec![
        ("Ethernet", ETHERNET, plain()),
        ("802.2 SNAP", ETHERNET, frame(&[0, 0x50, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &ip)),
        ("old QinQ", ETHERNET, frame(&[0x91, 0, 0, 9, 0x81, 0, 0, 8, 8, 0], &ip)),
        ("MPLS, a wire", ETHERNET, frame(&[0x88, 0x47, 0, 2, 1, 64, 0, 0, 0, 0], &plain())),
        ("PPP", 9, [&[0xff, 3, 0, 0x21], &*ip].concat()),
        ("BSD raw", 12, ip.clone()),
        ("OpenBSD raw", 14, ip.clone()),
        ("OpenBSD loop", 108, [&[0, 0, 0, 2], &*ip].concat()),
        ("IPv4 only", 228, ip.clone()),
        ("BIG TCP", ETHERNET, frame(&[8, 0], &ipv4(6, Stated::Nothing, &tcp()))),
        ("GRE, all fields", ETHERNET, over_ipv4(47, &[0xb0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1], &ip)),
        ("GRE, Ethernet", ETHERNET, over_ipv4(47, &[0, 0, 0x65, 0x58], &plain())),
        ("ERSPAN III", ETHERNET, {
            let header = [0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            over_ipv4(47, &header, &plain())
        }),
        ("ERSPAN III with more", ETHERNET, {
            let header =
                [&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1][..], &[0; 8]].concat();
            over_ipv4(47, &header, &plain())
        }),
        ("old VXLAN", ETHERNET, over_ipv4(17, &udp(8_472, &[8, 0, 0, 0, 0, 0, 42, 0], &[]), &plain())),
        ("VXLAN over IPv6", ETHERNET, {
            let inner = udp(4_789, &[8, 0, 0, 0, 0, 0, 42, 0], &plain());
            frame(&[0x86, 0xdd], &ipv6(17, Stated::Length, &inner))
        }),
        ("Geneve, IP", ETHERNET, over_ipv4(17, &udp(6_081, &[0, 0, 8, 0, 0, 0, 42, 0], &[]), &ip)),
        ("GTP-U with an extension", ETHERNET, {
            let header = [0x34, 255, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0x85, 1, 0, 0, 0];
            over_ipv4(17, &udp(2_152, &header, &[]), &ip)
        }),
        ("VLAN in VXLAN in MPLS", ETHERNET, {
            let inner = frame(&[0x81, 0, 0, 5, 8, 0], &ip);
            let outer = ipv4(17, Stated::Length, &udp(4_789, &[8, 0, 0, 0, 0, 0, 42, 0], &inner));
            frame(&[0x88, 0x47, 0, 2, 1, 64], &outer)
        }),
    ]
}

fn around_ipv6() -> Vec<Case> {
    let ip = ipv6(6, Stated::Length, &tcp());
    let jumbo = ipv6(0, Stated::Nothing, &[&[6, 0, 0xc2, 4, 0, 2, 0, 0], &*tcp()].concat());
    vec![
        ("IPv6", ETHERNET, frame(&[0x86, 0xdd], &ip)),
        ("raw IPv6", 101, ip.clone()),
        ("IPv6 only", 229, ip.clone()),
        ("null of BSD", 0, [&[30, 0, 0, 0], &*ip].concat()),
        ("6in4", ETHERNET, over_ipv4(41, &[], &ip)),
        ("jumbogram", ETHERNET, frame(&[0x86, 0xdd], &jumbo)),
        ("hop-by-hop", ETHERNET, extended(0, &[6, 0, 1, 4, 0, 0, 0, 0])),
        ("routing", ETHERNET, extended(43, &[&[6, 2, 4, 0][..], &[0; 20]].concat())),
        ("destination", ETHERNET, extended(60, &[6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
        ("authentication", ETHERNET, extended(51, &[&[6, 4][..], &[0; 22]].concat())),
        ("two of them", ETHERNET, extended(0, &[60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0])),
        ("atomic fragment", ETHERNET, extended(44, &[6, 0, 0, 0, 0, 0, 0, 7])),
        ("first fragment", ETHERNET, extended(44, &[6, 0, 0, 1, 0, 0, 0, 7])),
    ]
}

#[test]
fn each_layer_shows_the_segment_in_it() {
    for (name, link, packet) in around_ipv4().into_iter().chain(around_ipv6()) {
        let (content, segment) = read(link, &packet);
        assert_eq!(content, Content::Tcp, "{name}");
        let ports = (segment.endpoints.source_port, segment.endpoints.destination_port);
        assert_eq!((ports, segment.seq, segment.payload), ((40_000, 5_201), 1_000, PAYLOAD), "{name}");
        assert_eq!(segment.options.timestamps, Some((5, 6)), "{name}");
    }
}

#[test]
fn both_directions_of_a_tunnel_are_one_connection_and_two_tunnels_are_two() {
    let outer = |network: u8| {
        let packet = over_ipv4(17, &udp(4_789, &[8, 0, 0, 0, 0, 0, network, 0], &[]), &plain());
        read(ETHERNET, &packet).1.endpoints.outer
    };
    assert_eq!(outer(1), outer(1));
    assert_ne!(outer(1), outer(2));
    // The same tunnel with its ends exchanged.
    let mut back = over_ipv4(17, &udp(4_789, &[8, 0, 0, 0, 0, 0, 1, 0], &[]), &plain());
    back[26..34].rotate_left(4);
    assert_eq!(read(ETHERNET, &back).1.endpoints.outer, outer(1));
}

#[test]
fn later_fragments_and_strangers_are_told_apart() {
    let later = extended(44, &[6, 0, 0, 0x51, 0, 0, 0, 7]);
    let part = |at, bytes, has_more| Content::Fragment(LaterFragment { id: 7, at, bytes, has_more });
    // What was stored of a later part is not looked at: the headers of TCP count as any bytes.
    assert_eq!(read(ETHERNET, &later).0, part(0x50, 1_032, true));
    let mut later = plain();
    later[20] = 0x20;
    later[21] = 9;
    assert_eq!(read(ETHERNET, &later).0, part(72, 1_032, true));
    let mut of_datagram = over_ipv4(17, &udp(53, &[], &[]), &[]);
    of_datagram[21] = 9;
    assert_eq!(read(ETHERNET, &of_datagram).0, Content::Other);
    assert_eq!(read(147, &plain()).0, Content::UnknownLink);
    assert_eq!(read(ETHERNET, &over_ipv4(17, &udp(53, &[], &[]), &[])).0, Content::Other);
    assert_eq!(read(ETHERNET, &frame(&[8, 6], &[0; 28])).0, Content::Other);
}

/// At every length of every packet: cut short, or what is there; never another connection's.
#[test]
fn a_packet_that_is_cut_anywhere_is_called_so() {
    for (name, link, packet) in around_ipv4().into_iter().chain(around_ipv6()) {
        let whole = read(link, &packet).1;
        for length in 0..packet.len() {
            let (content, segment) = read(link, &packet[..length]);
            match content {
                Content::Tcp => assert!(
                    segment.options.is_cut && segment.endpoints == whole.endpoints,
                    "{name}, {length} bytes: {segment:?}"
                ),
                Content::CutShort => {}
                other => panic!("{name}, {length} bytes: {other:?}"),
            }
        }
    }
}
