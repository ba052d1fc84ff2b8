use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

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

/// Waits until it is so: frames lie in the backlog of a processor before the kernel looks at them.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::yield_now();
    }
}

/// Two devices, `west` and `east`, between which frames go. A device that has just come up loses what it is given, in silence,
/// until the kernel has noticed its carrier.
fn wire() {
    shell("ip link add west type veth peer name east; ip link set west up; ip link set east up");
    let mut counter = FrameCounter::open(index("east"), &Wanted::default()).unwrap();
    let west = sender("west");
    until("the wire does not carry", || {
        west.send(&frame(Some(1), 0x88b6)).unwrap();
        counter.take().unwrap().frames.contains_key(&kind(Some(1), 0x88b6))
    });
}

/// What is counted until so many frames have come.
fn come(counter: &mut FrameCounter, frames: u64) -> FrameCounts {
    let mut all = FrameCounts::default();
    until("frames do not come", || {
        let more = counter.take().unwrap();
        for (kind, count) in more.frames {
            *all.frames.entry(kind).or_default() += count;
        }
        all.missed += more.missed;
        all.frames.values().sum::<u64>() + all.missed >= frames
    });
    all
}

#[test]
fn frames_are_told_apart_by_vlan_and_protocol_and_exceptions_are_passed_over() {
    in_sandbox(module_path!(), "frames_are_told_apart_by_vlan_and_protocol_and_exceptions_are_passed_over", || {
        wire();
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
        let counted = come(&mut counter, 4);
        let expected = [(kind(Some(96), 0x86dd), 2), (kind(Some(96), 0x0800), 1), (kind(None, 0x88b5), 1)];
        assert_eq!((counted.frames, counted.missed), (BTreeMap::from(expected), 0));
        assert_eq!(counter.take().unwrap(), FrameCounts::default(), "each is counted once");
    });
}

#[test]
fn listener_hides_untagged_frames_from_the_count_of_drops_and_no_tagged_ones() {
    in_sandbox(module_path!(), "listener_hides_untagged_frames_from_the_count_of_drops_and_no_tagged_ones", || {
        wire();
        let dropped = || {
            let devices = crate::facts::link::read().unwrap();
            devices.iter().find(|known| known.name == "east").unwrap().counters["rx_dropped"]
        };
        let west = sender("west");
        let send = |vlan| {
            for _ in 0..5 {
                west.send(&frame(vlan, 0x88b5)).unwrap();
            }
        };
        let before = dropped();
        send(None);
        until("nobody listens to untagged ones", || dropped() - before == 5);
        send(Some(96));
        until("nobody listens to tagged ones", || dropped() - before == 10);
        let mut listener = FrameCounter::open(index("east"), &Wanted::default()).unwrap();
        send(None);
        send(Some(96));
        come(&mut listener, 10);
        until("tagged ones are dropped all the same", || dropped() - before >= 15);
        assert_eq!(dropped() - before, 15, "untagged ones are not");
    });
}

#[test]
fn frames_that_come_too_fast_are_told() {
    in_sandbox(module_path!(), "frames_that_come_too_fast_are_told", || {
        wire();
        // Without those by which the kernel looks for its neighbours.
        let wanted = Wanted { except_untagged: vec![0x86dd], ..Wanted::default() };
        let mut counter = FrameCounter::open(index("east"), &wanted).unwrap();
        let west = sender("west");
        let sent = 20_000;
        for _ in 0..sent {
            west.send(&frame(Some(96), 0x86dd)).unwrap();
        }
        let counted = come(&mut counter, sent);
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
