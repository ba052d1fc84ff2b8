//! Data connections that nobody announced, too many of them, and those that break.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::Duration;

use model::run::{FailureKind, Outcome};
use serde_json::json;
use wire::signal::Signal;

use crate::partner::{PATIENCE, Partner};
use crate::visitor::{Visitor, iperf3, linerate, results, stream_of, with};

#[test]
fn a_data_connection_with_another_name_is_another_client_and_disturbs_nobody() {
    let partner = Partner::start();
    let visitor = Visitor::admitted(&partner, &iperf3());
    let mut stranger = Visitor::named(&partner);
    stranger.say(b"payload of a data connection whose name is wrong");
    assert!(partner.refusal().starts_with("the peer broke the protocol: the parameters announce "));
    let mut visitor = visitor;
    let _data = visitor.data();
    visitor.hear(Signal::TestStart);
    visitor.hear(Signal::TestRunning);
    visitor.signal(Signal::ClientTerminate);
    assert_eq!(partner.failure().kind, FailureKind::Lost);
    partner.works();
}

#[test]
fn more_data_connections_than_announced_are_turned_away_and_the_test_goes_on() {
    let partner = Partner::start();
    let mut visitor = Visitor::admitted(&partner, &with(&iperf3(), "parallel", 2.into()));
    let data = [visitor.data(), visitor.data()];
    visitor.hear(Signal::TestStart);
    visitor.hear(Signal::TestRunning);
    let mut late = visitor.data();
    let mut word = [0];
    late.read_exact(&mut word).unwrap();
    assert_eq!(Signal::from_byte(word[0]), Some(Signal::AccessDenied));
    assert_eq!(partner.nuisance(), "opened more data connections than it announced");
    visitor.signal(Signal::TestEnd);
    drop(data);
    visitor.hear(Signal::ExchangeResults);
    visitor.say_blob(&results());
    visitor.hear_blob();
    visitor.hear(Signal::DisplayResults);
    visitor.signal(Signal::Done);
    assert_eq!(partner.finished().outcome, Outcome::Complete);
    partner.works();
}

#[test]
fn a_stream_that_breaks_is_named_with_its_number_and_the_others_are_counted() {
    let partner = Partner::start();
    let (mut visitor, mut data) = Visitor::running(&partner, &with(&linerate(), "parallel", 3.into()));
    data[0].write_all(&[0; 1_000]).unwrap();
    data[2].write_all(&[0; 3_000]).unwrap();
    let broken = data.remove(1);
    socket2::SockRef::from(&broken).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    drop(broken);
    visitor.signal(Signal::TestEnd);
    drop(data);
    visitor.hear(Signal::ExchangeResults);
    visitor.say_blob(&results());
    visitor.hear_blob();
    visitor.hear(Signal::DisplayResults);
    visitor.signal(Signal::Done);
    let visited = partner.finished();
    let Outcome::Failed(failure) = visited.outcome else { panic!("a broken stream is a failure") };
    assert_eq!(failure.kind, FailureKind::Lost);
    assert!(failure.detail.starts_with("the data connection of stream 2 broke"), "{}", failure.detail);
    let received: Vec<_> = visited.measurement.unwrap().flows.iter().map(|flow| flow.received.unwrap().get()).collect();
    assert_eq!(received, [1_000, 0, 3_000]);
    partner.works();
}

#[test]
fn the_rest_of_an_amount_that_comes_after_the_word_of_the_end_is_counted() {
    let partner = Partner::patient_with_amounts();
    let (mut visitor, mut data) = Visitor::running(&partner, &with(&iperf3(), "num", 200_000.into()));
    data[0].write_all(&[0; 80_000]).unwrap();
    visitor.signal(Signal::TestEnd);
    // As over a long path: what the kernel still holds comes an RTT later.
    visitor.hears_nothing_for(Duration::from_millis(100));
    data[0].write_all(&[0; 120_000]).unwrap();
    visitor.hear(Signal::ExchangeResults);
    visitor.say_blob(&with(&results(), "streams", json!([stream_of(200_000)])));
    assert_eq!(visitor.hear_blob()["streams"][0]["bytes"], 200_000);
    visitor.hear(Signal::DisplayResults);
    visitor.signal(Signal::Done);
    assert_eq!(partner.finished().outcome, Outcome::Complete);
    partner.works();
}

#[test]
fn an_amount_that_never_comes_whole_is_not_waited_for() {
    let partner = Partner::start();
    let (mut visitor, mut data) = Visitor::running(&partner, &with(&iperf3(), "num", 200_000.into()));
    data[0].write_all(&[0; 80_000]).unwrap();
    visitor.signal(Signal::TestEnd);
    visitor.hear(Signal::ExchangeResults);
    visitor.say_blob(&with(&results(), "streams", json!([stream_of(80_000)])));
    assert_eq!(visitor.hear_blob()["streams"][0]["bytes"], 80_000);
    visitor.hear(Signal::DisplayResults);
    visitor.signal(Signal::Done);
    let measurement = partner.finished().measurement.unwrap();
    assert_eq!(measurement.totals[0].received.unwrap().get(), 80_000);
}

#[test]
fn a_first_datagram_that_is_repeated_opens_one_stream_and_is_answered() {
    let partner = Partner::start();
    let mut visitor = Visitor::admitted(&partner, &with(&with(&linerate(), "udp", true.into()), "len", 1_000.into()));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(partner.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    for _ in 0..5 {
        socket.send(b"9876").unwrap();
    }
    let mut answer = [0; 16];
    assert_eq!(socket.recv(&mut answer).unwrap(), 4);
    assert_eq!(&answer[..4], b"6789");
    visitor.hear(Signal::TestStart);
    visitor.hear(Signal::TestRunning);
    visitor.signal(Signal::ClientTerminate);
    assert_eq!(partner.failure().kind, FailureKind::Lost);
    partner.works();
}

#[test]
fn datagrams_that_are_not_of_the_test_are_not_counted() {
    let partner = Partner::start();
    let mut visitor = Visitor::admitted(&partner, &with(&with(&iperf3(), "udp", true.into()), "len", 100.into()));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(partner.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.send(b"9876").unwrap();
    socket.recv(&mut [0; 16]).unwrap();
    visitor.hear(Signal::TestStart);
    visitor.hear(Signal::TestRunning);
    let mut datagram = [0; 100];
    for number in [1_u32, 2, 2, 4] {
        datagram[8..12].copy_from_slice(&number.to_be_bytes());
        socket.send(&datagram).unwrap();
    }
    // Too short for a number, a number of zero, and a greeting that came late.
    for stray in [&[7; 3][..], &[0; 100], b"9876"] {
        socket.send(stray).unwrap();
    }
    visitor.signal(Signal::TestEnd);
    visitor.hear(Signal::ExchangeResults);
    visitor.say_blob(&results());
    let theirs = visitor.hear_blob();
    let stream = &theirs["streams"][0];
    assert_eq!((&stream["packets"], &stream["errors"]), (&json!(4), &json!(1)), "3 was lost");
    assert_eq!(stream["bytes"], json!(400), "the duplicate moved bytes too");
    visitor.hear(Signal::DisplayResults);
    visitor.signal(Signal::Done);
    partner.finished();
    partner.works();
}
