use std::collections::BTreeMap;
use std::process::Command;

use super::*;
use crate::sandbox::in_sandbox;

fn shell(line: &str) {
    assert!(Command::new("sh").args(["-c", line]).status().unwrap().success(), "{line}");
}

fn index(device: &str) -> u32 {
    let devices = crate::facts::link::read().unwrap();
    devices.iter().find(|known| known.name == device).unwrap().link.index
}

/// Sends frames as they are.
fn sender(device: &str) -> Socket {
    let socket = Socket::new(Domain::PACKET, Type::RAW, None).unwrap();
    socket.bind(&address(index(device)).unwrap()).unwrap();
    socket
}

fn frame(vlan: Option<u16>, protocol: u16) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 1]);
    if let Some(vlan) = vlan {
        frame.extend([0x81, 0]);
        frame.extend(vlan.to_be_bytes());
    }
    frame.extend(protocol.to_be_bytes());
    frame.resize(60, 0);
    frame
}

fn kind(vlan: Option<u16>, protocol: u16) -> FrameKind {
    FrameKind { vlan, protocol }
}

#[test]
fn frames_are_told_apart_by_vlan_and_protocol_and_exceptions_are_passed_over() {
    in_sandbox(module_path!(), "frames_are_told_apart_by_vlan_and_protocol_and_exceptions_are_passed_over", || {
        shell("ip link add west type veth peer name east; ip link set west up; ip link set east up");
        let wanted = Wanted { except_vlans: vec![7], except_untagged: vec![0x0800, 0x86dd] };
        let mut counter = FrameCounter::open(index("east"), &wanted).unwrap();
        let west = sender("west");
        for (vlan, protocol) in [
            (Some(96), 0x86dd),
            (Some(96), 0x86dd),
            (Some(0x2060), 0x0800), // The priority is no part of the number.
            (Some(7), 0x86dd),
            (None, 0x0800),
            (None, 0x86dd),
            (None, 0x88b5),
        ] {
            west.send(&frame(vlan, protocol)).unwrap();
        }
        // What the device itself sends is not counted.
        sender("east").send(&frame(Some(96), 0x86dd)).unwrap();
        let counted = counter.take().unwrap();
        let expected = [(kind(Some(96), 0x86dd), 2), (kind(Some(96), 0x0800), 1), (kind(None, 0x88b5), 1)];
        assert_eq!((counted.frames, counted.missed), (BTreeMap::from(expected), 0));
        assert_eq!(counter.take().unwrap(), FrameCounts::default(), "each is counted once");
    });
}

#[test]
fn listener_hides_untagged_frames_from_the_count_of_drops_and_no_tagged_ones() {
    in_sandbox(module_path!(), "listener_hides_untagged_frames_from_the_count_of_drops_and_no_tagged_ones", || {
        shell("ip link add west type veth peer name east; ip link set west up; ip link set east up");
        let dropped = || {
            let devices = crate::facts::link::read().unwrap();
            devices.iter().find(|known| known.name == "east").unwrap().counters["rx_dropped"]
        };
        let west = sender("west");
        let send = |vlan| {
            let before = dropped();
            for _ in 0..5 {
                west.send(&frame(vlan, 0x88b5)).unwrap();
            }
            dropped() - before
        };
        assert_eq!((send(None), send(Some(96))), (5, 5), "nobody listens");
        let _listener = FrameCounter::open(index("east"), &Wanted::default()).unwrap();
        assert_eq!((send(None), send(Some(96))), (0, 5), "somebody listens");
    });
}

#[test]
fn frames_that_come_too_fast_are_told() {
    in_sandbox(module_path!(), "frames_that_come_too_fast_are_told", || {
        shell("ip link add west type veth peer name east; ip link set west up; ip link set east up");
        // Without those by which the kernel looks for its neighbours.
        let wanted = Wanted { except_untagged: vec![0x86dd], ..Wanted::default() };
        let mut counter = FrameCounter::open(index("east"), &wanted).unwrap();
        let west = sender("west");
        let sent = 20_000;
        for _ in 0..sent {
            west.send(&frame(Some(96), 0x86dd)).unwrap();
        }
        let counted = counter.take().unwrap();
        assert!(counted.missed > 0, "{counted:?}");
        assert_eq!(counted.frames[&kind(Some(96), 0x86dd)] + counted.missed, sent);
    });
}

#[test]
fn long_list_of_exceptions_is_a_program_that_the_kernel_takes() {
    in_sandbox(module_path!(), "long_list_of_exceptions_is_a_program_that_the_kernel_takes", || {
        let wanted = Wanted { except_vlans: (1..4095).collect(), except_untagged: (0..2000).collect() };
        FrameCounter::open(index("lo"), &wanted).unwrap();
    });
}
