//! E-mail about incidents, to a relay that speaks SMTP (RFC 5321) as far as a message needs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hub::server::directory::{Directory, DirectoryError, Settings};
use hub::trust::{roots, secret};
use hub::watching::mail::{Encryption, MailSettings, Mailer};
use mesh::incident::{IncidentId, Status};
use mesh::notify::{Message, Route, Target};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

use crate::running::{Running, settings};
use crate::watching::Mesh;

const PATIENCE: Duration = Duration::from_secs(60);

/// What a relay took: the dialogue of one connection, each line of the client.
type Dialogue = Vec<String>;

/// A relay on loopback.
struct Relay {
    port: u16,
    dialogues: Receiver<Dialogue>,
    /// The directory of a hub that trusts it.
    place: TempDir,
}

impl Relay {
    /// One that refuses the first so many messages for a while.
    fn start(encryption: Encryption, busy: usize) -> Self {
        let place = TempDir::new().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        secret::write(&place.path().join("relay.pem"), roots::pem("CERTIFICATE", made.cert.der()).as_bytes()).unwrap();
        secret::write(&place.path().join("mail.password"), b"s3cret\n").unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = Arc::new(config.with_single_cert(vec![made.cert.der().clone()], key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, dialogues) = channel();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let taking = if number < busy { "451 4.3.2 try again later" } else { "250 2.0.0 taken" };
                if tell.send(converse(stream, encryption, &config, taking)).is_err() {
                    return;
                }
            }
        });
        Self { port, dialogues, place }
    }

    fn settings(&self, encryption: Encryption) -> MailSettings {
        let is_encrypted = encryption != Encryption::None;
        MailSettings {
            relay: "localhost".to_owned(),
            port: Some(self.port),
            encryption,
            from: "linerate <linerate@hub.example.net>".to_owned(),
            user: is_encrypted.then(|| "hub".to_owned()),
            password_file: is_encrypted.then(|| "mail.password".into()),
            ca_file: is_encrypted.then(|| "relay.pem".into()),
        }
    }

    fn dialogue(&self) -> Dialogue {
        self.dialogues.recv_timeout(PATIENCE).unwrap()
    }
}

/// One connection, from the greeting to its end.
fn converse(stream: TcpStream, encryption: Encryption, config: &Arc<ServerConfig>, taking: &str) -> Dialogue {
    let encrypted = |stream| StreamOwned::new(ServerConnection::new(Arc::clone(config)).unwrap(), stream);
    match encryption {
        Encryption::None => session(stream, &Phase { greets: true, starts_tls: false, taking }).0,
        Encryption::Tls => session(encrypted(stream), &Phase { greets: true, starts_tls: false, taking }).0,
        Encryption::StartTls => {
            let (mut said, stream) = session(stream, &Phase { greets: true, starts_tls: true, taking });
            if said.last().is_some_and(|line| line == "STARTTLS") {
                said.extend(session(encrypted(stream), &Phase { greets: false, starts_tls: false, taking }).0);
            }
            said
        }
    }
}

struct Phase<'a> {
    greets: bool,
    starts_tls: bool,
    taking: &'a str,
}

/// What a client says until it quits, hangs up or wants TLS.
fn session<S: Read + Write>(stream: S, phase: &Phase<'_>) -> (Dialogue, S) {
    let mut lines = BufReader::new(stream);
    let say =
        |lines: &mut BufReader<S>, text: &str| lines.get_mut().write_all(format!("{text}\r\n").as_bytes()).is_ok();
    let mut said = Dialogue::new();
    if phase.greets {
        say(&mut lines, "220 relay.test ESMTP");
    }
    let mut is_content = false;
    loop {
        let mut line = String::new();
        // A client that does not trust the certificate hangs up.
        if lines.read_line(&mut line).unwrap_or(0) == 0 {
            return (said, lines.into_inner());
        }
        let line = line.trim_end().to_owned();
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        said.push(line.clone());
        if is_content {
            if line == "." {
                is_content = false;
                say(&mut lines, "250 2.0.0 taken");
            }
            continue;
        }
        let offers =
            if phase.starts_tls { "250-relay.test\r\n250 STARTTLS" } else { "250-relay.test\r\n250 AUTH PLAIN" };
        let answer = match verb.as_str() {
            "EHLO" => offers,
            "AUTH" => "235 2.7.0 welcome",
            "MAIL" => phase.taking,
            "DATA" => "354 go on",
            "STARTTLS" | "QUIT" => "220 2.0.0 well",
            _ => "250 2.0.0 well",
        };
        say(&mut lines, answer);
        is_content = verb == "DATA";
        if verb == "STARTTLS" || verb == "QUIT" {
            return (said, lines.into_inner());
        }
    }
}

fn message() -> Message {
    Message {
        route: "noc".to_owned(),
        key: "I1-2/noc/open-0".to_owned(),
        incident: IncidentId("I1-2".to_owned()),
        status: Status::Open,
        subject: "open: host b: goodput -84 %".to_owned(),
        text: "since yesterday\n- host b: goodput -84 %".to_owned(),
    }
}

#[test]
fn a_message_is_sent_with_each_encryption_and_no_password_is_read_along() {
    for encryption in [Encryption::StartTls, Encryption::Tls, Encryption::None] {
        let relay = Relay::start(encryption, 0);
        let mailer = Mailer::new(&relay.settings(encryption), relay.place.path()).unwrap();
        mailer.send("noc@example.org, Ada <ada@example.org>", &message()).unwrap();
        let said = relay.dialogue();
        let place = |wanted: &str| said.iter().position(|line| line.starts_with(wanted));
        for wanted in [
            "MAIL FROM:<linerate@hub.example.net>",
            "RCPT TO:<noc@example.org>",
            "RCPT TO:<ada@example.org>",
            "Subject: open: host b: goodput -84 %",
            "Message-ID: <I1-2-noc-open-0@hub.example.net>",
            "- host b: goodput -84 %",
        ] {
            assert!(place(wanted).is_some(), "{encryption:?}: {wanted}: {said:#?}");
        }
        let password = BASE64.encode("\0hub\0s3cret");
        let login = said.iter().position(|line| line.contains(&password));
        assert_eq!(login.is_some(), encryption != Encryption::None, "{said:#?}");
        if encryption == Encryption::StartTls {
            assert!(place("STARTTLS") < login, "{said:#?}");
        }
    }
}

#[test]
fn a_relay_whose_certificate_nobody_signed_gets_nothing() {
    let relay = Relay::start(Encryption::StartTls, 0);
    let other = Relay::start(Encryption::StartTls, 0);
    let mailer = Mailer::new(&relay.settings(Encryption::StartTls), other.place.path()).unwrap();
    assert!(mailer.send("noc@example.org", &message()).is_err());
    let said = relay.dialogue();
    assert!(!said.iter().any(|line| line.starts_with("MAIL") || line.starts_with("AUTH")), "{said:#?}");
}

fn route(to: &str) -> Route {
    Route { name: "noc".to_owned(), target: Target::Email(to.to_owned()), hosts: Vec::new(), remind_after_s: None }
}

fn refusal(settings: &Settings, directory: &Path) -> String {
    let files = Directory::at(&directory.join("hub"));
    files.init(settings, None).unwrap();
    match files.open() {
        Err(error @ (DirectoryError::Settings { .. } | DirectoryError::Mail { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_that_cannot_send_are_refused_before_anything_happens() {
    let relay = Relay::start(Encryption::Tls, 0);
    let mail = relay.settings(Encryption::Tls);
    let open = MailSettings { encryption: Encryption::None, ..mail.clone() };
    let nobody = MailSettings { from: "nobody".to_owned(), ..relay.settings(Encryption::None) };
    for (notify, mail, why) in [
        (route("noc@example.org"), None, "needs [mail]"),
        (route("noc"), Some(mail), "email = \"noc\""),
        (route("noc@example.org"), Some(open), "a password is sent by starttls or tls alone"),
        (route("noc@example.org"), Some(nobody), "from = \"nobody\""),
    ] {
        let place = TempDir::new().unwrap();
        let said = refusal(&Settings { notify: vec![notify], mail, ..settings() }, place.path());
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_hub_tells_of_an_incident_by_mail_and_tries_again_where_the_relay_is_busy() {
    let relay = Relay::start(Encryption::StartTls, 1);
    let directory = TempDir::new().unwrap();
    for file in ["relay.pem", "mail.password"] {
        secret::write(&directory.path().join(file), &secret::read(&relay.place.path().join(file)).unwrap()).unwrap();
    }
    let mail = Some(relay.settings(Encryption::StartTls));
    let hub =
        Running::of_directory(&Settings { notify: vec![route("noc@example.org")], mail, ..settings() }, directory);
    let mut mesh = Mesh::of(hub);
    (0..14).for_each(|_| mesh.round("c", 0));
    (0..6).for_each(|_| mesh.round("c", 20_000));
    let refused = relay.dialogue();
    assert!(!refused.iter().any(|line| line == "DATA"), "{refused:#?}");
    let taken = relay.dialogue();
    let subject = taken.iter().find(|line| line.starts_with("Subject: ")).unwrap();
    assert!(subject.contains("open: host c"), "{subject}");
}
