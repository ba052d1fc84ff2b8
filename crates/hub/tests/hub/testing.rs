//! Tests from browsers: who may, one at a time, and what is kept of them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hub::agent::connection::Call;
use hub::api::Nothing;
use hub::server::directory::Settings;
use hub::store::rows::RecordQuery;
use hub::trust::pin;
use hub::trust::token::{Purpose, Token};
use rustls::{ClientConnection, StreamOwned};
use serde_json::{Value, json};
use units::WallTime;

use crate::backing;
use crate::running::{Running, settings};

type Tls = StreamOwned<ClientConnection, TcpStream>;

/// Asks for a test with these headers beside those of any WebSocket; the connection and the head of the answer.
fn ask(hub: &Running, target: &str, headers: &[&str]) -> (Tls, String) {
    let socket = TcpStream::connect(hub.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let tls = pin::bearer(hub.hub.authority.fingerprint()).unwrap();
    let mut stream = StreamOwned::new(ClientConnection::new(tls, "127.0.0.1".try_into().unwrap()).unwrap(), socket);
    let own: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let text = format!(
        "GET {target} HTTP/1.1\r\nhost: {}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{own}\r\n",
        hub.address
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    (stream, String::from_utf8(head).unwrap())
}

fn status(hub: &Running, target: &str, headers: &[&str]) -> u16 {
    let (_, head) = ask(hub, target, headers);
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

fn info(hub: &Running, shown: &Token) -> Value {
    let call = Call { method: "GET", path: "/api/v1/testing", patience: Duration::from_secs(60) };
    hub.person(shown).call(&call, &Nothing {}).unwrap()
}

/// A close frame of a client that is cancelled (RFC 6455, section 5.5.1), masked by zeros.
const CANCELLED: &[u8] = &[0x88, 0x82, 0, 0, 0, 0, 0x0f, 0xa0];
/// Each is a connection of its own, so all of them take many seconds.
const LOOKS: usize = 5_000;
const NDT7: &str = "sec-websocket-protocol: net.measurementlab.ndt.v7";
const DOWNLOAD: &str = "/ndt/v7/download";

#[test]
fn only_who_may_look_may_test_and_only_by_a_page_of_this_hub() {
    let hub = Running::start();
    let token = format!("authorization: Bearer {}", hub.token(Purpose::View).reveal());
    assert_eq!(status(&hub, DOWNLOAD, &[NDT7]), 403);
    assert_eq!(status(&hub, DOWNLOAD, &[NDT7, "origin: https://elsewhere.example"]), 401);
    let joining = format!("authorization: Bearer {}", hub.token(Purpose::Join).reveal());
    assert_eq!(status(&hub, DOWNLOAD, &[NDT7, &joining]), 403);
    assert_eq!(status(&hub, DOWNLOAD, &[&token]), 400, "the sub-protocol is missing");
    assert_eq!(status(&hub, "/ndt/v7/download?expect=fast", &[NDT7, &token]), 400);
    assert_eq!(status(&hub, "/ndt/v7/sideways", &[NDT7, &token]), 404);
    assert_eq!(status(&hub, DOWNLOAD, &["sec-websocket-protocol: chat", &token]), 400);
    let cookie = crate::people::signed_in(&hub, "ada");
    let cookie = format!("cookie: {cookie}");
    assert_eq!(status(&hub, DOWNLOAD, &[NDT7, &cookie, "origin: https://elsewhere.example"]), 403);
    assert_eq!(status(&hub, DOWNLOAD, &[NDT7, &cookie, "sec-fetch-site: cross-site"]), 403);
    let own = format!("origin: https://{}", hub.address);
    assert_eq!(status(&hub, DOWNLOAD, &[NDT7, &cookie, &own]), 101);
}

#[test]
fn a_test_is_conducted_one_at_a_time_and_kept_with_what_ended_it_early() {
    let hub = Running::start();
    let shown = hub.token(Purpose::View);
    let token = format!("authorization: Bearer {}", shown.reveal());
    let (mut stream, head) = ask(&hub, "/ndt/v7/download?expect=1Gbit/s", &[NDT7, &token]);
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    // RFC 6455, section 1.3.
    assert!(head.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
    assert!(head.contains(NDT7), "{head}");
    let mut payload = vec![0; 1 << 20];
    stream.read_exact(&mut payload).unwrap();
    let info = |hub: &Running| info(hub, &shown);
    assert_eq!(info(&hub)["state"], "busy");
    assert_eq!(status(&hub, "/ndt/v7/upload", &[NDT7, &token]), 503);
    stream.write_all(CANCELLED).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    drop(stream);
    // What is stored is there once the connection has ended, but for the moment that storing takes.
    let mut looks = std::iter::repeat_with(|| info(&hub)["tests"].clone()).take(LOOKS);
    let tests = looks.find(|tests| tests[0].is_object()).unwrap();
    assert_eq!(tests.as_array().unwrap().len(), 1);
    assert_eq!(tests[0]["direction"], "reverse");
    assert!(tests[0]["failure"].as_str().unwrap().contains("4000"), "{tests}");
    assert!(tests[0]["goodput_bps"].as_u64() > Some(0), "{tests}");
    let all = RecordQuery { kind: "result", agent: None, since: WallTime::default(), most: 10 };
    let records = hub.hub.store.newest(all).unwrap();
    assert_eq!(records.len(), 1);
    assert!(records[0].agent.starts_with("browser/token ") && records[0].samples.is_some());
    let result: hub::api::record::RunResult = hub::api::record::content(&records[0].content).unwrap();
    let model::played::Finding::Run(run) = result.finding else { panic!("no run") };
    assert_eq!((json!(run.id), run.declared_line_rate.unwrap().bps()), (tests[0]["run"].clone(), 1_000_000_000));
    // Nothing of the plan is judged by it, and nobody complains that it cannot be.
    let judged = hub.hub.watching.judge(hub.hub.store.as_ref(), None, hub.hub.now()).unwrap();
    assert_eq!(judged.unreadable, Vec::<String>::new());
    assert!(!hub.log().contains("cannot be read"), "{}", hub.log());
    assert_eq!(info(&hub)["state"], "free");
}

#[test]
fn a_hub_whose_settings_forbid_it_says_so() {
    let mut off = Settings { browser_tests: false, ..settings() };
    backing::prepare(&mut off);
    let hub = Running::of(&off);
    let shown = hub.token(Purpose::View);
    let token = format!("authorization: Bearer {}", shown.reveal());
    assert_eq!(status(&hub, DOWNLOAD, &[NDT7, &token]), 409);
    assert_eq!(info(&hub, &shown), json!({ "state": "off", "tests": [] }));
    let text = std::fs::read_to_string(hub.directory.path().join("hub.toml")).unwrap();
    assert!(text.contains("browser_tests = false"), "{text}");
}
