use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::sandbox::in_sandbox;

/// Moves bytes over the loopback device of the sandbox, and returns the port of the listener.
fn moved(listener: &TcpListener, bytes: usize) {
    let address = listener.local_addr().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut all = Vec::new();
            listener.accept().unwrap().0.read_to_end(&mut all).unwrap();
            assert_eq!(all.len(), bytes);
        });
        TcpStream::connect(address).unwrap().write_all(&vec![7; bytes]).unwrap();
    });
}

/// Segments that the kernel of the sandbox has retransmitted since it was made.
fn retransmitted() -> u32 {
    let snmp = std::fs::read_to_string("/proc/net/snmp").unwrap();
    let mut tcp = snmp.lines().filter_map(|line| line.strip_prefix("Tcp: ")).map(str::split_whitespace);
    let (names, values) = (tcp.next().unwrap(), tcp.next().unwrap());
    names.zip(values).find(|(name, _)| *name == "RetransSegs").unwrap().1.parse().unwrap()
}

const LARGEST_PACKET: u32 = 65_535;

#[test]
fn each_packet_of_a_port_comes_once_and_cut() {
    in_sandbox(module_path!(), "each_packet_of_a_port_comes_once_and_cut", || {
        assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap().success());
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let (wanted, other) = (TcpListener::bind(address).unwrap(), TcpListener::bind(address).unwrap());
            let port = wanted.local_addr().unwrap().port();
            let mut ring = PacketRing::open(port).unwrap();
            moved(&other, 10_000);
            moved(&wanted, 300_000);
            let (mut packets, mut payload, mut syns) = (0, 0, 0);
            let deadline = Instant::now() + Duration::from_secs(60);
            // The last of both FINs: a block is handed over some time after it was begun.
            let mut fins = 0;
            while fins < 2 {
                assert!(Instant::now() < deadline, "{packets} packets");
                ring.drain(|packet| {
                    let ip_bytes: u8 = if packet.bytes[0] >> 4 == 4 { 20 } else { 40 };
                    let tcp = &packet.bytes[usize::from(ip_bytes)..];
                    let ports = [&tcp[..2], &tcp[2..4]].map(|two| u16::from_be_bytes(two.try_into().unwrap()));
                    assert!(ports.contains(&port) && packet.bytes.len() <= SNAP_BYTES as usize);
                    packets += 1;
                    payload += packet.wire_bytes - u32::from(ip_bytes) - u32::from(tcp[12] >> 4) * 4;
                    syns += u32::from(tcp[13] & 2 != 0);
                    fins += u32::from(tcp[13] & 1);
                });
                thread::yield_now();
            }
            // Beside others a kernel may wait so long for its own acknowledgment that it retransmits.
            let again = retransmitted() * LARGEST_PACKET;
            assert!((300_000..=300_000 + again).contains(&payload), "{payload} bytes in {packets} packets");
            assert_eq!((syns, ring.missed().unwrap()), (2, 0), "{packets} packets");
        }
    });
}
