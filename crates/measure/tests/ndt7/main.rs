//! NDT7 on loopback: our client with our server, and each with peers that break the protocol.
//!
//! * [`server`]: a server in this process
//! * [`strangers`]: bytes that are no messages, to either side
//! * [`encrypted`]: the same over TLS, and certificates that are not taken
#![cfg(feature = "ndt7")]
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod encrypted;
mod server;
mod strangers;

use std::net::SocketAddr;
use std::time::Duration;

use measure::ndt7::client::{Ndt7Request, run};
use measure::ndt7::spec;
use measure::session::client::Finished;
use measure::stop::Stop;
use model::measurement::{End, Heading, Whose};
use model::run::{FailureKind, Outcome};
use model::series::field::Field;
use model::spec::Direction;
use server::Server;

/// Long enough for three reports of the server, of which it sends one each 250 ms.
const LENGTH: Duration = Duration::from_millis(900);

fn test(server: SocketAddr, direction: Direction, length: Duration) -> Finished {
    let url = format!("ws://{server}").parse().unwrap();
    run(&Ndt7Request { url, spec: spec(direction, length), trust: None, length }, &Stop::default())
}

#[test]
fn an_upload_is_what_the_server_read_and_both_sides_count_the_same() {
    let server = Server::start();
    let found = test(server.address, Direction::Forward, LENGTH);
    assert_eq!(found.outcome, Outcome::Complete);
    let measurement = found.measurement.unwrap();
    let total = &measurement.totals[0];
    assert_eq!(total.heading, Heading::Outbound);
    assert!(total.sent.is_some() && total.sent == total.received, "{total:?}");
    let served = server.finished();
    assert_eq!(served.outcome, Outcome::Complete);
    let theirs = &served.measurement.as_ref().unwrap().totals[0];
    assert_eq!((theirs.heading, theirs.received), (Heading::Inbound, total.received));
    assert_eq!(measurement.anomalies, Vec::<String>::new());
    let kernel = found.samples.streams.iter().find(|stream| stream.whose == Whose::Local).unwrap();
    assert_eq!(kernel.end, End::Sender);
    let acknowledged = kernel.column(Field::BytesAcked).unwrap();
    assert!(*acknowledged.last().unwrap() >= total.sent.unwrap().get(), "the last sample is of when all had arrived");
}

#[test]
fn a_download_has_the_samples_of_the_server_which_sends() {
    let server = Server::start();
    let found = test(server.address, Direction::Reverse, LENGTH);
    assert_eq!(found.outcome, Outcome::Complete);
    let measurement = found.measurement.unwrap();
    let total = &measurement.totals[0];
    assert!(total.received.unwrap().get() > 0 && total.retransmits.is_some(), "{total:?}");
    let peer = found.samples.streams.iter().find(|stream| stream.whose == Whose::Peer).unwrap();
    assert_eq!((peer.end, peer.heading), (End::Sender, Heading::Inbound));
    for field in [Field::Rtt, Field::BytesAcked, Field::BusyTime, Field::RwndLimited, Field::SndCwnd, Field::AppBytes] {
        assert!(peer.column(field).is_some(), "{field:?}");
    }
    assert!(peer.at_us.is_sorted_by(|one, next| one < next), "{:?}", peer.at_us);
    let served = server.finished();
    assert_eq!(served.outcome, Outcome::Complete, "a client may close when it wants");
    let sent = served.measurement.unwrap().totals[0].sent.unwrap();
    assert!(sent >= total.received.unwrap(), "{sent} sent");
}

#[test]
fn tests_take_turns_and_who_comes_meanwhile_is_sent_away() {
    let server = Server::start();
    let slot = server.take_turn();
    let found = test(server.address, Direction::Forward, LENGTH);
    let Outcome::Failed(failure) = found.outcome else { panic!("it ran beside another test") };
    assert_eq!(failure.kind, FailureKind::Busy);
    assert!(failure.detail.contains("503") && failure.detail.contains("another test runs"), "{}", failure.detail);
    drop(slot);
    assert_eq!(test(server.address, Direction::Forward, Duration::from_millis(100)).outcome, Outcome::Complete);
}

#[test]
fn a_server_that_is_stopped_ends_its_test() {
    let server = Server::start();
    let address = server.address;
    let client = std::thread::spawn(move || test(address, Direction::Reverse, Duration::from_secs(10)));
    server.started();
    server.stop();
    // It has a result, unless the wish came before the first byte.
    client.join().unwrap();
    let Outcome::Failed(failure) = server.finished().outcome else { panic!("it went on") };
    assert_eq!(failure.kind, FailureKind::Interrupted);
}
