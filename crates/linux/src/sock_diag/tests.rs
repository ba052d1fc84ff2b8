//! Claims about listed sockets, on bytes of a real kernel and on live sockets in a fresh namespace.
//!
//! `recorded_6_18.hex`: Linux 6.18.44 x86-64, a fresh network namespace with loopback only. A client at 127.0.0.1:40000
//! with `TCP_CONGESTION` bbr connects to 127.0.0.1:5201, sends 20 times 10,000 bytes that the server reads and then
//! 1,234 that it does not; the server sends 567 that the client does not read. Then `SOCK_DIAG_BY_FAMILY` for exactly
//! that socket, extensions info, vegasinfo, cong, skmeminfo, shutdown, without a cookie; the message behind its netlink
//! header.

use std::io::Write;
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};

use super::*;
use crate::sandbox::in_sandbox;
use crate::sockets;
use crate::sockets::Family;

fn recorded() -> Vec<u8> {
    crate::recorded::bytes(include_str!("recorded_6_18.hex"))
}

fn tcp_v4(states: StateSet) -> Selection {
    Selection { family: Family::V4, transport: Transport::Tcp, states }
}

#[test]
fn recorded_socket_reads_as_what_happened() {
    let record = SocketRecord::parse(&recorded()).unwrap();
    assert_eq!((record.local, record.remote), ("127.0.0.1:40000".parse().unwrap(), "127.0.0.1:5201".parse().unwrap()));
    assert_eq!((record.family, record.state()), (Family::V4, Some(TcpState::Established)));
    assert_eq!((record.receive_queue, record.send_queue, record.timer), (567, 0, 0));
    assert_eq!((record.uid, record.inode, record.cookie, record.interface), (0, 86_865, 11, 0));
    assert_eq!(record.congestion_control.as_deref(), Some("bbr"));
    let bbr = BbrInfo { bbr_bw: 0x3_cfc5_d230, bbr_min_rtt: 4, bbr_pacing_gain: 739, bbr_cwnd_gain: 739 };
    assert_eq!(record.bbr, Some(bbr));
    assert_eq!(record.shutdown, Some(0));
    let memory = record.memory.unwrap();
    assert_eq!((memory.rmem_alloc, memory.rcvbuf, memory.drops), (Some(1399), Some(131_072), Some(0)));
    let info = record.tcp_info.unwrap();
    assert_eq!(info.as_bytes().len(), 280);
    assert_eq!((info.tcpi_bytes_sent(), info.tcpi_bytes_received()), (Some(201_234), Some(567)));
}

#[test]
fn message_cut_anywhere_is_read_or_an_error_within_it() {
    let message = recorded();
    let mut whole = Vec::new();
    for length in 0..message.len() {
        match SocketRecord::parse(&message[..length]) {
            Ok(_) => whole.push(length),
            Err(NetlinkError::Malformed { offset, .. }) => assert!(offset <= length, "{offset} of {length}"),
            Err(other) => panic!("{other}"),
        }
    }
    // Cut between attributes, or within the padding of one, what is left is whole.
    assert_eq!(whole, [72, 77, 78, 79, 80, 88, 100, 106, 107, 108, 148, 432, 440]);
}

#[test]
fn unknown_attribute_is_passed_over() {
    let mut message = recorded();
    message.extend([8, 0, 0x77, 0, 1, 2, 3, 4]);
    assert_eq!(SocketRecord::parse(&message).unwrap(), SocketRecord::parse(&recorded()).unwrap());
}

#[test]
fn both_ends_of_a_connection_are_discovered() {
    in_sandbox(module_path!(), "both_ends_of_a_connection_are_discovered", || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        client.write_all(&[1; 300]).unwrap();

        let found = discover(tcp_v4(StateSet::of(TcpState::Established))).unwrap();
        assert_eq!(found.len(), 2);
        let of = |socket: &TcpStream| {
            let cookie = sockets::cookie(socket).unwrap();
            found.iter().find(|record| record.cookie == cookie).unwrap()
        };
        assert_eq!(of(&client).local, client.local_addr().unwrap());
        assert_eq!(of(&client).remote, of(&server).local);
        assert_eq!(of(&server).receive_queue, 300);
        assert_eq!(of(&server).tcp_info.as_ref().unwrap().tcpi_bytes_received(), Some(300));
        assert_eq!(of(&client).congestion_control, sockets::congestion_control(&client).ok());
        assert!(of(&client).inode != 0 && of(&client).memory.is_some());

        let listening = discover(tcp_v4(StateSet::of(TcpState::Listen))).unwrap();
        assert_eq!(listening.iter().map(|record| record.local).collect::<Vec<_>>(), [listener.local_addr().unwrap()]);
        assert_eq!(discover(tcp_v4(StateSet::ALL)).unwrap().len(), 3);
    });
}

#[test]
fn exact_lookup_finds_the_socket_of_that_cookie_only() {
    in_sandbox(module_path!(), "exact_lookup_finds_the_socket_of_that_cookie_only", || {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            let ends = Ends { local: client.local_addr().unwrap(), remote: client.peer_addr().unwrap() };
            let cookie = sockets::cookie(&client).unwrap();
            let mut diag = SockDiag::open().unwrap();
            let record = diag.lookup(Transport::Tcp, ends, Some(cookie)).unwrap().unwrap();
            assert_eq!((record.cookie, record.local, record.remote), (cookie, ends.local, ends.remote));
            assert_eq!(record.shutdown, Some(2), "sending is shut down");
            assert_eq!(diag.lookup(Transport::Tcp, ends, None).unwrap().unwrap().cookie, cookie);
            assert_eq!(diag.lookup(Transport::Tcp, ends, Some(cookie + 1000)).unwrap(), None);
            let elsewhere = Ends { remote: "192.0.2.1:9".parse().unwrap(), ..ends };
            if address.starts_with('1') {
                assert_eq!(diag.lookup(Transport::Tcp, elsewhere, None).unwrap(), None);
            }
        }
    });
}

#[test]
fn known_sockets_are_looked_at_together_and_those_that_have_gone_are_left_out() {
    let name = "known_sockets_are_looked_at_together_and_those_that_have_gone_are_left_out";
    in_sandbox(module_path!(), name, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let open = |_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap().0);
        let pairs: Vec<_> = (0..SockDiag::TOGETHER * 2 + 5).map(open).collect();
        let known = |(client, _): &(TcpStream, TcpStream)| KnownSocket {
            ends: Ends { local: client.local_addr().unwrap(), remote: address },
            cookie: sockets::cookie(client).unwrap(),
        };
        let mut sockets: Vec<KnownSocket> = pairs.iter().map(known).collect();
        let there: Vec<u64> = sockets.iter().map(|socket| socket.cookie).collect();
        // Gone: first, last and in the middle, and one whose ends another socket has by now.
        for place in [0, SockDiag::TOGETHER, sockets.len()] {
            let elsewhere = Ends { remote: "127.0.0.1:9".parse().unwrap(), ..sockets[0].ends };
            sockets.insert(place, KnownSocket { ends: elsewhere, cookie: 77 });
        }
        sockets.push(KnownSocket { cookie: there[0] + 100_000, ..sockets[1] });
        let mut diag = SockDiag::open().unwrap();
        let mut seen = Vec::new();
        diag.look(&sockets, SocketDetail::Numbers, |record| {
            assert!(record.tcp_info.is_some() && record.memory.is_some());
            seen.push(record.cookie);
        })
        .unwrap();
        assert_eq!(seen, there);
        diag.look(&[], SocketDetail::All, |record| panic!("{record:?}")).unwrap();
    });
}

#[test]
fn udp_sockets_are_found_with_their_drops() {
    in_sandbox(module_path!(), "udp_sockets_are_found_with_their_drops", || {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        sockets::set_buffer_size(&receiver, sockets::Direction::Receive, units::ByteCount::new(4096)).unwrap();
        for _ in 0..50 {
            sender.send(&[0; 1000]).unwrap();
        }
        let mut diag = SockDiag::open().unwrap();
        let selection = Selection { family: Family::V4, transport: Transport::Udp, states: StateSet::ALL };
        let found = diag.discover(selection).unwrap();
        assert_eq!(found.len(), 2);
        let cookie = sockets::cookie(&receiver).unwrap();
        let record = found.iter().find(|record| record.cookie == cookie).unwrap();
        assert_eq!((record.state(), record.tcp_info.is_none()), (Some(TcpState::Close), true));
        assert_eq!(record.memory.unwrap().drops, sockets::memory(&receiver).unwrap().drops);
        assert!(record.memory.unwrap().drops > Some(0));

        let ends = Ends { local: sender.local_addr().unwrap(), remote: receiver.local_addr().unwrap() };
        let record = diag.lookup(Transport::Udp, ends, None).unwrap().unwrap();
        assert_eq!(record.cookie, sockets::cookie(&sender).unwrap());
    });
}

#[test]
fn dump_of_many_sockets_comes_in_parts_and_is_whole() {
    in_sandbox(module_path!(), "dump_of_many_sockets_comes_in_parts_and_is_whole", || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pairs: Vec<_> =
            (0..200).map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap().0)).collect();
        let found = discover(tcp_v4(StateSet::of(TcpState::Established))).unwrap();
        assert_eq!(found.len(), 2 * pairs.len());
        assert!(found.iter().all(|record| record.tcp_info.is_some()));
    });
}

#[test]
fn sockets_of_an_ipv6_listener_that_carries_ipv4_are_of_ipv6_with_mapped_addresses() {
    let name = "sockets_of_an_ipv6_listener_that_carries_ipv4_are_of_ipv6_with_mapped_addresses";
    in_sandbox(module_path!(), name, || {
        let listener = TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let _client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (server, _) = listener.accept().unwrap();
        let selection = Selection { family: Family::V6, ..tcp_v4(StateSet::of(TcpState::Established)) };
        let found = discover(selection).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].local, server.local_addr().unwrap());
        let ends = Ends { local: found[0].local, remote: found[0].remote };
        let record = SockDiag::open().unwrap().lookup(Transport::Tcp, ends, Some(found[0].cookie)).unwrap();
        assert_eq!(record.map(|record| record.cookie), Some(found[0].cookie));
    });
}

#[test]
fn one_walk_lists_both_families_and_a_dead_socket_has_the_last_word() {
    let name = "one_walk_lists_both_families_and_a_dead_socket_has_the_last_word";
    in_sandbox(module_path!(), name, || {
        let destroyed = DestroyedSockets::open(1 << 20).unwrap();
        let mut pairs = Vec::new();
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            client.write_all(&[7; 12_345]).unwrap();
            std::io::Read::read_exact(&mut server, &mut [0; 12_345]).unwrap();
            pairs.push((client, server));
        }
        let states = StateSet::of(TcpState::Established);
        let mut seen = Vec::new();
        SockDiag::open().unwrap().each_tcp(states, |record| seen.push(record)).unwrap();
        seen.sort_by_key(|record| record.cookie);
        assert_eq!(seen.len(), 4);
        assert_eq!(seen.iter().filter(|record| record.family == Family::V6).count(), 2);
        for record in &seen {
            let info = record.tcp_info.as_ref().unwrap();
            let moved = info.tcpi_bytes_sent().unwrap() + info.tcpi_bytes_received().unwrap();
            assert_eq!(moved, 12_345);
        }
        for (client, mut server) in pairs {
            drop(client);
            assert_eq!(std::io::Read::read(&mut server, &mut [0; 1]).unwrap(), 0, "the end of the stream");
        }
        let mut dead = Vec::new();
        let readiness = crate::readiness::Readiness::new().unwrap();
        readiness.add(destroyed.file(), 1).unwrap();
        while dead.len() < 4 {
            readiness.wait(crate::readiness::Patience::Endless, |_| {}).unwrap();
            let heard = destroyed.drain(|record| dead.push(record)).unwrap();
            assert_eq!(heard, crate::monitor::Heard::Everything);
        }
        dead.sort_by_key(|record| record.cookie);
        let cookies = |records: &[SocketRecord]| records.iter().map(|record| record.cookie).collect::<Vec<_>>();
        assert_eq!(cookies(&dead), cookies(&seen));
        let ends = |records: &[SocketRecord]| records.iter().map(|each| (each.local, each.remote)).collect::<Vec<_>>();
        assert_eq!(ends(&dead), ends(&seen));
        let sent: u64 = dead.iter().filter_map(|record| record.tcp_info.as_ref()?.tcpi_bytes_sent()).sum();
        assert_eq!(sent, 2 * 12_345);
    });
}

#[test]
fn last_words_for_which_the_queue_has_no_room_are_said_to_be_missing() {
    let name = "last_words_for_which_the_queue_has_no_room_are_said_to_be_missing";
    in_sandbox(module_path!(), name, || {
        // The kernel makes it as small as it allows, room for a few words.
        let destroyed = DestroyedSockets::open(1).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pairs: Vec<_> = (0..200)
            .map(|_| (TcpStream::connect(listener.local_addr().unwrap()).unwrap(), listener.accept().unwrap().0))
            .collect();
        drop(pairs);
        let readiness = crate::readiness::Readiness::new().unwrap();
        readiness.add(destroyed.file(), 1).unwrap();
        let mut heard = 0;
        // It is said once the queue is read; until then the kernel may be at it.
        loop {
            readiness.wait(crate::readiness::Patience::Endless, |_| {}).unwrap();
            if destroyed.drain(|_| heard += 1).unwrap() == crate::monitor::Heard::NotEverything {
                break;
            }
        }
        assert!(heard < 400, "all were heard");
    });
}
