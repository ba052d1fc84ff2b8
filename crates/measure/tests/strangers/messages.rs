//! Messages that are cut short, too long, of the wrong type, out of order, or no messages at all.

use model::run::FailureKind;
use serde_json::{Value, json};
use units::duration::show;
use wire::signal::Signal;

use crate::partner::{LITTLE, Partner};
use crate::visitor::{Visitor, iperf3, linerate, results, with};

#[test]
fn parameters_that_announce_too_much_are_refused_before_they_come() {
    let partner = Partner::start();
    for length in [8_193_u32, u32::MAX] {
        let mut visitor = Visitor::named(&partner);
        visitor.say(&length.to_be_bytes());
        let told =
            format!("the peer broke the protocol: the parameters announce {length} bytes, more than the limit of 8192");
        assert_eq!(partner.refusal(), told);
        visitor.hear_the_end();
    }
    partner.works();
}

#[test]
fn parameters_that_are_cut_short_are_given_up() {
    let partner = Partner::impatient();
    let mut visitor = Visitor::named(&partner);
    visitor.say(&[0, 0, 0, 100, b'{']);
    visitor.half_close();
    assert_eq!(partner.refusal(), "the peer closed the control connection");
    let mut visitor = Visitor::named(&partner);
    visitor.say(&[0, 0, 0, 100, b'{']);
    assert!(partner.refusal().starts_with(&format!("the peer said nothing for {}; waited for ", show(LITTLE))));
    visitor.hear_the_end();
    partner.works();
}

#[test]
fn parameters_that_are_none_are_named_with_their_place() {
    let partner = Partner::start();
    let cases: [(&[u8], &str); 7] = [
        (b"", "EOF while parsing a value at line 1 column 0"),
        (b"{]", "key must be a string at line 1 column 2"),
        (b"[1,2]", "expected an object"),
        (br#"{"tcp":true,"parallel":"many"}"#, "expected a whole number, found `\"many\"`"),
        (br#"{"tcp":true,"num":-1}"#, "expected a whole number, found `-1`"),
        (b"\xff\xfe\x00", "expected an object"),
        (b"{\xff}", "key must be a string at line 1 column 2"),
    ];
    for (bytes, told) in cases {
        let mut visitor = Visitor::named(&partner);
        visitor.say(&u32::try_from(bytes.len()).unwrap().to_be_bytes());
        visitor.say(bytes);
        let refusal = partner.refusal();
        assert!(refusal.starts_with("the peer broke the protocol: the parameters cannot be read: "), "{refusal}");
        assert!(refusal.contains(told), "{refusal}");
        visitor.hear_the_end();
    }
    partner.works();
}

#[test]
fn parameters_deeper_than_any_are_refused() {
    let partner = Partner::start();
    let mut visitor = Visitor::named(&partner);
    let deep = "[".repeat(8_000);
    visitor.say(&8_000_u32.to_be_bytes());
    visitor.say(deep.as_bytes());
    assert!(partner.refusal().starts_with("the peer broke the protocol: the parameters cannot be read"));
    partner.works();
}

#[test]
fn a_test_that_nobody_can_run_is_refused_in_the_clients_own_words() {
    let partner = Partner::start();
    let impossible = [("parallel", json!(129)), ("len", json!(2_000_000)), ("MSS", json!(1)), ("sctp", json!(true))];
    for (key, value) in impossible {
        let mut visitor = Visitor::named(&partner);
        visitor.say_blob(&with(&iperf3(), key, value.clone()));
        // IERECVPARAMS of iperf3's src/iperf_api.h, and no system error.
        assert_eq!(visitor.hear_the_end(), [0xfe, 0, 0, 0, 114, 0, 0, 0, 0], "{key}");
        partner.refusal();
        let mut visitor = Visitor::named(&partner);
        visitor.say_blob(&with(&linerate(), key, value));
        visitor.hear(Signal::Extension);
        let refused = visitor.hear_blob();
        assert_eq!((&refused["type"], &refused["kind"]), (&json!("refused"), &json!("unable")), "{key}");
        partner.refusal();
    }
    partner.works();
}

#[test]
fn a_version_without_anything_in_common_is_refused() {
    let partner = Partner::start();
    let mut visitor = Visitor::named(&partner);
    visitor.say_blob(&with(&iperf3(), "linerate", json!({"oldest": 7, "newest": 9})));
    visitor.hear(Signal::Extension);
    assert_eq!(visitor.hear_blob()["kind"], "version");
    assert!(partner.refusal().ends_with("the client speaks 7 to 9"));
    partner.works();
}

#[test]
fn a_newer_client_is_answered_in_the_version_that_both_speak() {
    let partner = Partner::start();
    let mut visitor = Visitor::named(&partner);
    visitor.say_blob(&with(&iperf3(), "linerate", json!({"oldest": 1, "newest": 9, "telepathy": true})));
    visitor.hear(Signal::Extension);
    let hello = visitor.hear_blob();
    assert_eq!((&hello["type"], &hello["version"]), (&json!("hello"), &json!(1)));
    visitor.reset();
    partner.failure();
    partner.works();
}

#[test]
fn signals_out_of_turn_end_the_test_with_their_names() {
    let partner = Partner::start();
    let cases: [(u8, &str); 4] = [
        (Signal::Done.byte(), "Done came where the end of the test was due"),
        (Signal::CreateStreams.byte(), "CreateStreams came where the end of the test was due"),
        (77, "control byte 0x4d has no meaning"),
        (0, "control byte 0x00 has no meaning"),
    ];
    for (byte, told) in cases {
        let (mut visitor, _data) = Visitor::running(&partner, &iperf3());
        visitor.say(&[byte]);
        let failure = partner.failure();
        assert_eq!(
            (failure.kind, failure.detail),
            (FailureKind::Protocol, format!("the peer broke the protocol: {told}"))
        );
        assert_eq!(visitor.hear_the_end(), [Signal::ServerTerminate.byte()]);
    }
    partner.works();
}

#[test]
fn the_end_before_any_data_connection_ends_the_visit() {
    let partner = Partner::start();
    let mut visitor = Visitor::admitted(&partner, &iperf3());
    visitor.signal(Signal::TestEnd);
    assert_eq!(partner.failure().kind, FailureKind::Lost);
    visitor.hear_the_end();
    partner.works();
}

#[test]
fn messages_of_the_extension_that_are_unknown_or_the_servers_own_are_skipped() {
    let partner = Partner::start();
    let (mut visitor, _data) = Visitor::running(&partner, &linerate());
    for message in [
        json!({"type": "astrology", "sign": 7}),
        json!({"type": "clock_reply", "seq": 1, "received_ns": 1, "sent_ns": 2}),
    ] {
        visitor.signal(Signal::Extension);
        visitor.say_blob(&message);
    }
    visitor.signal(Signal::Extension);
    visitor.say_blob(&json!({"type": "clock_request", "seq": 7}));
    visitor.hear(Signal::Extension);
    let reply = visitor.hear_blob();
    assert_eq!((&reply["type"], &reply["seq"]), (&json!("clock_reply"), &json!(7)));
    visitor.signal(Signal::ClientTerminate);
    assert_eq!(partner.failure().kind, FailureKind::Lost);
    partner.works();
}

#[test]
fn an_extension_message_that_announces_too_much_ends_the_test() {
    let partner = Partner::start();
    let (mut visitor, _data) = Visitor::running(&partner, &linerate());
    visitor.signal(Signal::Extension);
    visitor.say(&65_537_u32.to_be_bytes());
    let failure = partner.failure();
    assert_eq!(failure.kind, FailureKind::Protocol);
    assert!(failure.detail.contains("more than the limit of 65536"), "{}", failure.detail);
    partner.works();
}

/// Brings a visitor to the exchange of results, and has it say these bytes there.
fn results_said(partner: &Partner, say: impl FnOnce(&mut Visitor)) -> Visitor {
    let (mut visitor, data) = Visitor::running(partner, &iperf3());
    visitor.signal(Signal::TestEnd);
    drop(data);
    visitor.hear(Signal::ExchangeResults);
    say(&mut visitor);
    visitor
}

#[test]
fn results_that_are_none_or_lie_about_their_length_end_the_test() {
    let partner = Partner::impatient();
    results_said(&partner, |visitor| visitor.say(&u32::MAX.to_be_bytes()));
    assert!(partner.failure().detail.contains("the results announce 4294967295 bytes"));
    results_said(&partner, |visitor| visitor.say_blob(&json!({"streams": 7})));
    assert!(partner.failure().detail.contains("the results cannot be read"));
    // More than comes: the rest is waited for, not for ever.
    let _visitor = results_said(&partner, |visitor| visitor.say(&[0, 0, 16, 0, b'{']));
    let failure = partner.failure();
    assert!(failure.detail.contains("waited for the rest of a message"), "{}", failure.detail);
    partner.works();
}

#[test]
fn results_of_streams_that_never_were_are_no_harm() {
    let partner = Partner::start();
    let mut many = results();
    many["streams"] = Value::Array(vec![many["streams"][0].clone(); 5_000]);
    let mut none = results();
    none["streams"] = json!([]);
    let mut absurd = results();
    absurd["streams"][0]["bytes"] = json!(i64::MIN);
    absurd["streams"][0]["end_time"] = json!(1e300);
    absurd["streams"][0]["jitter"] = json!(-1e300);
    let finished = |results: &Value| {
        let mut visitor = results_said(&partner, |visitor| visitor.say_blob(results));
        visitor.hear_blob();
        visitor.hear(Signal::DisplayResults);
        visitor.signal(Signal::Done);
        partner.finished()
    };
    for results in [many, none] {
        assert_eq!(finished(&results).outcome, model::run::Outcome::Complete);
    }
    // What cannot be true is said, and not used.
    let doubted = finished(&absurd);
    let model::run::Outcome::Failed(failure) = doubted.outcome else { panic!("it was believed") };
    assert_eq!(failure.kind, model::run::FailureKind::Protocol);
    assert_eq!(failure.detail, "the peer claims -9223372036854775808 bytes on stream 1; its counts are not used");
    assert_eq!(doubted.measurement.unwrap().totals[0].sent, None);
    partner.works();
}

#[test]
fn junk_instead_of_a_name_is_a_name_and_then_no_parameters() {
    let partner = Partner::impatient();
    let mut browser = Visitor::silent(&partner);
    browser.say(b"GET / HTTP/1.1\r\nHost: dtn.example.org:5201\r\nAccept: */*\r\n\r\n");
    assert!(partner.refusal().starts_with("the peer broke the protocol: the parameters announce "));
    browser.hear_the_end();
    let mut short = Visitor::silent(&partner);
    short.say(b"quit\r\n");
    assert_eq!(partner.nuisance(), "did not say what it wants");
    short.hear_the_end();
    partner.works();
}

#[test]
fn a_trickle_of_a_message_ends() {
    let partner = Partner::impatient();
    let mut visitor = Visitor::named(&partner);
    visitor.say(&[0, 0, 32, 0]);
    // A byte whenever the partner would have lost its patience with silence.
    let told = std::thread::scope(|scope| {
        let stream = visitor.stream.try_clone().unwrap();
        scope.spawn(move || trickle(stream));
        partner.refusal()
    });
    assert!(told.contains("; waited for "), "{told}");
    partner.works();
}

/// Writes a byte at a time until the connection is closed by the other side.
fn trickle(mut stream: std::net::TcpStream) {
    use std::io::{Read, Write};
    stream.set_read_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
    loop {
        let closed = matches!(stream.read(&mut [0; 16]), Ok(0)) || stream.write_all(b" ").is_err();
        if closed {
            return;
        }
    }
}
