//! Claims about ICMP sockets, on this kernel's loopback.

use std::fs;

use rustix::event::{PollFd, PollFlags, poll};

use super::*;
use crate::netns::in_fresh_netns;
use crate::sandbox::in_sandbox;

fn lo(family: Family) -> SocketAddr {
    match family {
        Family::V4 => "127.0.0.1:0".parse().unwrap(),
        Family::V6 => "[::1]:0".parse().unwrap(),
    }
}

fn echo_request(family: Family, sequence: u8) -> [u8; 9] {
    let kind = if family == Family::V4 { 8 } else { 128 };
    let mut message = [kind, 0, 0, 0, 0x12, 0x34, 0, sequence, 77];
    // The complement of the sum of the 16-bit words (RFC 1071); in IPv6 the kernel writes its own.
    let sum: u32 = message.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum();
    let folded = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
    message[2..4].copy_from_slice(&(!folded).to_be_bytes());
    message
}

/// Waits until something is there to be taken.
fn wait(socket: &IcmpSocket) {
    poll(&mut [PollFd::new(socket, PollFlags::IN)], None).unwrap();
}

#[test]
fn echoes_of_both_families_come_back_with_hop_limit_and_time_over_either_kind_of_socket() {
    in_sandbox(
        module_path!(),
        "echoes_of_both_families_come_back_with_hop_limit_and_time_over_either_kind_of_socket",
        || {
            in_fresh_netns(|| {
                fs::write("/proc/sys/net/ipv4/ping_group_range", "0 0").unwrap();
                for family in [Family::V4, Family::V6] {
                    for access in [Access::Ping, Access::Raw] {
                        let mut socket = IcmpSocket::open_as(family, access).unwrap();
                        socket.connect(lo(family)).unwrap();
                        let before = crate::clock::wall_now();
                        socket.send(&echo_request(family, 3)).unwrap();
                        wait(&socket);
                        let answer = socket.receive().unwrap().unwrap();
                        assert!(answer.bytes.ends_with(&[0, 3, 77]), "{family:?} {access:?} {:?}", answer.bytes);
                        assert_eq!(answer.source, Some(lo(family).ip()));
                        assert_eq!(answer.hop_limit, Some(64), "{family:?} {access:?}");
                        assert!(answer.received_at.unwrap() >= before);
                        assert!(socket.receive().unwrap().is_none(), "{family:?} {access:?} hears its own question");
                    }
                }
            })
            .unwrap();
        },
    );
}

#[test]
fn what_is_larger_than_the_interface_takes_is_told_with_its_size() {
    in_sandbox(module_path!(), "what_is_larger_than_the_interface_takes_is_told_with_its_size", || {
        let mut command = std::process::Command::new("ip");
        assert!(command.args(["link", "set", "lo", "mtu", "1400"]).status().unwrap().success());
        for family in [Family::V4, Family::V6] {
            let mut socket = IcmpSocket::open(family).unwrap();
            crate::sockets::set_path_mtu_discovery(&socket, crate::sockets::PathMtuDiscovery::Probe).unwrap();
            socket.connect(lo(family)).unwrap();
            let error = socket.send(&[8; 9000]).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EMSGSIZE));
            let told = socket.receive_error().unwrap().unwrap();
            assert_eq!((told.origin, told.info), (Origin::Local, 1400), "{family:?}");
            assert!(socket.receive_error().unwrap().is_none());
        }
    });
}

#[test]
fn without_privilege_and_permission_both_refusals_are_told() {
    // A fresh namespace starts with a range that names no group: "1 0" (net/ipv4/af_inet.c of 6.18, inet_init_net).
    in_sandbox(module_path!(), "without_privilege_and_permission_both_refusals_are_told", || {
        drop_capabilities();
        let error = IcmpSocket::open(Family::V4).err().unwrap();
        assert_eq!(error.ping.raw_os_error(), Some(libc::EACCES));
        assert_eq!(error.raw.raw_os_error(), Some(libc::EPERM));
    });
}

/// Gives up all capabilities of the calling thread.
fn drop_capabilities() {
    let none = rustix::thread::CapabilitySet::empty();
    let sets = rustix::thread::CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).unwrap();
}
