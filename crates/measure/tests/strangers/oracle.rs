//! A server that says what a script says, and what our client makes of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use measure::session::client::{self, Finished, Request};
use measure::stop::Stop;
use model::run::{Failure, FailureKind, Outcome};
use model::spec::{Limit, TestSpec};
use serde_json::json;
use wire::cookie::COOKIE_LEN;
use wire::inbox::write_blob;
use wire::signal::Signal;

use crate::partner::PATIENCE;

/// Runs a client against a server that does what `script` does with each of its connections, the control connection
/// first.
fn told(script: impl FnOnce(TcpStream, &TcpListener) + Send) -> Finished {
    told_of(1, script)
}

/// The same of a test with several streams.
fn told_of(streams: u16, script: impl FnOnce(TcpStream, &TcpListener) + Send) -> Finished {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let spec = TestSpec { limit: Limit::Time(Duration::from_millis(300)), streams, ..TestSpec::default() };
    let request =
        Request { host: "127.0.0.1".to_owned(), port, spec, queue_wait: Duration::from_secs(1), ticket: None };
    thread::scope(|scope| {
        scope.spawn(|| {
            let control = listener.accept().unwrap().0;
            control.set_read_timeout(Some(PATIENCE)).unwrap();
            script(control, &listener);
        });
        client::run(&request, &Stop::default(), &mut |_| ())
    })
}

#[track_caller]
fn failure(finished: &Finished) -> &Failure {
    match &finished.outcome {
        Outcome::Failed(failure) => failure,
        Outcome::Complete => panic!("the client was content"),
    }
}

/// Reads the name of the test and the parameters.
fn greet(control: &mut TcpStream) {
    control.read_exact(&mut [0; COOKIE_LEN]).unwrap();
    control.write_all(&[Signal::ParamExchange.byte()]).unwrap();
    let mut length = [0; 4];
    control.read_exact(&mut length).unwrap();
    control.read_exact(&mut vec![0; usize::try_from(u32::from_be_bytes(length)).unwrap()]).unwrap();
}

/// Brings the test to its running, and returns the data connection.
fn run(control: &mut TcpStream, listener: &TcpListener) -> TcpStream {
    greet(control);
    control.write_all(&[Signal::CreateStreams.byte()]).unwrap();
    let mut data = listener.accept().unwrap().0;
    data.read_exact(&mut [0; COOKIE_LEN]).unwrap();
    control.write_all(&[Signal::TestStart.byte(), Signal::TestRunning.byte()]).unwrap();
    data
}

/// Reads everything that comes.
fn read_all(mut data: TcpStream) {
    let _ = std::io::copy(&mut data, &mut std::io::sink());
}

/// The same beside the test; counts what it has read, which is what a receiver may claim.
fn read_counting(mut data: TcpStream) -> Arc<AtomicU64> {
    let count = Arc::<AtomicU64>::default();
    let counts = Arc::clone(&count);
    thread::spawn(move || {
        let mut buffer = vec![0; 256 << 10];
        while let Ok(read @ 1..) = data.read(&mut buffer) {
            counts.fetch_add(read as u64, Ordering::Relaxed);
        }
    });
    count
}

/// Reads until this signal has come, and its message after it.
fn await_signal(control: &mut TcpStream, signal: Signal) {
    let mut byte = [0];
    while byte[0] != signal.byte() {
        control.read_exact(&mut byte).unwrap();
    }
}

#[test]
fn junk_is_a_broken_protocol() {
    for junk in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\0\0\0\0", b"SSH-2.0-OpenSSH_9.6\r\n"] {
        let finished = told(|mut control, _| {
            let _ = control.write_all(junk);
            read_all(control);
        });
        assert_eq!(failure(&finished).kind, FailureKind::Protocol, "{:?}", failure(&finished));
    }
}

#[test]
fn signals_out_of_turn_are_a_broken_protocol() {
    let finished = told(|mut control, _| {
        greet(&mut control);
        control.write_all(&[Signal::DisplayResults.byte()]).unwrap();
        read_all(control);
    });
    assert_eq!(failure(&finished).kind, FailureKind::Protocol);
    assert!(failure(&finished).detail.contains("DisplayResults came where the request for streams was due"));
}

#[test]
fn a_server_that_closes_at_any_step_is_lost_and_what_was_measured_is_kept() {
    let at_once = told(|control, _| drop(control));
    assert_eq!(failure(&at_once).kind, FailureKind::Lost);
    assert!(at_once.measurement.is_none());
    let session = told(|mut control, _| greet(&mut control));
    assert_eq!(failure(&session).kind, FailureKind::Lost);
    let running = told(|mut control, listener| {
        let mut data = run(&mut control, listener);
        data.read_exact(&mut vec![0; 1 << 20]).unwrap();
    });
    assert_eq!(failure(&running).kind, FailureKind::Lost);
    let sent = running.measurement.as_ref().unwrap().totals[0].sent.unwrap();
    assert!(sent.get() >= 1 << 20, "a megabyte had gone: {sent}");
    let ended = told(|mut control, listener| {
        let data = run(&mut control, listener);
        thread::spawn(|| read_all(data));
        await_signal(&mut control, Signal::TestEnd);
    });
    assert_eq!(failure(&ended).kind, FailureKind::Lost);
    assert!(ended.measurement.is_some());
}

#[test]
fn a_stream_that_breaks_is_named_with_its_number_and_the_others_are_counted() {
    let finished = told_of(3, |mut control, listener| {
        greet(&mut control);
        control.write_all(&[Signal::CreateStreams.byte()]).unwrap();
        let mut data: Vec<TcpStream> = (0..3).map(|_| listener.accept().unwrap().0).collect();
        for stream in &mut data {
            stream.read_exact(&mut [0; COOKIE_LEN]).unwrap();
        }
        control.write_all(&[Signal::TestStart.byte(), Signal::TestRunning.byte()]).unwrap();
        let mut broken = data.remove(1);
        broken.read_exact(&mut [0; 1_000]).unwrap();
        socket2::SockRef::from(&broken).set_linger(Some(Duration::ZERO)).unwrap();
        drop(broken);
        let counts: Vec<_> = data.into_iter().map(read_counting).collect();
        await_signal(&mut control, Signal::TestEnd);
        let bytes = [counts[0].load(Ordering::Relaxed), 5, counts[1].load(Ordering::Relaxed)];
        let stream = |id: u32, index: usize| {
            let bytes = bytes[index];
            json!({"id": id, "bytes": bytes, "retransmits": -1, "jitter": 0, "errors": 0, "packets": 0})
        };
        let mut bytes = vec![Signal::ExchangeResults.byte()];
        let results = json!({
            "cpu_util_total": 1.0, "cpu_util_user": 0.5, "cpu_util_system": 0.5, "sender_has_retransmits": -1,
            "streams": [stream(1, 0), stream(3, 1), stream(4, 2)],
        });
        write_blob(&results, &mut bytes).unwrap();
        bytes.push(Signal::DisplayResults.byte());
        control.write_all(&bytes).unwrap();
        read_all(control);
    });
    assert_eq!(failure(&finished).kind, FailureKind::Lost);
    assert!(failure(&finished).detail.starts_with("the data connection of stream 2 broke: "), "{finished:?}");
    let flows = finished.measurement.unwrap().flows;
    let received: Vec<_> = flows.iter().map(|flow| flow.received.map(|bytes| bytes.get())).collect();
    assert!(
        received[1] == Some(5) && received.iter().all(|count| *count > Some(0)),
        "what the peer counted: {received:?}"
    );
    assert!(flows.iter().all(|flow| flow.sent.unwrap().get() > 0), "{flows:?}");
}

#[test]
fn a_server_that_is_busy_fails_or_gives_up_says_which() {
    let said = |bytes: Vec<u8>| {
        let finished = told(move |mut control, _| {
            greet(&mut control);
            control.write_all(&bytes).unwrap();
            read_all(control);
        });
        failure(&finished).clone()
    };
    assert_eq!(said(vec![0xff]).kind, FailureKind::Busy);
    let limit = said(vec![0xfe, 0, 0, 0, 27, 0, 0, 0, 0]);
    assert_eq!(limit.kind, FailureKind::Refused);
    assert!(limit.detail.contains("the total rate is over the server's limit"));
    assert_eq!(said(vec![0xfe, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]).kind, FailureKind::Refused);
    assert_eq!(said(vec![Signal::ServerTerminate.byte()]).kind, FailureKind::Lost);
}

#[test]
fn results_that_lie_are_refused_and_what_this_side_measured_is_kept() {
    for (bytes, kind, told_of) in [
        (u32::MAX.to_be_bytes().to_vec(), FailureKind::Protocol, "the results announce 4294967295 bytes"),
        (b"\0\0\0\x02{}".to_vec(), FailureKind::Protocol, "the results cannot be read"),
        (b"\0\0\0\x09{\"str".to_vec(), FailureKind::Lost, "the peer closed the control connection"),
    ] {
        let finished = told(|mut control, listener| {
            let data = run(&mut control, listener);
            thread::spawn(|| read_all(data));
            await_signal(&mut control, Signal::TestEnd);
            control.write_all(&[Signal::ExchangeResults.byte()]).unwrap();
            control.write_all(&bytes).unwrap();
            control.shutdown(std::net::Shutdown::Write).unwrap();
            read_all(control);
        });
        assert_eq!(failure(&finished).kind, kind, "{:?}", failure(&finished));
        assert!(failure(&finished).detail.contains(told_of), "{:?}", failure(&finished));
        assert!(finished.measurement.unwrap().totals[0].sent.unwrap().get() > 0);
    }
}

#[test]
fn samples_that_are_none_are_an_anomaly_of_a_good_test() {
    let finished = told(|mut control, listener| {
        let data = run(&mut control, listener);
        let count = read_counting(data);
        await_signal(&mut control, Signal::TestEnd);
        let mut bytes = vec![Signal::ExchangeResults.byte()];
        let received = count.load(Ordering::Relaxed);
        let stream = json!({"id": 1, "bytes": received, "retransmits": -1, "jitter": 0, "errors": 0, "packets": 0});
        let results = json!({
            "cpu_util_total": 1.0, "cpu_util_user": 0.5, "cpu_util_system": 0.5, "sender_has_retransmits": -1,
            "streams": [stream], "linerate": {"samples": "bm8gc2FtcGxlcw=="},
        });
        write_blob(&results, &mut bytes).unwrap();
        bytes.push(Signal::DisplayResults.byte());
        control.write_all(&bytes).unwrap();
        read_all(control);
    });
    assert_eq!(finished.outcome, Outcome::Complete);
    let anomalies = finished.measurement.unwrap().anomalies;
    assert!(anomalies.iter().any(|odd| odd.starts_with("the peer's samples cannot be read: ")), "{anomalies:?}");
}

#[test]
fn a_server_that_stays_silent_is_given_up_after_its_turn() {
    let finished = told(|control, _| read_all(control));
    assert_eq!(failure(&finished).kind, FailureKind::Lost);
    let told = "the peer said nothing for 10.0 s; waited for its request for parameters";
    assert_eq!(failure(&finished).detail, told);
}

#[test]
fn a_queue_that_takes_longer_than_the_user_wants_to_wait_is_left() {
    let finished = told(|mut control, _| {
        greet(&mut control);
        let mut bytes = vec![Signal::Extension.byte()];
        write_blob(&json!({"type": "queued", "ahead": 3, "wait_ms": 9_000}), &mut bytes).unwrap();
        control.write_all(&bytes).unwrap();
        read_all(control);
    });
    assert_eq!(failure(&finished).kind, FailureKind::Busy);
    assert_eq!(failure(&finished).detail, "the peer's queue did not come to this test within 1.00 s");
}

#[test]
fn a_wish_to_stop_is_heard_while_a_server_is_silent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let request = Request {
        host: "127.0.0.1".to_owned(),
        port,
        spec: TestSpec::default(),
        queue_wait: Duration::from_secs(60),
        ticket: None,
    };
    let stop = Stop::default();
    let finished = thread::scope(|scope| {
        scope.spawn(|| {
            let mut control = listener.accept().unwrap().0;
            greet(&mut control);
            stop.stop();
            read_all(control);
        });
        client::run(&request, &stop, &mut |_| ())
    });
    assert_eq!(failure(&finished).kind, FailureKind::Interrupted);
}
