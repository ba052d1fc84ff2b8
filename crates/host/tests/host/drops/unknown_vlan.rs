//! Frames of a VLAN that the host does not know, as a switch sends them to a trunk port.

use std::io::IoSlice;
use std::time::Duration;

use host::drops::explain::{Verdict, suspects};
use host::drops::series::Series;
use host::drops::watch::{FrameWatch, Request, watch};
use linux::tap::{FrameHeader, Tap};

use crate::sandbox::{Mounts, in_sandbox, shell};

/// A frame to all, with a tag where it has a VLAN.
fn frame(vlan: Option<u16>, ethertype: u16) -> Vec<u8> {
    let mut frame = vec![0; FrameHeader::LEN];
    frame.extend([0xff; 6]);
    frame.extend([2, 0, 0, 0, 0, 1]);
    if let Some(vlan) = vlan {
        frame.extend([0x81, 0]);
        frame.extend(vlan.to_be_bytes());
    }
    frame.extend(ethertype.to_be_bytes());
    frame.resize(FrameHeader::LEN + 60, 0);
    frame
}

/// How many frames come in each interval: VLAN 96 at a rate of its own, VLAN 12 as handled traffic does.
fn sent(interval: u64) -> (u64, u64) {
    (interval * 7 % 11, 3 + interval * 5 % 4)
}

#[test]
fn vlan_that_nobody_knows_is_named_and_others_are_not() {
    in_sandbox(module_path!(), "vlan_that_nobody_knows_is_named_and_others_are_not", Mounts::Shared, || {
        let tap = Tap::open("trunk").unwrap();
        shell("ip link set trunk up");
        let send = |vlan: Option<u16>, ethertype: u16, count: u64| {
            let frame = frame(vlan, ethertype);
            (0..count).for_each(|_| tap.write(&[IoSlice::new(&frame)]).unwrap());
        };
        let request = Request {
            namespaces: Vec::new(),
            interval: Duration::from_millis(1),
            intervals: Some(40),
            frames: FrameWatch::On,
        };
        let mut intervals = Vec::new();
        watch(
            &request,
            || false,
            |interval| {
                intervals.push(interval);
                let (unknown, handled) = sent(u64::try_from(intervals.len()).unwrap());
                // Nobody handles 0x88b5, so it is dropped as IPv6 is with ipv6.disable=1. IPv4 for others is not counted.
                send(Some(96), 0x88b5, unknown);
                send(Some(12), 0x0800, handled);
                send(None, 0x88cc, 2);
            },
        )
        .unwrap();
        let series = Series::of(intervals).remove(0);
        let suspects = suspects(&series);
        let first = &suspects[0];
        assert_eq!((first.vlan, first.ethertype, first.verdict), (Some(96), Some(0x88b5), Verdict::Explains));
        assert_eq!(first.frames, first.drops, "each of them was dropped, and nothing else");
        let of = |vlan: Option<u16>, ethertype: u16| {
            suspects.iter().find(|each| each.vlan == vlan && each.ethertype == Some(ethertype)).unwrap().verdict
        };
        assert_eq!((of(Some(12), 0x0800), of(None, 0x88cc)), (Verdict::Unrelated, Verdict::Hidden));
    });
}

#[test]
fn steady_rate_is_named_by_its_equal_counts() {
    in_sandbox(module_path!(), "steady_rate_is_named_by_its_equal_counts", Mounts::Shared, || {
        let tap = Tap::open("trunk").unwrap();
        shell("ip link set trunk up");
        let request = Request {
            namespaces: Vec::new(),
            interval: Duration::from_millis(1),
            intervals: Some(20),
            frames: FrameWatch::On,
        };
        let mut intervals = Vec::new();
        let frame = frame(Some(96), 0x88b5);
        watch(
            &request,
            || false,
            |interval| {
                intervals.push(interval);
                (0..3).for_each(|_| tap.write(&[IoSlice::new(&frame)]).unwrap());
            },
        )
        .unwrap();
        let suspects = suspects(&Series::of(intervals).remove(0));
        assert_eq!((suspects[0].vlan, suspects[0].verdict), (Some(96), Verdict::Explains), "{suspects:#?}");
    });
}

#[test]
fn two_vlans_that_nobody_knows_are_both_named() {
    in_sandbox(module_path!(), "two_vlans_that_nobody_knows_are_both_named", Mounts::Shared, || {
        let tap = Tap::open("trunk").unwrap();
        shell("ip link set trunk up");
        let send = |vlan: u16, ethertype: u16, count: u64| {
            let frame = frame(Some(vlan), ethertype);
            (0..count).for_each(|_| tap.write(&[IoSlice::new(&frame)]).unwrap());
        };
        let request = Request {
            namespaces: Vec::new(),
            interval: Duration::from_millis(1),
            intervals: Some(40),
            frames: FrameWatch::On,
        };
        let mut intervals = Vec::new();
        watch(
            &request,
            || false,
            |interval| {
                intervals.push(interval);
                let number = u64::try_from(intervals.len()).unwrap();
                let (unknown, handled) = sent(number);
                send(96, 0x88b5, unknown);
                send(97, 0x88b5, 1 + number * number % 13);
                send(12, 0x0800, handled);
            },
        )
        .unwrap();
        let suspects = suspects(&Series::of(intervals).remove(0));
        let verdict = |vlan: u16| suspects.iter().find(|each| each.vlan == Some(vlan)).unwrap().verdict;
        assert_eq!(
            [96, 97, 12].map(verdict),
            [Verdict::Explains, Verdict::Explains, Verdict::Unrelated],
            "{suspects:#?}"
        );
    });
}
