//! Whoever is not who it says, or asks for too much, is refused and counted; whoever is slow is cut off.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hub::agent::connection::{Call, CallError, Connection};
use hub::api::Nothing;
use hub::api::people::AgentList;
use hub::api::record::{Delivery, Receipt};
use hub::server::counters::Event;
use hub::server::directory::ConnectionLimits;
use hub::trust::authority::{AgentKey, AgentRequest, Authority, new_key};
use hub::trust::pin::{self, Identity};
use hub::trust::token::Purpose;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use rustls::{ClientConnection, StreamOwned};
use tempfile::TempDir;

use crate::running::Running;

const PATIENCE: Duration = Duration::from_secs(60);
const AGENTS: Call<'_> = Call { method: "GET", path: "/api/v1/agents", patience: PATIENCE };
const RECORDS: Call<'_> = Call { method: "POST", path: "/api/v1/agent/records", patience: PATIENCE };

fn refused(answered: Result<Receipt, CallError>) -> u16 {
    match answered.unwrap_err() {
        CallError::Refused { status, .. } => status,
        other => panic!("{other:?}"),
    }
}

/// Waits until so many have been counted: the other end of a connection may know of its end first.
fn counted(hub: &Running, event: Event, least: u64) {
    let end = Instant::now() + PATIENCE;
    while hub.hub.counters.get(event) < least {
        assert!(Instant::now() < end, "{event:?}: {} of {least}", hub.hub.counters.get(event));
        std::thread::yield_now();
    }
}

/// A certificate for `dtn-1` by this authority.
fn certificate(authority: &Authority) -> Identity {
    let document = new_key().unwrap().serialize_der();
    let rng = SystemRandom::new();
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &document, &rng).unwrap();
    let proof = key.sign(&rng, b"mine").unwrap();
    let request = AgentRequest {
        name: "dtn-1",
        key: AgentKey(key.public_key().as_ref()),
        statement: b"mine",
        proof: proof.as_ref(),
        serial: [9; 16],
    };
    Identity { certificate: authority.certify_agent(&request).unwrap(), key: document }
}

#[test]
fn certificate_of_another_authority_ends_the_handshake() {
    let hub = Running::start();
    let identity = certificate(&Authority::create().unwrap());
    let tls = pin::agent(identity, hub.hub.authority.certificate()).unwrap();
    let answered = Connection::new(hub.url(), tls).call::<Receipt>(&RECORDS, &Delivery::default());
    assert!(matches!(answered, Err(CallError::Unreachable { .. })), "{answered:?}");
    counted(&hub, Event::HandshakeFailed, 1);
}

#[test]
fn certificate_that_the_database_does_not_know_opens_nothing() {
    let hub = Running::start();
    let identity = certificate(&hub.hub.authority);
    let tls = pin::agent(identity, hub.hub.authority.certificate()).unwrap();
    let answered = Connection::new(hub.url(), tls).call(&RECORDS, &Delivery::default());
    assert_eq!(refused(answered), 403);
}

#[test]
fn nobody_gets_what_needs_a_token_or_a_certificate() {
    let hub = Running::start();
    let tls = pin::bearer(hub.hub.authority.fingerprint()).unwrap();
    let mut nobody = Connection::new(hub.url(), Arc::clone(&tls));
    let answered = nobody.call::<AgentList>(&AGENTS, &Nothing {});
    assert!(matches!(answered, Err(CallError::Refused { status: 403, .. })), "{answered:?}");
    assert_eq!(refused(nobody.call(&RECORDS, &Delivery::default())), 413);
    let made_up = Connection::new(hub.url(), tls).with_token("lr1_operate_nonsense".to_owned());
    let mut made_up = made_up;
    let answered = made_up.call::<AgentList>(&AGENTS, &Nothing {});
    assert!(matches!(answered, Err(CallError::Refused { status: 403, .. })), "{answered:?}");
    let joiner = hub.token(Purpose::Join);
    let answered = hub.person(&joiner).call::<AgentList>(&AGENTS, &Nothing {});
    assert!(matches!(answered, Err(CallError::Refused { status: 403, .. })), "{answered:?}");
    counted(&hub, Event::RequestForbidden, 3);
}

#[test]
fn oversized_body_is_refused_without_being_read() {
    let hub = Running::start();
    let call = Call { method: "POST", path: "/api/v1/join", patience: PATIENCE };
    let answered = hub.person(&hub.token(Purpose::Join)).exchange(&call, &vec![b' '; 1 << 20]);
    // The hub answers and closes before all was sent: which of the two the sender sees first is the network's to say.
    match answered.unwrap_err() {
        CallError::Refused { status, .. } => assert_eq!(status, 413),
        CallError::Unreachable { .. } => {}
        other @ CallError::Foreign(_) => panic!("{other:?}"),
    }
    counted(&hub, Event::RequestRefused, 1);
}

/// Whether the other end has closed, or does so within a minute.
fn is_closed(stream: &mut impl Read) -> bool {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}

fn socket(hub: &Running) -> TcpStream {
    let socket = TcpStream::connect(hub.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

#[test]
fn whoever_is_slow_is_cut_off() {
    let limits = ConnectionLimits { handshake_s: 5, head_s: 2, body_s: 2, ..ConnectionLimits::default() };
    let hub = Running::with(limits);
    // No handshake.
    assert!(is_closed(&mut socket(&hub)));
    // A head that does not end, one that never begins, a body that does not come.
    let body = "POST /api/v1/join HTTP/1.1\r\nhost: h\r\nauthorization: Bearer x\r\ncontent-length: 100\r\n\r\n";
    for said in ["GET /health HTTP/1.1\r\nhost: h\r\n", "", body] {
        let tls = pin::bearer(hub.hub.authority.fingerprint()).unwrap();
        let name = "127.0.0.1".try_into().unwrap();
        let mut stream = StreamOwned::new(ClientConnection::new(tls, name).unwrap(), socket(&hub));
        stream.write_all(said.as_bytes()).unwrap();
        stream.flush().unwrap();
        assert!(is_closed(&mut stream), "{said:?}");
    }
}

#[test]
fn idle_connections_beyond_the_limit_are_closed_at_once_and_leave_their_places_when_they_end() {
    let limits = ConnectionLimits { connections: 50, per_address: 40, handshake_s: 600, ..ConnectionLimits::default() };
    let hub = Running::with(limits);
    let home = TempDir::new().unwrap();
    hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)).unwrap();
    let mut idle: Vec<TcpStream> = (0..400).map(|_| socket(&hub)).collect();
    // Whoever has joined may still have had a place among the first ones, and left it to a later one.
    let open = idle[40..].iter_mut().map(is_closed).filter(|closed| !closed).count();
    assert!(open <= 1, "{open} beyond the limit");
    counted(&hub, Event::ConnectionRefused, 360);
    let before = hub.hub.counters.get(Event::HandshakeFailed);
    drop(idle);
    counted(&hub, Event::HandshakeFailed, before + 39);
    let receipt: Receipt = hub.agent(home.path()).call(&RECORDS, &Delivery::default()).unwrap();
    assert_eq!(receipt, Receipt::default());
}

#[test]
fn agent_of_another_time_is_told_so() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)).unwrap();
    let opened = hub::agent::directory::Directory::at(home.path()).open().unwrap();
    let tls = pin::agent(opened.identity, &opened.authority).unwrap();
    let name = "127.0.0.1".try_into().unwrap();
    let mut stream = StreamOwned::new(ClientConnection::new(tls, name).unwrap(), socket(&hub));
    stream
        .write_all(
            b"POST /api/v1/agent/records HTTP/1.1\r\nhost: h\r\nlinerate-version: 7.0.0\r\nconnection: close\r\n\
              content-length: 2\r\n\r\n{}",
        )
        .unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 426 ") && answer.contains("more than one minor version apart"), "{answer}");
}
