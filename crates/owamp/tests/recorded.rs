//! Bytes that owampd, owping and twping 5.2.3 exchanged on loopback, recorded octet by octet: read, and written again.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use std::time::Duration;

use owamp::control::command::{Command, StartAck};
use owamp::control::fetch::{FetchAck, FetchSession, Finished, emit_body};
use owamp::control::greeting::{Greeting, Modes, ServerStart, SetUpResponse};
use owamp::control::request::{AcceptSession, ServerRole, SessionRequest};
use owamp::control::{Accept, Protocol, Reading};
use owamp::estimate::ErrorEstimate;
use owamp::one_way::{SentPackets, summarise};
use owamp::packet::{ReflectedPacket, SenderPacket};
use owamp::record::PacketRecord;
use owamp::schedule::Slot;
use owamp::session::SessionId;

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

fn command(text: &str, protocol: Protocol) -> Command {
    let octets = octets(text);
    match Command::parse(&octets, protocol).unwrap() {
        Reading::Whole { message, length } => {
            assert_eq!(length, octets.len());
            assert_eq!(message.emit(), octets, "what was read is what is written");
            message
        }
        Reading::Needs(more) => panic!("{more} octets are needed, {} are there", octets.len()),
    }
}

const SESSION: &str = "7f000001eeadd5f5a41b97352b108304";
const REQUEST: &str = "01040001 00000001 00000002 25ed0000 7f000001 0*12 7f000001 0*12 0*16 00000000 \
    eeadd5f69c2e9899 0000000100000000 00000000 0*24 01000000 00000000 00000000 051eb851 0*16";
const RECORDS: &str = "00000000 0001 0001 eeadd5f6a154c985 eeadd5f6a159c497 ff \
    00000001 0001 0001 eeadd5f6a673b42c eeadd5f6a6780778 ff";

#[test]
fn the_greeting_offers_open_mode_and_the_client_takes_it() {
    let text = "0*12 00000001 22ba35b76a52f1b8721c3c5518ed9967 ef8879d092de9b1ce6518e922276bc3c 00000800 0*12";
    let greeting = Greeting::parse(&array(text));
    assert_eq!((greeting.modes.has_open(), greeting.count), (true, 2_048));
    assert_eq!(greeting.emit(), array(text));
    let chosen = array("00000001 0*160");
    assert_eq!(SetUpResponse::parse(&chosen), SetUpResponse { mode: Modes::OPEN });
    assert_eq!(SetUpResponse { mode: Modes::OPEN }.emit(), chosen);
    let start = array("0*32 eeadd5f48e4f765f 0*8");
    let read = ServerStart::parse(&start);
    assert_eq!((read.accept, read.started.bits(), read.emit()), (Accept::Ok, 0xeead_d5f4_8e4f_765f, start));
}

#[test]
fn owping_asks_the_server_to_receive_two_packets_of_20_ms() {
    let Command::Request(request) = command(REQUEST, Protocol::Owamp) else { panic!() };
    assert_eq!((request.role, request.packets, request.sender.port), (ServerRole::Receiver, 2, 9_709));
    assert_eq!(request.receiver.address.to_string(), "127.0.0.1");
    assert_eq!(request.timeout.to_duration(), Duration::from_secs(1));
    let [Slot::Fixed(wait)] = request.slots[..] else { panic!("{request:?}") };
    assert_eq!(wait.to_duration(), Duration::from_millis(20));
    let text = format!("0000268f {SESSION} 0*28");
    let accepted = AcceptSession::parse(&array(&text));
    assert_eq!((accepted.accept, accepted.port), (Accept::Ok, 9_871));
    assert_eq!(accepted.emit(), array(&text));
}

#[test]
fn sessions_begin_and_end_with_what_was_sent() {
    assert_eq!(command("02 0*31", Protocol::Owamp), Command::Start);
    assert_eq!(StartAck::parse(&array("0*32")).accept, Accept::Ok);
    let Command::Stop(stop) = command("03 0*31", Protocol::Owamp) else { panic!() };
    assert!(stop.sent.is_empty(), "the receiver has sent in no session");
    let text = format!("03000000 00000001 0*8 {SESSION} 00000002 00000000 0*8 0*16");
    let Command::Stop(stop) = command(&text, Protocol::Owamp) else { panic!() };
    assert_eq!((stop.sent.len(), stop.sent[0].next_sequence), (1, 2));
    assert_eq!(stop.sent[0].session, SessionId(array(SESSION)));
}

#[test]
fn the_answer_to_a_fetch_has_the_request_and_both_records() {
    let text = format!("04 0*7 00000000 ffffffff {SESSION} 0*16");
    let fetch = Command::Fetch(FetchSession::all(SessionId(array(SESSION))));
    assert_eq!(command(&text, Protocol::Owamp), fetch);
    let head = array("00010000 00000002 00000000 00000002 0*16");
    let ack = FetchAck::parse(&head).unwrap();
    assert_eq!((ack.finished, ack.next_sequence, ack.records, ack.emit()), (Finished::Yes, 2, 2, head));

    // The request comes back with the receiver's port and the name of the session.
    let request = REQUEST.replace("25ed0000", "25ed268f").replacen("0*16", SESSION, 1);
    let answer = octets(&format!("{request} 0*16 {RECORDS} 0*14 0*16"));
    assert_eq!(answer.len(), 240);
    let length = SessionRequest::length(answer.first_chunk().unwrap()).unwrap();
    let echoed = SessionRequest::parse(&answer[..length]).unwrap();
    assert_eq!((echoed.receiver.port, echoed.session), (9_871, SessionId(array(SESSION))));
    let body = &answer[length..];
    assert_eq!(body.len(), ack.skips_length() + ack.records_length());
    let records = ack.read_records(&body[ack.skips_length()..]);
    assert_eq!(emit_body(&[], &records), body);

    let result = summarise(SentPackets { next_sequence: 2, skipped: &[] }, &records);
    assert_eq!((result.packets.sent.get(), result.packets.lost.get()), (2, 0));
    assert_eq!(result.hops[0].hops, 0);
    // 0x4fb12 and 0x4534c of 2^-32 s.
    assert_eq!(records.iter().map(PacketRecord::delay_ns).collect::<Vec<_>>(), [76_000, 66_000]);
    assert!(!result.clocks.bounds_delay(), "owampd calls this host's clock unsynchronised");
}

#[test]
fn test_packets_carry_number_time_and_error() {
    let packet = SenderPacket::parse(&octets("00000001eeadd5f6a673b42c0001")).unwrap();
    assert_eq!((packet.sequence, packet.sent.bits()), (1, 0xeead_d5f6_a673_b42c));
    assert_eq!(packet.error, ErrorEstimate::UNSYNCHRONISED);
    assert_eq!(packet.emit::<14>(), array("00000001eeadd5f6a673b42c0001"));
}

#[test]
fn a_packet_of_twping_comes_back_with_both_times() {
    let text = "00000000eeadd659544f1a1900010000eeadd659544ea4a800000000eeadd659544901d100010000ff";
    let packet = ReflectedPacket::parse(&octets(text)).unwrap();
    let sent = SenderPacket::parse(&octets("00000000eeadd659544901d10001 0*27")).unwrap();
    assert_eq!((packet.sender, packet.sender_ttl), (sent, 255));
    assert_eq!(packet.received.nanos_since(sent.sent), 85_999);
    assert_eq!(packet.sent.nanos_since(packet.received), 7_000);
    assert_eq!(packet.emit::<41>(), array(text));
}

#[test]
fn twamp_asks_without_schedule_and_ends_with_a_count() {
    let text = "05040000 00000000 00000000 46504950 7f000001 0*12 7f000001 0*12 0*16 0000001b \
        eeadd5f69c2e9899 0000000200000000 00000000 0*24";
    let Command::Request(request) = command(text, Protocol::Twamp) else { panic!() };
    assert_eq!((request.role, request.padding, request.slots.len()), (ServerRole::Reflector, 27, 0));
    let Command::Stop(stop) = command("03000000 00000001 0*24", Protocol::Twamp) else { panic!() };
    assert_eq!((stop.count, stop.sent.len()), (1, 0));
    assert!(Command::parse(&octets(REQUEST), Protocol::Twamp).is_err(), "a request of the other protocol");
}
