//! Clients that vanish or fall silent, at each step.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;

use model::run::FailureKind;
use units::duration::show;
use wire::signal::Signal;

use crate::partner::{LITTLE, Partner};
use crate::visitor::{Visitor, iperf3, linerate, results, with};

#[test]
fn a_connection_that_says_nothing_is_sent_away() {
    let partner = Partner::impatient();
    let mut visitor = Visitor::silent(&partner);
    assert_eq!(partner.nuisance(), "did not say what it wants");
    assert!(visitor.hear_the_end().is_empty());
    partner.works();
}

#[test]
fn a_client_that_is_reset_before_its_test_leaves_no_trace() {
    let partner = Partner::start();
    Visitor::silent(&partner).reset();
    Visitor::named(&partner).reset();
    partner.refusal();
    partner.works();
}

#[test]
fn a_client_that_is_reset_during_its_test_frees_the_path_at_once() {
    let partner = Partner::start();
    for params in
        [iperf3(), linerate(), with(&iperf3(), "reverse", true.into()), with(&linerate(), "bidirectional", true.into())]
    {
        Visitor::admitted(&partner, &params).reset();
        assert_eq!(partner.failure().kind, FailureKind::Lost);
        let (visitor, _data) = Visitor::running(&partner, &params);
        visitor.reset();
        let visited = partner.finished();
        assert!(visited.measurement.is_some(), "what was measured until then is kept");
        partner.works();
    }
}

#[test]
fn a_client_that_opens_no_data_connections_is_not_waited_for_for_ever() {
    let partner = Partner::impatient();
    let mut visitor = Visitor::admitted(&partner, &with(&iperf3(), "parallel", 3.into()));
    let _one = visitor.data();
    assert_eq!(partner.failure().detail, format!("1 of 3 data connections came within {}", show(LITTLE)));
    assert_eq!(visitor.hear_the_end(), [Signal::ServerTerminate.byte()]);
    partner.works();
}

#[test]
fn a_client_that_never_ends_its_test_is_ended() {
    let partner = Partner::impatient();
    let params = with(&with(&iperf3(), "num", 0.into()), "time", 1.into());
    let (mut visitor, _data) = Visitor::running(&partner, &params);
    let failure = partner.failure();
    assert_eq!(failure.detail, "the test was not over after 6.00 s, the longest that is allowed");
    assert_eq!(visitor.hear_the_end(), [Signal::ServerTerminate.byte()]);
    partner.works();
}

#[test]
fn a_client_that_says_no_results_is_not_waited_for_for_ever() {
    let partner = Partner::impatient();
    let (mut visitor, data) = Visitor::running(&partner, &iperf3());
    visitor.signal(Signal::TestEnd);
    visitor.hear(Signal::ExchangeResults);
    let told = format!("the peer said nothing for {}; waited for its results", show(2 * LITTLE));
    assert_eq!(partner.failure().detail, told);
    drop(data);
    partner.works();
}

#[test]
fn a_client_that_goes_once_it_has_all_results_was_there_to_the_end() {
    let partner = Partner::start();
    for goodbye in [Some(Signal::Done), Some(Signal::ClientTerminate), None] {
        let (mut visitor, data) = Visitor::running(&partner, &iperf3());
        visitor.signal(Signal::TestEnd);
        drop(data);
        visitor.hear(Signal::ExchangeResults);
        visitor.say_blob(&results());
        visitor.hear_blob();
        visitor.hear(Signal::DisplayResults);
        match goodbye {
            Some(signal) => visitor.signal(signal),
            None => visitor.reset(),
        }
        assert_eq!(partner.finished().outcome, model::run::Outcome::Complete, "{goodbye:?}");
    }
    partner.works();
}

#[test]
fn a_client_that_does_not_read_is_given_up() {
    let partner = Partner::impatient();
    let (visitor, _data) = Visitor::running(&partner, &linerate());
    // Questions whose answers nobody reads, until no more fit into the sockets.
    visitor.stream.set_nonblocking(true).unwrap();
    let mut question = vec![Signal::Extension.byte()];
    let message = serde_json::json!({"type": "clock_request", "seq": 1});
    wire::inbox::write_blob(&message, &mut question).unwrap();
    let questions = question.repeat(1_000);
    let failure = std::thread::scope(|scope| {
        scope.spawn(|| ask_without_listening(&visitor.stream, &questions));
        partner.failure()
    });
    assert_eq!(failure.kind, FailureKind::Lost);
    assert!(failure.detail.starts_with("the peer did not take "), "{}", failure.detail);
    partner.works();
}

/// Writes the questions over and over until the other side has closed.
fn ask_without_listening(mut stream: &TcpStream, questions: &[u8]) {
    let mut said = 0;
    loop {
        match stream.write(&questions[said % questions.len()..]) {
            Ok(written) => said += written,
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
            Err(_) => return,
        }
    }
}

#[test]
fn a_linerate_that_never_closes_its_data_connections_is_not_drained_for_ever() {
    let partner = Partner::impatient();
    let (mut visitor, _data) = Visitor::running(&partner, &linerate());
    visitor.signal(Signal::TestEnd);
    visitor.hear(Signal::ExchangeResults);
    visitor.say_blob(&results());
    let report = visitor.hear_blob();
    assert_eq!(report["linerate"]["flows"][0]["drained"], false);
    visitor.hear(Signal::DisplayResults);
    visitor.signal(Signal::Done);
    partner.finished();
    partner.works();
}
