//! Foreign senders of probes (RFC 8762) at the server's port.

use std::net::UdpSocket;

use crate::actors::linerate::Server;
use crate::actors::process::PATIENCE;

/// A test packet of a foreign sender: sequence 7, a time stamp, a synchronised clock's error estimate, then padding.
fn packet(length: usize) -> Vec<u8> {
    let mut packet = vec![0; length];
    packet[..4].copy_from_slice(&7_u32.to_be_bytes());
    packet[4..12].copy_from_slice(&0xe9ab_cdef_0123_4567_u64.to_be_bytes());
    packet[12..14].copy_from_slice(&[0x8a, 0x01]);
    packet
}

/// A socket that talks with the server.
fn sender(server: &Server) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", server.port)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

#[test]
fn a_foreign_sender_gets_its_packet_back_with_two_times() {
    let server = Server::start(&[]);
    let socket = sender(&server);
    for length in [44, 100, 1_400] {
        socket.send(&packet(length)).unwrap();
        let mut answer = [0; 2_000];
        let got = socket.recv(&mut answer).unwrap();
        assert!(got <= length, "{got} bytes for {length}");
        assert_eq!(answer[..4], [0, 0, 0, 7], "the sequence of a stateless reflector is the sender's");
        assert_eq!(answer[24..38], packet(44)[..14], "the sender's own part, from octet 24 (RFC 8762, figure 5)");
        let time = |at: usize| u64::from_be_bytes(answer[at..at + 8].try_into().unwrap());
        let (sent, received) = (time(4), time(16));
        assert!(received <= sent, "received at {received:x}, answered at {sent:x}");
        let now_s = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() + 2_208_988_800;
        assert!((sent >> 32).abs_diff(now_s & 0xffff_ffff) <= 60, "the time stamp is one of today");
        assert_ne!(answer[13], 0, "the multiplier of an error estimate is never zero");
    }
}

#[test]
fn what_is_no_probe_gets_no_answer() {
    let server = Server::start(&[]);
    let socket = sender(&server);
    for length in [0, 1, 3, 4, 5, 43] {
        socket.send(&vec![0x39; length]).unwrap();
    }
    socket.send(&packet(44)).unwrap();
    let mut answer = [0; 100];
    // Datagrams of one sender keep their order on loopback, so an answer to any of the others would be first.
    assert_eq!(socket.recv(&mut answer).unwrap(), 44);
    socket.set_nonblocking(true).unwrap();
    assert!(socket.recv(&mut answer).is_err());
}

#[test]
fn a_sender_outside_the_allowed_networks_gets_no_answer() {
    let server = Server::start(&["--allow", "127.0.0.2/32"]);
    let refused = sender(&server);
    refused.send(&packet(44)).unwrap();
    let allowed = UdpSocket::bind("127.0.0.2:0").unwrap();
    allowed.set_read_timeout(Some(PATIENCE)).unwrap();
    allowed.send_to(&packet(44), ("127.0.0.1", server.port)).unwrap();
    let mut answer = [0; 100];
    assert_eq!(allowed.recv(&mut answer).unwrap(), 44);
    refused.set_nonblocking(true).unwrap();
    assert!(refused.recv(&mut answer).is_err());
}
