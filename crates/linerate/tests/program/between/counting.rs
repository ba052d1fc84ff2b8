//! What was sent, what arrived, by which means and when.

use std::time::Duration;

use model::measurement::{DatagramCounts, Heading};
use model::run::Run;
use model::spec::{ReceiveMethod, SendMethod};
use units::{ByteCount, PacketCount};

use super::tested;
use crate::actors::linerate::{measured, total};

/// Asserts that everything sent arrived, and that both runs say so with the same numbers.
#[track_caller]
fn all_arrived(client: &Run, server: &Run) {
    for ours in &measured(client).totals {
        let theirs = total(server, ours.heading.mirrored());
        assert_eq!(ours.sent, ours.received, "{ours:?}");
        assert_eq!((ours.sent, ours.received), (theirs.sent, theirs.received));
        assert!(ours.received > Some(ByteCount::ZERO), "{ours:?}");
    }
    let flows = measured(client).flows.iter().zip(&measured(server).flows);
    for (ours, theirs) in flows {
        assert_eq!((ours.sent, ours.received), (theirs.sent, theirs.received), "stream {}", ours.stream);
        assert_eq!((&ours.local_address, &ours.peer_address), (&theirs.peer_address, &theirs.local_address));
    }
    assert_eq!(measured(client).flows.len(), measured(server).flows.len());
}

#[test]
fn what_was_sent_until_time_was_up_arrives_to_the_last_byte() {
    for (way, streams) in
        [(&[][..], 1), (&["-R"], 1), (&["--bidir"], 2), (&["-P", "3"], 3), (&["-P", "2", "--bidir"], 4)]
    {
        let (client, server) = tested(&[way, &["--time", "300ms"]].concat());
        all_arrived(&client.run, &server);
        assert_eq!(measured(&client.run).flows.len(), streams, "{way:?}");
    }
}

#[test]
fn an_amount_of_bytes_is_moved_exactly_over_all_streams_of_a_direction() {
    for way in [&[][..], &["-R"], &["--bidir"], &["-P", "3"], &["-R", "-P", "3"]] {
        let (client, server) = tested(&[way, &["--bytes", "10MB"]].concat());
        all_arrived(&client.run, &server);
        for total in &measured(&client.run).totals {
            assert_eq!(total.received, Some(ByteCount::new(10_000_000)), "{way:?}");
        }
    }
}

#[test]
fn a_number_of_blocks_is_moved_exactly() {
    for way in [&[][..], &["-R"], &["-P", "2"]] {
        let (client, server) = tested(&[way, &["--blocks", "30", "--length", "1000B"]].concat());
        all_arrived(&client.run, &server);
        assert_eq!(measured(&client.run).totals[0].received, Some(ByteCount::new(30_000)), "{way:?}");
    }
}

#[test]
fn a_flow_is_complete_when_its_last_byte_has_arrived_not_when_it_was_handed_over() {
    const BYTES: u64 = 2_000_000;
    const PACE: u64 = 80_000_000;
    for way in [&[][..], &["-R"]] {
        // The kernel takes the payload at once and sends it slowly, but for the first ten segments, for which it has no
        // rate to pace by: small segments keep that burst small.
        let pace = ["--bytes", "2MB", "--pace", "80Mbit/s", "--window", "4MiB", "--mss", "1400B"];
        let (client, _) = tested(&[way, &pace].concat());
        let total = &measured(&client.run).totals[0];
        assert!(total.goodput.bps() < PACE * 5 / 4, "{way:?}: {total:?}");
        assert!(total.elapsed.as_micros() > u128::from(BYTES * 8 * 1_000_000 / PACE * 4 / 5), "{way:?}: {total:?}");
    }
}

#[test]
fn every_way_of_sending_and_receiving_is_used_when_asked_for() {
    let sends = [
        ("write", SendMethod::Write),
        ("sendfile", SendMethod::Sendfile),
        ("splice", SendMethod::Splice),
        ("zerocopy", SendMethod::Zerocopy),
    ];
    let receives = [("copy", ReceiveMethod::Copy), ("discard", ReceiveMethod::Discard)];
    for (send, send_method) in sends {
        for (receive, receive_method) in receives {
            for way in [&[][..], &["-R"]] {
                let methods = ["--send", send, "--receive", receive, "--bytes", "4MiB"];
                let (client, server) = tested(&[way, &methods].concat());
                all_arrived(&client.run, &server);
                for run in [&client.run, &server] {
                    let flow = &measured(run).flows[0];
                    assert_eq!((flow.sent_by, flow.received_by), (Some(send_method), Some(receive_method)), "{way:?}");
                    // Loopback always copies what was lent for zero copy; of the other ways the kernel tells nothing.
                    assert_eq!(flow.copy_fallback, (send_method == SendMethod::Zerocopy).then_some(true), "{way:?}");
                }
            }
        }
    }
}

#[test]
fn datagrams_are_counted_exactly() {
    let ways = [&[][..], &["-R"], &["--bidir"], &["-P", "3"], &["--no-gso", "--no-gro"], &["--no-gro"], &["--no-gso"]];
    for way in ways {
        let (client, server) =
            tested(&[way, &["-u", "--bytes", "300kB", "--length", "1000B", "--rate", "20Mbit/s"]].concat());
        all_arrived(&client.run, &server);
        for run in [&client.run, &server] {
            for total in &measured(run).totals {
                let counts = total.datagrams.unwrap();
                assert_eq!((counts.sent, counts.received), (PacketCount::new(300), PacketCount::new(300)), "{way:?}");
                assert_eq!((counts.lost, counts.duplicated), (PacketCount::ZERO, PacketCount::ZERO), "{way:?}");
            }
        }
    }
}

#[test]
fn every_datagram_of_a_flood_is_received_or_lost() {
    // Faster than one receiver can be on a busy machine, so that some are lost and the arithmetic has work.
    let (client, server) = tested(&["-u", "--flood", "--time", "200ms", "--length", "1000B", "-P", "2"]);
    for run in [&client.run, &server] {
        for flow in &measured(run).flows {
            let counts = flow.datagrams.unwrap();
            assert_eq!(counts.sent, counts.received + counts.lost, "{flow:?}");
            assert_eq!(flow.sent.unwrap().get(), counts.sent.get() * 1_000, "{flow:?}");
            assert_eq!(flow.received.unwrap().get(), (counts.received + counts.duplicated).get() * 1_000, "{flow:?}");
        }
    }
    // Each stream's jitter is cut to microseconds on its way, so the mean of them may differ by one.
    let counts =
        |run: &Run, heading| DatagramCounts { jitter: Duration::ZERO, ..total(run, heading).datagrams.unwrap() };
    assert_eq!(counts(&client.run, Heading::Outbound), counts(&server, Heading::Inbound));
}

#[test]
fn the_conditions_of_a_flow_are_the_ones_asked_for() {
    for way in [&[][..], &["-R"]] {
        let (client, server) = tested(&[way, &["--bytes", "1MB", "--mss", "1400B", "--cca", "reno"]].concat());
        for run in [&client.run, &server] {
            let flow = &measured(run).flows[0];
            // Time stamps take 12 bytes of each segment (RFC 7323).
            assert_eq!((flow.mss, flow.congestion_control.as_deref()), (Some(1_388), Some("reno")), "{way:?}");
        }
    }
}

#[test]
fn intervals_add_up_to_the_whole() {
    let (client, _) = tested(&["--time", "500ms", "--interval", "100ms", "--bidir", "--rate", "40Mbit/s"]);
    for total in &measured(&client.run).totals {
        let intervals = measured(&client.run).intervals.iter().filter(|interval| interval.heading == total.heading);
        assert_eq!(Some(intervals.clone().map(|interval| interval.bytes).sum()), total.received);
        assert!(intervals.count() >= 4, "{:?}", measured(&client.run).intervals);
    }
}
