//! Claims about TAP devices, in namespaces of their own.

use std::net::UdpSocket;

use super::*;
use crate::netns::in_fresh_netns;
use crate::sandbox::in_sandbox;

#[test]
fn device_is_there_as_long_as_its_file() {
    in_sandbox(module_path!(), "device_is_there_as_long_as_its_file", || {
        let tap = Tap::open("wire0").unwrap();
        let known = || crate::links::dump().unwrap().into_iter().any(|link| link.name == "wire0");
        assert!(known());
        assert!(matches!(Tap::open("wire0"), Err(TapError::Exists { .. })));
        assert_eq!(tap.unread().unwrap(), 0);
        drop(tap);
        assert!(!known());
    });
}

#[test]
fn device_belongs_to_the_namespace_of_the_thread_and_works_from_outside() {
    in_sandbox(module_path!(), "device_belongs_to_the_namespace_of_the_thread_and_works_from_outside", || {
        let tap = in_fresh_netns(|| Tap::open("wire0").unwrap()).unwrap();
        assert!(!crate::links::dump().unwrap().into_iter().any(|link| link.name == "wire0"));
        // The device is down, and so is what comes from its cable.
        let refused = tap.write(&[IoSlice::new(&[0; FrameHeader::LEN + 60])]).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EIO));
        assert_eq!(tap.read(&mut [0; LONGEST]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    });
}

#[test]
fn frames_that_nobody_reads_are_counted() {
    in_sandbox(module_path!(), "frames_that_nobody_reads_are_counted", || {
        let tap = Tap::open("wire0").unwrap();
        let ip =
            |arguments: &[&str]| assert!(std::process::Command::new("ip").args(arguments).status().unwrap().success());
        // What the kernel says by itself on a device that comes up, and at what time, is IPv6's.
        let speaks = std::path::Path::new("/proc/sys/net/ipv6/conf/wire0/disable_ipv6");
        if speaks.exists() {
            std::fs::write(speaks, "1").unwrap();
        }
        ip(&["addr", "add", "10.0.0.1/24", "dev", "wire0"]);
        ip(&["link", "set", "wire0", "up"]);
        ip(&["neigh", "add", "10.0.0.2", "lladdr", "02:00:00:00:00:02", "dev", "wire0"]);
        let socket = UdpSocket::bind("10.0.0.1:0").unwrap();
        let queue = u64::from(QUEUE_FRAMES);
        for _ in 0..queue + 100 {
            socket.send_to(&[0; 100], "10.0.0.2:9").unwrap();
        }
        let mut frames = 0;
        while tap.read(&mut [0; LONGEST]).is_ok() {
            frames += 1;
        }
        assert_eq!((frames, tap.unread().unwrap()), (queue, 100));
    });
}

#[test]
fn name_that_no_device_can_have_is_refused() {
    for name in ["", ".", "..", "a/b", "a b", "a:b", "tap%d", "sixteen-letters-"] {
        assert!(matches!(Tap::open(name), Err(TapError::BadName { .. })), "{name:?}");
    }
}

#[test]
fn header_is_written_as_it_is_read() {
    let checksum = Some(ChecksumPlace { start: 34, offset: 16 });
    for kind in [SegmentationKind::Tcp4, SegmentationKind::Tcp6, SegmentationKind::Udp, SegmentationKind::Foreign(3)] {
        let segmentation = Some(Segmentation { kind, size: 1_448, header_len: 66, ecn: true });
        let header = FrameHeader { checksum, segmentation };
        assert_eq!(FrameHeader::parse(&header.emit()), Some(header));
    }
    assert_eq!(FrameHeader::parse(&FrameHeader::default().emit()), Some(FrameHeader::default()));
    assert_eq!(FrameHeader::parse(&[0; 9]), None);
}
