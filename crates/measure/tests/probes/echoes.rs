//! Series of echoes.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use measure::echo::series::series;
use measure::stop::Stop;
use model::probe::IcmpAccess;
use model::probe::ReportKind;
use model::probe::echo::{EchoFate, EchoSeries, EchoSpec, Fragments, Stamp};
use model::run::{FailureKind, Outcome};
use model::spec::Dscp;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::network::{FAR, ROUTERS, counted, filter, in_network, on, set};

fn ask(target: &str, spec: &EchoSpec) -> EchoSeries {
    on("near", || series(target, spec, &Stop::default()))
}

/// So many probes, quickly; answers may take as long as a machine that is busy needs.
fn probes(count: u32) -> EchoSpec {
    EchoSpec { count, interval: Duration::from_millis(1), timeout: Duration::from_secs(30), ..EchoSpec::default() }
}

#[test]
fn every_probe_is_answered_over_two_routers_in_both_families_and_by_both_kinds_of_socket() {
    let name = "every_probe_is_answered_over_two_routers_in_both_families_and_by_both_kinds_of_socket";
    in_network(module_path!(), name, || {
        for access in [IcmpAccess::RawSocket, IcmpAccess::PingSocket] {
            if access == IcmpAccess::PingSocket {
                set("near", "net/ipv4/ping_group_range", "0 0");
            }
            for far in FAR {
                let found = ask(far, &probes(50));
                assert_eq!((&found.outcome, found.access), (&Outcome::Complete, Some(access)));
                assert_eq!((found.summary.rtt.sent.get(), found.summary.rtt.lost.get()), (50, 0), "{far}");
                assert_eq!((found.summary.duplicated.get(), found.summary.reordered.get()), (0, 0));
                for (probe, expected) in found.probes.iter().zip(0..) {
                    let EchoFate::Answered(answer) = &probe.fate else { panic!("{probe:?}") };
                    assert_eq!((probe.sequence, answer.hop_limit), (expected, Some(62)), "64 less two routers");
                    assert_eq!((answer.stamped_by, answer.other_address), (Stamp::Kernel, None));
                    assert!(!answer.rtt.is_zero());
                }
            }
        }
    });
}

#[test]
fn losses_are_those_that_the_path_has_counted() {
    in_network(module_path!(), "losses_are_those_that_the_path_has_counted", || {
        filter("r2", "forward", "ip daddr 10.92.3.2 numgen random mod 10 < 3 counter drop");
        let spec = EchoSpec { timeout: Duration::from_secs(5), ..probes(400) };
        let found = ask(FAR[0], &spec);
        let lost = counted("r2");
        assert_eq!((found.summary.rtt.sent.get(), found.summary.rtt.lost.get()), (400, lost));
        assert!((60..180).contains(&lost), "six standard deviations around 120: {lost}");
        assert_eq!(found.probes.iter().filter(|probe| probe.fate == EchoFate::Lost).count() as u64, lost);
    });
}

/// Answers four echo requests to the far host in its kernel's place: the second first, the first twice, the others.
fn answer_oddly(ready: &mpsc::Sender<()>) {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).unwrap();
    ready.send(()).unwrap();
    let mut requests = Vec::new();
    while requests.len() < 4 {
        let mut packet = [0; 2048];
        let (length, source) = std::net::UdpSocket::from(socket.try_clone().unwrap()).recv_from(&mut packet).unwrap();
        // After 20 bytes of IP header.
        if packet[20] == 8 {
            requests.push((packet[20..length].to_vec(), source));
        }
    }
    for (mut message, source) in [1, 0, 0, 2, 3].map(|number: usize| requests[number].clone()) {
        // An echo reply is the request with another type, 8 less, by which the checksum grows (RFC 1624).
        let sum = u32::from(u16::from_be_bytes([message[2], message[3]])) + 0x0800;
        let folded = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
        message[2..4].copy_from_slice(&folded.to_be_bytes());
        message[0] = 0;
        socket.send_to(&message, &SockAddr::from(source)).unwrap();
    }
}

#[test]
fn duplicates_and_reordering_are_counted_where_they_happen() {
    in_network(module_path!(), "duplicates_and_reordering_are_counted_where_they_happen", || {
        set("far", "net/ipv4/icmp_echo_ignore_all", "1");
        let (ready, answers) = mpsc::channel();
        let odd = thread::spawn(move || on("far", || answer_oddly(&ready)));
        answers.recv().unwrap();
        let found = ask(FAR[0], &probes(4));
        odd.join().unwrap();
        let summary = found.summary;
        assert_eq!((summary.rtt.lost.get(), summary.reordered.get(), summary.duplicated.get()), (0, 1, 1));
        let answers = found.probes.iter().map(|probe| match &probe.fate {
            EchoFate::Answered(answer) => (answer.reordered, answer.duplicates),
            other => panic!("{other:?}"),
        });
        assert_eq!(answers.collect::<Vec<_>>(), [(true, 1), (false, 0), (false, 0), (false, 0)]);
    });
}

#[test]
fn what_a_router_says_is_told_with_its_address() {
    in_network(module_path!(), "what_a_router_says_is_told_with_its_address", || {
        for (far, routers) in FAR.iter().zip(ROUTERS) {
            let found = ask(far, &EchoSpec { hop_limit: Some(2), ..probes(3) });
            assert_eq!((found.summary.reported.get(), found.summary.rtt.lost.get()), (3, 3));
            for probe in &found.probes {
                let EchoFate::Reported(report) = &probe.fate else { panic!("{probe:?}") };
                assert_eq!(report.kind, ReportKind::TimeExceeded);
                assert_eq!(report.reporter, Some(routers[1].parse().unwrap()));
            }
        }
        filter("r1", "forward", "ip daddr 10.92.3.2 reject with icmp type host-prohibited");
        let EchoFate::Reported(report) = &ask(FAR[0], &probes(1)).probes[0].fate else { panic!() };
        assert_eq!(report.kind, ReportKind::Unreachable { code: 10 });
    });
}

#[test]
fn class_of_service_and_dont_fragment_are_on_the_wire() {
    in_network(module_path!(), "class_of_service_and_dont_fragment_are_on_the_wire", || {
        let marked = EchoSpec { dscp: Some(Dscp::new(46).unwrap()), ..probes(7) };
        filter("r1", "forward", "ip daddr 10.92.3.2 ip dscp ef ip frag-off & 0x4000 == 0x4000 counter");
        ask(FAR[0], &marked);
        assert_eq!(counted("r1"), 0, "may be cut");
        ask(FAR[0], &EchoSpec { fragments: Fragments::Forbidden, ..marked.clone() });
        assert_eq!(counted("r1"), 7);
        filter("r2", "forward", "ip6 dscp ef icmpv6 type echo-request counter");
        ask(FAR[1], &marked);
        assert_eq!(counted("r2"), 7);
    });
}

#[test]
fn packets_larger_than_the_interface_arrive_in_pieces_or_are_not_sent() {
    in_network(module_path!(), "packets_larger_than_the_interface_arrive_in_pieces_or_are_not_sent", || {
        for far in FAR {
            let large = EchoSpec { payload_bytes: 20_000, ..probes(3) };
            assert_eq!(ask(far, &large).summary.rtt.lost.get(), 0);
            let whole = ask(far, &EchoSpec { fragments: Fragments::Forbidden, ..large });
            assert_eq!((whole.summary.unsent.get(), whole.summary.rtt.sent.get()), (3, 0));
        }
    });
}

#[test]
fn what_cannot_be_asked_is_an_outcome() {
    in_network(module_path!(), "what_cannot_be_asked_is_an_outcome", || {
        let kind = |found: &EchoSeries| match &found.outcome {
            Outcome::Complete => None,
            Outcome::Failed(failure) => Some(failure.kind),
        };
        assert_eq!(kind(&ask("no-such-host.invalid", &probes(1))), Some(FailureKind::Unreachable));
        assert_eq!(kind(&ask(FAR[0], &probes(0))), Some(FailureKind::Local));
        let bind = Some("192.0.2.9".parse().unwrap());
        assert_eq!(kind(&ask(FAR[0], &EchoSpec { bind, ..probes(1) })), Some(FailureKind::Local));
        let stop = Stop::default();
        stop.stop();
        let found = on("near", || series(FAR[0], &probes(60_000), &stop));
        assert_eq!((kind(&found), found.probes.len()), (Some(FailureKind::Interrupted), 0));
    });
}
