//! Tests over TLS, and certificates that are not taken.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use measure::ndt7::client::{Ndt7Request, run};
use measure::ndt7::spec;
use measure::ndt7::tls::{Ndt7Identity, Ndt7Trust};
use measure::stop::Stop;
use model::run::{FailureKind, Outcome};
use model::spec::Direction;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;

use super::LENGTH;
use super::server::Server;

/// A certificate for a name, and its key, as files.
struct Files {
    _folder: TempDir,
    certificate: PathBuf,
    key: PathBuf,
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

impl Files {
    fn of(name: &str) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
        let folder = TempDir::new().unwrap();
        let [certificate, key] = ["cert.pem", "key.pem"].map(|file| folder.path().join(file));
        std::fs::write(&certificate, pem("CERTIFICATE", cert.der())).unwrap();
        std::fs::write(&key, pem("PRIVATE KEY", &signing_key.serialize_der())).unwrap();
        Self { _folder: folder, certificate, key }
    }

    fn server(&self) -> Server {
        Server::showing(Some(Ndt7Identity::read(&self.certificate, &self.key).unwrap()))
    }
}

fn request(server: &Server, trusted: &Files, direction: Direction) -> Ndt7Request {
    let url = format!("wss://{}", server.address).parse().unwrap();
    let trust = Some(Ndt7Trust::read(&trusted.certificate).unwrap());
    Ndt7Request { url, spec: spec(direction, LENGTH), trust, length: LENGTH }
}

#[test]
fn both_directions_count_the_payload_and_not_what_encrypts_it() {
    let files = Files::of("127.0.0.1");
    let server = files.server();
    for direction in [Direction::Forward, Direction::Reverse] {
        let found = run(&request(&server, &files, direction), &Stop::default());
        assert_eq!(found.outcome, Outcome::Complete);
        let measurement = found.measurement.unwrap();
        assert_eq!(measurement.anomalies, Vec::<String>::new());
        let (ours, served) = (measurement.totals[0].clone(), server.finished());
        assert_eq!(served.outcome, Outcome::Complete);
        let theirs = served.measurement.unwrap().totals[0].clone();
        if direction == Direction::Forward {
            assert!(ours.sent.is_some() && ours.sent == ours.received && theirs.received == ours.sent, "{ours:?}");
        } else {
            assert!(ours.received.unwrap().get() > 0 && theirs.sent >= ours.received, "{ours:?} {theirs:?}");
        }
        let written = found.samples.streams.iter().find(|stream| stream.whose == model::measurement::Whose::Local);
        assert!(written.is_some_and(|stream| !stream.at_us.is_empty()));
    }
}

#[test]
fn a_certificate_for_another_name_or_of_another_authority_is_not_taken() {
    let (files, other) = (Files::of("127.0.0.1"), Files::of("127.0.0.1"));
    let elsewhere = Files::of("ndt.example.org");
    for (server, trusted) in [(files.server(), &other), (elsewhere.server(), &elsewhere)] {
        let found = run(&request(&server, trusted, Direction::Forward), &Stop::default());
        let Outcome::Failed(failure) = found.outcome else { panic!("it was taken") };
        assert!(failure.detail.contains("certificate"), "{}", failure.detail);
        assert_eq!(found.measurement, None);
    }
}

#[test]
fn who_speaks_no_tls_to_it_is_a_nuisance_and_the_next_test_runs() {
    let files = Files::of("127.0.0.1");
    let server = files.server();
    let mut stranger = TcpStream::connect(server.address).unwrap();
    stranger.write_all(b"GET /ndt/v7/download HTTP/1.1\r\n\r\n").unwrap();
    let said = server.nuisance();
    assert!(said.contains("no client of NDT7"), "{said}");
    let request = Ndt7Request { length: Duration::from_millis(100), ..request(&server, &files, Direction::Forward) };
    assert_eq!(run(&request, &Stop::default()).outcome, Outcome::Complete);
}

#[test]
fn a_plain_client_of_a_server_of_tls_is_told_that_it_is_no_websocket() {
    let files = Files::of("127.0.0.1");
    let server = files.server();
    let found = super::test(server.address, Direction::Forward, LENGTH);
    let Outcome::Failed(failure) = found.outcome else { panic!("it ran") };
    assert!(matches!(failure.kind, FailureKind::Protocol | FailureKind::Lost), "{failure:?}");
}

#[test]
fn a_key_of_another_certificate_and_files_that_hold_something_else_are_named() {
    let (files, other) = (Files::of("a"), Files::of("b"));
    let error = Ndt7Identity::read(&files.certificate, &other.key).unwrap_err().to_string();
    assert!(error.contains("key.pem"), "{error}");
    assert!(Ndt7Identity::read(&files.key, &files.key).is_err());
    let error = Ndt7Trust::read(&files.certificate.with_file_name("nonesuch")).unwrap_err().to_string();
    assert!(error.contains("nonesuch"), "{error}");
}
