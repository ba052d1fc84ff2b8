//! A collector over a real socket: what is sent is counted, and what is not sent as well.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::net::UdpSocket;
use std::time::Duration;

use passive::int::generate::TestReport;
use passive::int::report::IntHop;
use watch::int::{Request, collect};

#[test]
fn reports_gaps_and_garbage_are_counted() {
    // A port that was free a moment ago.
    let listen = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let request = Request { listen, interval: Duration::from_millis(50), intervals: None, cell: Some(80) };
    let (mut reports, mut lost, mut malformed, mut most) = (0, 0, 0, 0);
    let mut sender = None;
    let done = std::cell::Cell::new(false);
    collect(
        &request,
        || done.get(),
        |interval| {
            // The first interval has ended: the socket listens.
            let sender = sender.get_or_insert_with(|| {
                let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
                for sequence in (0..100).filter(|sequence| !(40..45).contains(sequence)) {
                    let hop = IntHop { node: Some(2), queue: Some(1), occupancy: Some(sequence), ..IntHop::default() };
                    let report = TestReport {
                        node: 2,
                        sequence,
                        source: "192.0.2.1:1".parse().unwrap(),
                        destination: "192.0.2.2:2".parse().unwrap(),
                        hops: vec![hop],
                    };
                    sender.send_to(&report.version1(), listen).unwrap();
                }
                sender.send_to(b"garbage", listen).unwrap();
                sender
            });
            assert!(sender.local_addr().is_ok());
            reports += interval.reports;
            malformed += interval.malformed;
            lost += interval.senders.iter().map(|sender| sender.lost).sum::<u64>();
            most = interval.hops.iter().filter_map(|hop| hop.most_occupancy).max().unwrap_or(0).max(most);
            assert_eq!(interval.dropped_at_socket, Some(0));
            done.set(reports + malformed == 96);
        },
    )
    .unwrap();
    assert_eq!((reports, lost, malformed, most), (95, 5, 1, 99));
}
