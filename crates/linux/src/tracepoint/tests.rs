use std::net::UdpSocket;

use super::*;
use crate::Reason;
use crate::sandbox::{in_sandbox, inside};

/// Root of the machine sees events; anybody else is told what is missing.
#[test]
fn dropped_datagram_is_an_event_with_its_reason() {
    let mut tracepoint = match Tracepoint::open("skb/kfree_skb") {
        Ok(tracepoint) => tracepoint,
        Err(error) => {
            assert!(matches!(error.reason, Reason::Denied), "{error}");
            eprintln!("not seen without privilege: {error}");
            return;
        }
    };
    let reason = tracepoint.format().field("reason").unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for _ in 0..20 {
        // Refused by the second one on: the first has been answered by ICMP.
        let _ = socket.send_to(b"nobody is there", closed);
    }
    let mut reasons = Vec::new();
    let (before, mut times) = (crate::clock::now(), Vec::new());
    tracepoint.drain(|event| {
        reasons.extend(reason.number(event.bytes));
        times.push(event.at);
    });
    let second = std::time::Duration::from_secs(1);
    assert!(times.iter().all(|at| before.since(*at) < second && *at <= before), "{times:?} before {before:?}");
    let words: Vec<_> = reasons.iter().filter_map(|&value| tracepoint.format().word("reason", value)).collect();
    assert!(words.iter().filter(|word| **word == "NO_SOCKET").count() >= 20, "{words:?}");
    assert_eq!(tracepoint.take_lost(), 0);
    assert!(tracepoint.files().count() > 0);
}

#[test]
fn root_of_a_user_namespace_is_denied_and_told_so() {
    in_sandbox(module_path!(), "root_of_a_user_namespace_is_denied_and_told_so", || {
        assert!(inside());
        let error = Tracepoint::open("skb/kfree_skb").unwrap_err();
        assert_eq!(error.reason, Reason::Denied, "{error}");
    });
}

#[test]
fn more_events_than_the_ring_holds_are_told() {
    let Ok(mut tracepoint) = Tracepoint::open("skb/kfree_skb") else {
        eprintln!("not seen without privilege");
        return;
    };
    // Each processor has a ring of its own.
    affinity::pin_current_thread(&[affinity::current_cpu()]).unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sent = 40_000_u64;
    for _ in 0..sent {
        let _ = socket.send_to(b"x", closed);
    }
    let mut seen = 0_u64;
    tracepoint.drain(|_| seen += 1);
    // The kernel writes a record of what it has lost before the next event for which there is room.
    let _ = socket.send_to(b"x", closed);
    tracepoint.drain(|_| seen += 1);
    let lost = tracepoint.take_lost();
    // How many there were nobody knows: the kernel holds back events that come too fast.
    assert!(lost > 0 && seen > 0, "{seen} seen, {lost} lost");
}
