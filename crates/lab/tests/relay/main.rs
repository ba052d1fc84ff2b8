//! Real kernels over the relay: what arrives, what does not, and that both are told rightly.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod bursts;
mod ending;
mod telemetry;
mod world;

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use lab::relay::log::What;
use linux::sockets::PathMtuDiscovery;
use linux::tcp_info::TcpInfo;
use path::PacketKind;
use path::reason::Drop;

use world::{World, dropped, in_sandbox, packets, v4, v6};

const MIB: usize = 1 << 20;

#[test]
fn delay_is_that_of_both_chains() {
    in_sandbox("delay_is_that_of_both_chains", || {
        let world = World::new(r#"{ delay = { time = "30ms" } }"#, r#"{ delay = { time = "20ms" } }"#);
        let echo = world.hosts[1].run(|| UdpSocket::bind((v4(2), 0)).unwrap());
        let to = echo.local_addr().unwrap();
        let socket = world.hosts[0].run(|| UdpSocket::bind((v4(1), 0)).unwrap());
        let answering = std::thread::spawn(move || {
            let mut buffer = [0; 100];
            while let Ok((len, from)) = echo.recv_from(&mut buffer) {
                echo.send_to(&buffer[..len], from).unwrap();
                if len == 0 {
                    return;
                }
            }
        });
        let path = Duration::from_millis(50);
        // Both programs and the relay wait for a processor now and then, and one time for less than either chain.
        world.wait_until("a round trip takes what the path takes", |_| {
            let sent = Instant::now();
            socket.send_to(&[1], to).unwrap();
            socket.recv_from(&mut [0; 100]).unwrap();
            let took = sent.elapsed();
            assert!(took >= path, "{took:?}: no packet is faster than the path");
            took < path + Duration::from_millis(20)
        });
        socket.send_to(&[], to).unwrap();
        answering.join().unwrap();
    });
}

#[test]
fn what_is_under_way_at_the_end_is_held_and_nothing_else() {
    in_sandbox("what_is_under_way_at_the_end_is_held_and_nothing_else", || {
        // A minute: nothing comes out before the end.
        let world = World::new(&[r#"{ delay = { time = "10s" } }"#; 6].join(", "), "");
        let socket = world.hosts[0].run(|| {
            // Nobody answers in time who has this address.
            world::ip("neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev wire0 nud permanent");
            UdpSocket::bind((v4(1), 0)).unwrap()
        });
        for _ in 0..20 {
            socket.send_to(&[0; 100], (v4(2), 9)).unwrap();
        }
        world.wait_until("all are under way", |relay| relay.report().wires[0].directions[0].held.get() >= 20);
        let (report, _) = world.stop();
        let [there, back] = &report.wires[0].directions;
        assert_eq!((there.given.packets.get(), there.held), (0, there.taken.packets));
        assert_eq!((back.taken.packets, back.held.get()), (back.given.packets, 0));
    });
}

#[test]
fn bytes_arrive_through_whole_frames() {
    in_sandbox("bytes_arrive_through_whole_frames", || {
        for to in [v4(2), v6(2)] {
            let world = World::new(r#"{ delay = { time = "2ms" } }"#, "");
            world.transfer(20 * MIB, to);
            let arrived = |relay: &lab::relay::Relay| {
                let there = &relay.report().wires[0].directions[0];
                there.taken.packets == there.given.packets
            };
            world.wait_until("nothing is under way", arrived);
            let (report, events) = world.stop();
            let there = &report.wires[0].directions[0];
            assert_eq!(dropped(&events.events, |_| true) + there.lost.unintended(), 0);
            assert!(there.given.packets.get() > 3 * there.given.frames, "most frames are several packets: {there:?}");
            assert!(there.given.frames <= there.taken.frames, "a frame was cut: {there:?}");
        }
    });
}

#[test]
fn bytes_arrive_through_single_packets() {
    in_sandbox("bytes_arrive_through_single_packets", || {
        // 50 µs of the link are 625 bytes: every packet comes out by itself, and too late to go with the one before.
        let port = r#"{ port = { rate = "100Mbit/s", queue = { bytes = "4MB" } } }"#;
        for to in [v4(2), v6(2)] {
            let world = World::new(port, "");
            world.transfer(4 * MIB, to);
            let (report, _) = world.stop();
            let there = &report.wires[0].directions[0];
            assert!(there.given.packets.get() > 2 * there.taken.frames, "frames came whole: {there:?}");
            assert!(there.given.frames > 2 * there.taken.frames, "and were cut: {there:?}");
        }
    });
}

#[test]
fn bytes_arrive_reordered_and_twice() {
    in_sandbox("bytes_arrive_reordered_and_twice", || {
        let meddling = r#"{ reorder = { every-nth = 20, time = "1ms" } }, { duplicate = { probability = 0.02 } }"#;
        for to in [v4(2), v6(2)] {
            let world = World::new(meddling, meddling);
            world.transfer(8 * MIB, to);
            let repeated = world.hosts[1].counter("TcpExt", "TCPDSACKOldSent");
            assert!(repeated > 0, "the receiver has told of what came twice");
            let (report, events) = world.stop();
            let there = &report.wires[0].directions[0];
            assert!(packets(&events.events, |event| event.what == What::Duplicated) > 0);
            assert_eq!(there.lost.unintended(), 0);
        }
    });
}

#[test]
fn wrong_bits_are_found_by_the_receiver_and_by_nobody_else() {
    in_sandbox("wrong_bits_are_found_by_the_receiver_and_by_nobody_else", || {
        let world = World::new(r#"{ corrupt = { probability = 0.01 } }"#, "");
        world.transfer(4 * MIB, v4(2));
        let found = |world: &World| world.hosts[1].counter("Tcp", "InCsumErrors");
        let mut events = Vec::new();
        let of_tcp = |event: &lab::relay::log::Event| {
            event.what == What::Corrupted
                && matches!(event.kind, PacketKind::TcpData | PacketKind::TcpControl | PacketKind::TcpSyn)
        };
        world.wait_until("as many wrong packets found as made", |relay| {
            events.extend(relay.events().events);
            let made = packets(&events, of_tcp);
            made > 10 && made == found(&world)
        });
    });
}

#[test]
fn window_scale_is_stripped_and_both_ends_see_it() {
    in_sandbox("window_scale_is_stripped_and_both_ends_see_it", || {
        let firewall = r#"{ firewall = { packets-per-second = 1000000, strips-window-scale = true } }"#;
        for (chain, expected) in [(firewall, 0), ("", WINDOW_SCALE)] {
            let world = World::new(chain, "");
            let (sender, receiver) = world.transfer(MIB, v4(2));
            for end in [sender, receiver] {
                let options = TcpInfo::read(end.as_fd()).unwrap().tcpi_options().unwrap();
                assert_eq!(u64::from(options) & WINDOW_SCALE, expected);
            }
            assert_eq!(world.hosts[1].counter("Tcp", "InCsumErrors"), 0);
        }
    });
}

#[test]
fn sender_hears_of_packets_that_are_too_big() {
    in_sandbox("sender_hears_of_packets_that_are_too_big", || {
        for (from, to) in [(v4(1), v4(2)), (v6(1), v6(2))] {
            let world = World::new(r#"{ mtu = { bytes = 1400 } }"#, "");
            let socket = world.hosts[0].run(move || UdpSocket::bind((from, 0)).unwrap());
            linux::sockets::set_path_mtu_discovery(&socket, PathMtuDiscovery::Always).unwrap();
            socket.connect((to, 9)).unwrap();
            assert_eq!(linux::sockets::path_mtu(&socket).unwrap().get(), 1_500);
            socket.send(&[0; 1_440]).unwrap();
            world
                .wait_until("the sender knows the path", |_| linux::sockets::path_mtu(&socket).unwrap().get() == 1_400);
            // What was reported waits as an error of the socket, which the next call returns.
            let errors: Vec<io::Error> = (0..2).filter_map(|_| socket.send(&[0; 1_440]).err()).collect();
            assert!(errors.iter().any(|error| error.raw_os_error() == Some(EMSGSIZE)), "{errors:?}");
            world.transfer(4 * MIB, to);
            let (report, events) = world.stop();
            assert!(report.wires[0].directions[0].answers.given > 0);
            assert!(packets(&events.events, |event| matches!(event.what, What::Refused(_))) > 0);
        }
    });
}

#[test]
fn black_hole_tells_nobody() {
    in_sandbox("black_hole_tells_nobody", || {
        let world = World::new(r#"{ mtu = { bytes = 1400, report = "silent" } }"#, "");
        let receiver = world.hosts[1].run(|| UdpSocket::bind((v4(2), 0)).unwrap());
        let socket = world.hosts[0].run(|| UdpSocket::bind((v4(1), 0)).unwrap());
        socket.connect(receiver.local_addr().unwrap()).unwrap();
        socket.send(&[1; 1_400]).unwrap();
        socket.send(&[2; 1_300]).unwrap();
        assert_eq!(receiver.recv(&mut [0; 2_000]).unwrap(), 1_300);
        assert_eq!(linux::sockets::path_mtu(&socket).unwrap().get(), 1_500);
        let (report, events) = world.stop();
        assert_eq!(report.wires[0].directions[0].answers.given, 0);
        assert_eq!(dropped(&events.events, |event| event.what == What::Dropped(Drop::TooBig)), 1);
    });
}

#[test]
fn marks_arrive_as_many_as_were_made() {
    in_sandbox("marks_arrive_as_many_as_were_made", || {
        for (to, group, name) in [(v4(2), "IpExt", "InCEPkts"), (v6(2), "Ip6", "InCEPkts")] {
            let world = World::new(r#"{ ecn = "mark-all" }"#, "");
            for host in &world.hosts {
                host.run(|| std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").unwrap());
            }
            world.transfer(4 * MIB, to);
            let mut events = Vec::new();
            world.wait_until("as many marks come as were made", |relay| {
                events.extend(relay.events().events);
                let marks = |event: &&lab::relay::log::Event| matches!(event.what, What::Marked(_));
                // The kernel counts a frame that comes from a TAP device as one packet, whatever it says of itself
                // (include/linux/virtio_net.h leaves `gso_segs` at 0), and each event here is of one frame.
                let made = events.iter().filter(marks).count() as u64;
                made > 100 && made == world.hosts[1].counter(group, name)
            });
        }
    });
}

#[test]
fn log_knows_each_datagram_that_did_not_come() {
    in_sandbox("log_knows_each_datagram_that_did_not_come", || {
        const SENT: usize = 5_000;
        const AHEAD: usize = 200;
        let world =
            World::new(r#"{ loss = { random = 0.1 } }, { policer = { rate = "100Mbit/s", burst = "64kB" } }"#, "");
        // Both know where the other is: a kernel drops what waits for that.
        world.transfer(1, v4(2));
        let receiver = world.hosts[1].run(|| UdpSocket::bind((v4(2), 0)).unwrap());
        receiver.set_nonblocking(true).unwrap();
        let sender = world.hosts[0].run(|| UdpSocket::bind((v4(1), 0)).unwrap());
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        let (mut came, mut events) = (vec![false; SENT], Vec::new());
        let taken = |relay: &lab::relay::Relay| relay.report().wires[0].directions[0].taken.packets.get();
        let before = taken(&world.relay);
        for number in 0..SENT {
            let mut datagram = [0; 400];
            datagram[..8].copy_from_slice(&(number as u64).to_be_bytes());
            sender.send(&datagram).unwrap();
            drain(&receiver, &mut came);
            if number % AHEAD == 0 {
                // A device drops what waits for a relay that gets no processor for long.
                world.wait_until("the relay keeps up", |relay| taken(relay) >= before + number as u64);
            }
        }
        world.wait_until("each datagram has come, is in the log, or was not heard", |relay| {
            drain(&receiver, &mut came);
            events.extend(relay.events().events);
            // A receiver that gets no processor for a while has no room for what comes meanwhile.
            let unheard = world.hosts[1].counter("Udp", "RcvbufErrors");
            let lost = dropped(&events, |event| event.kind == PacketKind::Udp) + unheard;
            lost + came.iter().filter(|came| **came).count() as u64 == SENT as u64
        });
        let received = came.iter().filter(|came| **came).count() as u64;
        assert_eq!(world.hosts[0].counter("Udp", "OutDatagrams"), SENT as u64);
        assert_eq!(world.hosts[1].counter("Udp", "InDatagrams"), received);
        let random =
            dropped(&events, |event| event.what == What::Dropped(Drop::Random) && event.kind == PacketKind::Udp);
        // Six standard deviations of a binomial: sqrt(5000 x 0.1 x 0.9) = 21.
        assert!((374..626).contains(&random), "{random}");
        let elements = &world.relay.report().wires[0].directions[0].elements;
        let counted: u64 = elements.iter().flat_map(path::Tally::drops).map(|(_, amount)| amount.packets.get()).sum();
        assert_eq!(dropped(&events, |_| true), counted);
    });
}

#[test]
fn device_that_is_down_is_the_hosts_doing_and_counted() {
    in_sandbox("device_that_is_down_is_the_hosts_doing_and_counted", || {
        let world = World::new("", "");
        world.transfer(MIB, v4(2));
        world.hosts[1].run(|| world::ip("link set wire0 down"));
        let socket = world.hosts[0].run(|| UdpSocket::bind((v4(1), 0)).unwrap());
        for _ in 0..3 {
            socket.send_to(&[0; 100], (v4(2), 9)).unwrap();
        }
        let lost = |relay: &lab::relay::Relay| relay.report().wires[0].directions[0].lost;
        world.wait_until("three packets find nobody", |relay| lost(relay).down.get() >= 3);
        assert_eq!(lost(&world.relay).unintended(), 0);
    });
}

#[test]
fn probe_finds_what_a_thread_carries() {
    in_sandbox("probe_finds_what_a_thread_carries", || {
        let capacity = lab::relay::probe::probe().unwrap();
        // A machine on which these are not reached cannot run the tests beside this one either.
        assert!(capacity.whole.bps() > 100_000_000 && capacity.packets_per_second > 1_000, "{capacity:?}");
        println!("{capacity:?}");
        assert_eq!(linux::links::dump().unwrap().len(), 1, "only the loopback device is left");
    });
}

fn drain(receiver: &UdpSocket, came: &mut [bool]) {
    let mut datagram = [0; 400];
    while receiver.recv(&mut datagram).is_ok() {
        let number = u64::from_be_bytes(datagram[..8].try_into().unwrap());
        let seen = &mut came[usize::try_from(number).unwrap()];
        assert!(!*seen, "{number} has come twice");
        *seen = true;
    }
}

const WINDOW_SCALE: u64 = 4; // TCPI_OPT_WSCALE, include/uapi/linux/tcp.h
const EMSGSIZE: i32 = 90;
