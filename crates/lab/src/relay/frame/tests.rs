//! Claims about frames, whatever their bytes are.

use linux::tap::FrameHeader;
use path::{Ecn, FrameId, Train};
use proptest::prelude::*;
use units::{MonoTime, Mtu};

use super::checksum::{Sum, pseudo_header};
use super::layout::{Layout, Version, be16};
use super::{Frame, edit, samples, too_big};

fn train(bytes: &[u8]) -> Train {
    Frame::read(bytes).unwrap().train(&bytes[FrameHeader::LEN..], FrameId(0), MonoTime::from_nanos(0))
}

/// The packets of a train as a receiver sees them: each by itself, with its sums made.
fn packets(bytes: &[u8], train: Train) -> Vec<Vec<u8>> {
    let frame = Frame::read(bytes).unwrap();
    let body = &bytes[FrameHeader::LEN..];
    let single = |packet: Train| {
        let cut = frame.cut(body, &packet);
        let mut whole = Vec::new();
        cut.assemble(body, &mut whole);
        edit::finish(&mut whole, &cut.header);
        assert_eq!(FrameHeader::parse(&whole), Some(FrameHeader::default()));
        whole.split_off(FrameHeader::LEN)
    };
    train.packets().map(single).collect()
}

fn payload(packet: &[u8]) -> &[u8] {
    let layout = Layout::read(packet);
    &packet[layout.transport.unwrap().payload..layout.ip.unwrap().end]
}

/// Whether the sums of a packet are right.
fn is_sound(packet: &[u8]) -> bool {
    let layout = Layout::read(packet);
    let ip = layout.ip.unwrap();
    let header = ip.version == Version::V6 || Sum::default().of(&packet[ip.start..ip.payload]).folded() == 0xffff;
    let sum = pseudo_header(packet, &ip, ip.end - ip.payload).of(&packet[ip.payload..ip.end]);
    header && (sum.folded() == 0xffff || layout.transport.is_none())
}

fn flags(packet: &[u8]) -> u8 {
    packet[Layout::read(packet).transport.unwrap().start + 13]
}

#[test]
fn packets_of_a_frame_have_right_headers_and_together_its_payload() {
    for bytes in [samples::tcp4(3_000, 1_448), samples::tcp6(3_000, 1_428), samples::udp4(1_300, 400)] {
        let train = train(&bytes);
        let packets = packets(&bytes, train);
        assert!(packets.iter().all(|packet| is_sound(packet)));
        let sizes: Vec<u64> = packets.iter().map(|packet| packet.len() as u64).collect();
        assert_eq!(sizes, train.packets().map(|packet| packet.bytes().get()).collect::<Vec<_>>());
        let together: Vec<u8> = packets.iter().flat_map(|packet| payload(packet).to_vec()).collect();
        assert_eq!(together, payload(&bytes[FrameHeader::LEN..]));
    }
}

#[test]
fn what_ends_a_stream_is_in_the_last_packet_and_cwr_in_the_first() {
    let bytes = samples::tcp4(3_000, 1_448);
    let packets = packets(&bytes, train(&bytes));
    assert_eq!(packets.iter().map(|packet| flags(packet)).collect::<Vec<_>>(), [0x90, 0x10, 0x18]);
    let sequence = |packet: &Vec<u8>| u32::from_be_bytes(packet[38..42].try_into().unwrap());
    let expected = [0, 1, 2].map(|number: u32| 0xffff_fc00_u32.wrapping_add(number * 1_448));
    assert_eq!(packets.iter().map(sequence).collect::<Vec<_>>(), expected);
    // The number of the IP packet wraps too.
    assert_eq!(packets.iter().map(|packet| be16(packet, 18).unwrap()).collect::<Vec<_>>(), [0xfffe, 0xffff, 0]);
}

#[test]
fn part_of_a_frame_is_cut_further_as_the_frame_was() {
    let bytes = samples::tcp4(10_000, 1_448);
    let whole = train(&bytes);
    let (_, rest) = whole.split_front(2);
    let (middle, _) = rest.unwrap().split_front(3);
    let frame = Frame::read(&bytes).unwrap();
    let cut = frame.cut(&bytes[FrameHeader::LEN..], &middle.unwrap());
    let mut part = Vec::new();
    cut.assemble(&bytes[FrameHeader::LEN..], &mut part);
    assert_eq!(packets(&part, train(&part)), packets(&bytes, whole)[2..5]);
    assert!(!Frame::read(&part).unwrap().header.segmentation.unwrap().ecn, "CWR is in the first packet only");
}

#[test]
fn marks_and_options_are_changed_under_right_sums() {
    for bytes in [samples::syn4(), samples::tcp6(10, 0)] {
        let mut packet = packets(&bytes, train(&bytes)).remove(0);
        let layout = Layout::read(&packet);
        edit::set_ecn(&mut packet, &layout.ip.unwrap(), Ecn::Marked);
        edit::strip_window_scale(&mut packet, &layout, &FrameHeader::default());
        assert!(is_sound(&packet));
        let again = [&FrameHeader::default().emit()[..], &packet].concat();
        assert_eq!(train(&again).ecn, Ecn::Marked);
    }
    let bytes = samples::syn4();
    let mut packet = packets(&bytes, train(&bytes)).remove(0);
    let layout = Layout::read(&packet);
    edit::strip_window_scale(&mut packet, &layout, &FrameHeader::default());
    assert_eq!(packet[packet.len() - 4..], [1, 1, 1, 1]);
}

#[test]
fn wrong_bit_is_one_and_makes_the_sum_wrong() {
    for bytes in [samples::tcp4(100, 0), samples::tcp4(0, 0), samples::udp4(1, 0)] {
        let right = packets(&bytes, train(&bytes)).remove(0);
        for chance in 0..100 {
            let mut wrong = right.clone();
            edit::corrupt(&mut wrong, &Layout::read(&right), chance * 77);
            let differing: u32 = right.iter().zip(&wrong).map(|(one, other)| (one ^ other).count_ones()).sum();
            assert_eq!((differing, is_sound(&wrong)), (1, false));
        }
    }
}

#[test]
fn answer_quotes_what_was_too_big_and_goes_to_its_sender() {
    let reporters = ["10.0.0.9".parse().unwrap(), "fd00::9".parse().unwrap()];
    let mtu = Mtu::new(1_400).unwrap();
    for (bytes, header, icmp, most) in [(samples::tcp4(1_448, 0), 20, 3, 576), (samples::tcp6(1_428, 0), 40, 2, 1_280)]
    {
        let packet = &bytes[FrameHeader::LEN..];
        let layout = Layout::read(packet);
        let answer = too_big::answer(packet, &layout, mtu, &reporters).unwrap().split_off(FrameHeader::LEN);
        let read = Layout::read(&answer).ip.unwrap();
        assert_eq!((&answer[..6], &answer[6..12]), (&packet[6..12], &packet[..6]));
        assert_eq!(answer.len() - 14, most);
        assert_eq!((answer[read.payload], be16(&answer, read.payload + 6)), (icmp, Some(1_400)));
        assert_eq!(answer[read.payload + 8..], packet[14..14 + most - header - 8]);
        let addresses = read.addresses(&answer);
        assert_eq!(addresses[addresses.len() / 2..], layout.ip.unwrap().addresses(packet)[..addresses.len() / 2]);
        let pseudo =
            if header == 20 { Sum::default() } else { pseudo_header(&answer, &read, answer.len() - read.payload) };
        assert_eq!(pseudo.of(&answer[read.payload..]).checksum(), 0);
        // Nobody answers an error, and nobody speaks for a family of which it has no address.
        assert_eq!(too_big::answer(&answer, &Layout::read(&answer), mtu, &reporters), None);
        assert_eq!(too_big::answer(packet, &layout, mtu, &reporters[..1]).is_some(), header == 20);
    }
}

#[test]
fn answers_are_given_at_a_rate() {
    let at = |millis: u64| MonoTime::from_nanos(millis * 1_000_000);
    let mut allowance = too_big::Allowance::new(at(0));
    let given = |allowance: &mut too_big::Allowance, now| (0..200).filter(|_| allowance.take(now)).count();
    assert_eq!(given(&mut allowance, at(0)), 50);
    assert_eq!(given(&mut allowance, at(3)), 3);
    assert_eq!(given(&mut allowance, at(1_000)), 50);
}

/// Frames that are nearly right, which find more than bytes of chance do.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let whole = prop_oneof![
        (0..4_000_usize, 0..1_500_u16).prop_map(|(len, mss)| samples::tcp4(len, mss)),
        (0..4_000_usize, 0..1_500_u16).prop_map(|(len, mss)| samples::tcp6(len, mss)),
        (0..4_000_usize, 0..1_500_u16).prop_map(|(len, size)| samples::udp4(len, size)),
        (0..2_000_usize).prop_map(|len| samples::vxlan(&samples::tcp4(len, 0))),
        Just(samples::syn4()),
        prop::collection::vec(any::<u8>(), 0..200),
    ];
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    (whole, damage, any::<prop::sample::Index>()).prop_map(|(mut bytes, damage, cut)| {
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len().min(120));
                bytes[at] = byte;
            }
        }
        if cut.index(4) == 0 {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        bytes
    })
}

proptest! {
    #[test]
    fn frames_of_any_bytes_are_read_cut_and_changed(bytes in damaged(), first in any::<u32>(), count in any::<u32>()) {
        super::claims(&bytes, first, count);
    }
}
