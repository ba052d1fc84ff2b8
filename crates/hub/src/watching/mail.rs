//! E-mail about incidents: by SMTP to a relay that `[mail]` of `hub.toml` names, encrypted unless the settings say otherwise.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lettre::message::header::{ContentType, To};
use lettre::message::{Mailbox, Mailboxes};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, CertificateStore, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{SmtpTransport, Transport as _};
use mesh::notify::{Message, Route, Target};
use serde::{Deserialize, Serialize};

use crate::trust::secret;

/// The relay that e-mail goes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailSettings {
    /// Host name or address of the relay.
    pub relay: String,
    /// Its port; 587, 465 or 25, by the encryption, where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// How the connection is encrypted.
    #[serde(default)]
    pub encryption: Encryption,
    /// Sender of all messages: `linerate@hub.example.net`.
    pub from: String,
    /// The account at the relay; none where it takes messages of this host without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// File with its password, relative to the directory, which nobody but its owner reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_file: Option<PathBuf>,
    /// File of the authorities that sign the relay's certificate, relative to the directory; those of the system where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

/// How a connection to a relay is encrypted. It never falls back to less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encryption {
    /// From the command STARTTLS on (RFC 3207).
    #[default]
    StartTls,
    /// From the first byte (RFC 8314).
    Tls,
    /// Not at all: a relay on this host.
    None,
}

impl Encryption {
    const fn port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

/// Sends e-mail.
#[derive(Debug)]
pub struct Mailer {
    from: Mailbox,
    transport: SmtpTransport,
}

impl Mailer {
    /// One that sends as these settings say; nothing is sent yet. `directory` is that of the hub.
    ///
    /// # Errors
    /// Where the sender is no address, a file cannot be read, or a password would be sent to another host without encryption.
    pub fn new(settings: &MailSettings, directory: &Path) -> io::Result<Self> {
        let MailSettings { relay, port, encryption, from, user, password_file, ca_file } = settings;
        let from: Mailbox = from.parse().map_err(|error| io::Error::other(format!("from = {from:?}: {error}")))?;
        let tls = match encryption {
            Encryption::None => Tls::None,
            Encryption::StartTls => Tls::Required(parameters(relay, ca_file.as_deref(), directory)?),
            Encryption::Tls => Tls::Wrapper(parameters(relay, ca_file.as_deref(), directory)?),
        };
        let mut builder = SmtpTransport::builder_dangerous(relay)
            .port(port.unwrap_or(encryption.port()))
            .tls(tls)
            .hello_name(ClientId::Domain(from.email.domain().to_owned()))
            .timeout(Some(PATIENCE));
        builder = match (user, password_file) {
            (Some(_), Some(_)) if *encryption == Encryption::None => {
                return Err(io::Error::other("a password is sent by starttls or tls alone"));
            }
            (Some(user), Some(file)) => {
                builder.credentials(Credentials::new(user.clone(), secret::text(&directory.join(file))?))
            }
            (None, None) => builder,
            _ => return Err(io::Error::other("user and password_file belong together")),
        };
        Ok(Self { from, transport: builder.build() })
    }

    /// Sends one message to the addresses of a target, which may be several with commas between them.
    ///
    /// # Errors
    /// Where the relay cannot be reached or trusted, does not take the message, or a target is no address.
    pub fn send(&self, to: &str, message: &Message) -> io::Result<()> {
        let key: String = message.key.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '-' }).collect();
        // A message that is sent again has the same name, by which whoever has both drops one.
        let id = format!("<{key}@{}>", self.from.email.domain());
        let built = lettre::Message::builder()
            .from(self.from.clone())
            .mailbox(To::from(addresses(to)?))
            .subject(message.subject.clone())
            .message_id(Some(id))
            .header(ContentType::TEXT_PLAIN)
            .body(message.text.clone())
            .map_err(io::Error::other)?;
        self.transport.send(&built).map(drop).map_err(io::Error::other)
    }
}

/// Whether each route that sends e-mail can: it needs addresses, and a relay.
///
/// # Errors
/// The first that cannot, with what it lacks.
pub fn check(routes: &[Route], mail: Option<&MailSettings>) -> Result<(), String> {
    for Route { name, target, .. } in routes {
        let Target::Email(to) = target else { continue };
        addresses(to).map_err(|error| format!("[[notify]] {name}: {error}"))?;
        if mail.is_none() {
            return Err(format!("[[notify]] {name}: e-mail needs [mail] with `relay` and `from`"));
        }
    }
    Ok(())
}

fn addresses(text: &str) -> io::Result<Mailboxes> {
    let wrong = |why: &dyn std::fmt::Display| io::Error::other(format!("email = {text:?}: {why}"));
    let found: Mailboxes = text.parse().map_err(|error: lettre::address::AddressError| wrong(&error))?;
    if found.iter().next().is_none() { Err(wrong(&"it names nobody")) } else { Ok(found) }
}

fn parameters(relay: &str, ca_file: Option<&Path>, directory: &Path) -> io::Result<TlsParameters> {
    let mut builder = TlsParameters::builder(relay.to_owned());
    if let Some(file) = ca_file {
        let found = Certificate::from_pem(&secret::read(&directory.join(file))?).map_err(io::Error::other)?;
        builder = builder.certificate_store(CertificateStore::None).add_root_certificate(found);
    }
    builder.build().map_err(io::Error::other)
}

/// How long a relay may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
