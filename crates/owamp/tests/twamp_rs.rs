//! Octets that the examples of twamp-rs 0.2.0 (BSD-3-Clause, by other people) exchanged with `linerate probe twamp` and with
//! `linerate serve --twamp` on loopback, recorded: what they send is understood, and they took what we send.
//!
//! Its clock writes nanoseconds where RFC 4656 has fractions of 2^-32 s, so that its times are read as they are, and differences of
//! them are 0.23 of what passed. Numbers, lengths, ports and hops are right.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use owamp::control::command::{Command, StartAck};
use owamp::control::greeting::{Greeting, Modes, ServerStart, SetUpResponse};
use owamp::control::request::{AcceptSession, ServerRole};
use owamp::control::{Accept, Protocol, Reading};
use owamp::packet::{ReflectedPacket, SenderPacket};

/// Octets from text: pairs of hexadecimal digits, and `0*N` for N octets of zero.
fn octets(text: &str) -> Vec<u8> {
    let mut octets = Vec::new();
    for word in text.split_whitespace() {
        match word.strip_prefix("0*") {
            Some(count) => octets.resize(octets.len() + count.parse::<usize>().unwrap(), 0),
            None => {
                let digits = word.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
                octets.extend(digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()));
            }
        }
    }
    octets
}

fn array<const N: usize>(text: &str) -> [u8; N] {
    octets(text).try_into().unwrap_or_else(|octets: Vec<u8>| panic!("{} octets and not {N}", octets.len()))
}

fn command(text: &str) -> Command {
    match Command::parse(&octets(text), Protocol::Twamp).unwrap() {
        Reading::Whole { message, .. } => message,
        Reading::Needs(more) => panic!("{more} octets are needed"),
    }
}

#[test]
fn its_server_offers_open_mode_accepts_and_starts() {
    let greeting = "0*12 00000001 642614ae8b3467435e62411a18fade17 39057590604297b634558f7011241156 00000400 0*12";
    let greeting = Greeting::parse(&array(greeting));
    assert_eq!((greeting.modes.has_open(), greeting.count), (true, 1_024));
    // The initialisation vector is not zero here, though open mode has no use for one.
    let start = "0*16 3b16e86bca35e9fcf0fdde888c6d2237 83ac60c000000315 0*8";
    assert_eq!(ServerStart::parse(&array(start)).accept, Accept::Ok);
    // It leaves the name of the session empty.
    let accepted = AcceptSession::parse(&array("0000c9be 0*44"));
    assert_eq!((accepted.accept, accepted.port), (Accept::Ok, 51_646));
    assert_eq!(StartAck::parse(&array("0*32")).accept, Accept::Ok);
}

#[test]
fn its_reflector_returns_what_the_sender_wrote() {
    let sent = "00000001eeb4b392f30685b81d80 0*27";
    let reply = "00000001eeb4b39238db12e280010000eeb4b39238d6c99600000001eeb4b392f30685b81d800000ff";
    let sent = SenderPacket::parse(&octets(sent)).unwrap();
    let reply = ReflectedPacket::parse(&octets(reply)).unwrap();
    assert_eq!((reply.sequence, reply.sender, reply.sender_ttl), (1, sent, 255));
    assert_eq!(
        reply.emit::<41>(),
        array("00000001eeb4b39238db12e280010000eeb4b39238d6c99600000001eeb4b392f30685b81d800000ff")
    );
    // 280,908 ns between arrival and answer, written as so many 2^-32 s.
    assert_eq!(reply.sent.bits() - reply.received.bits(), 280_908);
    assert_eq!(reply.sent.nanos_since(reply.received), 65_403);
}

#[test]
fn its_client_asks_for_a_session_of_packets_without_padding() {
    assert_eq!(SetUpResponse::parse(&array("00000001 0*160")), SetUpResponse { mode: Modes::OPEN });
    let text = "05040000 0*8 b115035e 7f000001 0*12 7f000001 0*12 0*16 00000000 eeb4b39906c48d3c 0000000000000001 0*28";
    let Command::Request(request) = command(text) else { panic!("{text}") };
    assert_eq!((request.role, request.padding, request.slots.len()), (ServerRole::Reflector, 0, 0));
    assert_eq!((request.sender.port, request.receiver.port), (45_333, 862));
    assert_eq!(command("02 0*31"), Command::Start);
    let packet = SenderPacket::parse(&octets("00000001eeb4b39906d6577f8001")).unwrap();
    assert_eq!((packet.sequence, packet.sent.bits()), (1, 0xeeb4_b399_06d6_577f));
}

/// RFC 5357 has 32 octets there (section 3.8): the server waits for the rest, which the end of the connection says is not to come.
#[test]
fn its_client_ends_with_a_message_that_is_too_short() {
    let short = octets("03 0*19");
    let read = Command::parse(&short, Protocol::Twamp).unwrap();
    assert!(matches!(read, Reading::Needs(_)), "{read:?}");
}
