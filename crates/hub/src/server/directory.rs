//! What `hub init` writes and `hub run` reads: settings that a person edits, the authority, keys, the database.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mesh::notify::Route;
use rustls::pki_types::CertificateDer;
use serde::{Deserialize, Serialize};

use crate::openid::provider::Provider;
use crate::openid::settings::OpenIdSettings;
use crate::trust::authority::{self, Authority, AuthorityError};
use crate::trust::pin::Identity;
use crate::trust::roots;
use crate::trust::secret;
use crate::trust::ticket::TicketKey;
use crate::watching::mail::{self, MailSettings, Mailer};

/// The directory of a hub.
#[derive(Debug, Clone)]
pub struct Directory(PathBuf);

/// What a person may set, in `hub.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where the hub listens.
    pub listen: SocketAddr,
    /// By which names and addresses it is reached; its certificate is for these.
    pub names: Vec<String>,
    /// Which tests it schedules: a plan (docs/formats/plan.md), relative to the directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PathBuf>,
    /// The PostgreSQL that it shares with other hubs; a file in its directory where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseUrl>,
    /// A file with that address, relative to the directory, which nobody but its owner reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_file: Option<PathBuf>,
    /// Limits on connections.
    #[serde(default)]
    pub limits: ConnectionLimits,
    /// Whether people may test from their browsers against this hub.
    #[serde(default = "permitted", skip_serializing_if = "std::clone::Clone::clone")]
    pub browser_tests: bool,
    /// How incidents are watched.
    #[serde(default)]
    pub incidents: IncidentSettings,
    /// The provider by which people sign in beside local accounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openid: Option<OpenIdSettings>,
    /// Where raw samples go as Parquet; they stay in the database alone where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<SegmentSettings>,
    /// Who is told of incidents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notify: Vec<Route>,
    /// The relay that takes e-mail about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail: Option<MailSettings>,
}

impl Settings {
    /// A hub that listens there under these names, without a plan and with all else as usual.
    #[must_use]
    pub fn new(listen: SocketAddr, names: Vec<String>) -> Self {
        Self {
            listen,
            names,
            plan: None,
            database: None,
            database_file: None,
            limits: ConnectionLimits::default(),
            browser_tests: permitted(),
            incidents: IncidentSettings::default(),
            openid: None,
            segments: None,
            notify: Vec::new(),
            mail: None,
        }
    }
}

const fn permitted() -> bool {
    true
}

/// The address of a PostgreSQL, which may have a password in it: no message and no log shows it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DatabaseUrl(pub String);

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DatabaseUrl(..)")
    }
}

/// How incidents are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IncidentSettings {
    /// How long a verified incident is watched before it is closed; 24 h where it is absent.
    #[serde(with = "span", skip_serializing_if = "Option::is_none")]
    pub watched_for: Option<Duration>,
    /// Without a good result for so long a series is stale; six periods of the plan, and 30 min at least, where it is absent.
    #[serde(with = "span", skip_serializing_if = "Option::is_none")]
    pub stale_after: Option<Duration>,
    /// How often agents deliver what transfers of their hosts reached; 10 min where it is absent, never where it is 0.
    #[serde(with = "span", skip_serializing_if = "Option::is_none")]
    pub transfers_every: Option<Duration>,
}

impl IncidentSettings {
    /// How often rates of transfers are wanted, if they are.
    #[must_use]
    pub fn transfers(&self) -> Option<Duration> {
        Some(self.transfers_every.unwrap_or(TRANSFERS_EVERY)).filter(|every| !every.is_zero())
    }
}

/// Three results in a row that are half of what is usual are an incident: half an hour.
const TRANSFERS_EVERY: Duration = Duration::from_secs(600);

/// Raw samples as Parquet segments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentSettings {
    /// A directory, or `s3://BUCKET/PREFIX`.
    pub to: String,
    /// A run waits for others of its segment at most so long; 25 h where it is absent.
    #[serde(default, with = "span", skip_serializing_if = "Option::is_none")]
    pub close_after: Option<Duration>,
    /// So many runs are a segment: 4,000 at most, and where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// Groups of pairs that have files of their own; 8 where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair_groups: Option<u16>,
    /// How long samples stay in the database as well; 2 days where it is absent, and four periods of the plan at least.
    #[serde(default, with = "span", skip_serializing_if = "Option::is_none")]
    pub keep: Option<Duration>,
}

impl SegmentSettings {
    /// Segments there, with all else as usual.
    #[must_use]
    pub const fn to(address: String) -> Self {
        Self { to: address, close_after: None, runs: None, pair_groups: None, keep: None }
    }
}

/// Times as people write them: `24h`.
mod span {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &Option<Duration>, out: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(time) => out.serialize_str(&units::duration::show(*time)),
            None => out.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(input)?;
        text.map(|text| units::duration::parse(&text).map_err(D::Error::custom)).transpose()
    }
}

/// Limits on connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectionLimits {
    /// At once.
    pub connections: usize,
    /// At once from one address.
    pub per_address: usize,
    /// Seconds until a TLS handshake is done.
    pub handshake_s: u64,
    /// Seconds until the head of a request has come, and for which a connection may be idle.
    pub head_s: u64,
    /// Seconds until the body of a request has come.
    pub body_s: u64,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { connections: 4096, per_address: 1024, handshake_s: 10, head_s: 30, body_s: 60 }
    }
}

/// Why a hub's directory cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// There is a hub already.
    #[error("{} has a hub already", .0.display())]
    Taken(PathBuf),
    /// A file cannot be written or read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// A key or certificate cannot be made or read.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The settings are wrong.
    #[error("{}: {error}", file.display())]
    Settings {
        /// Settings file that is not understood.
        file: PathBuf,
        /// What is wrong, with its line.
        error: String,
    },
    /// The provider of OpenID Connect cannot be used as it is set.
    #[error("[openid] of {} cannot be used: {error}", file.display())]
    OpenId {
        /// Settings file that names it.
        file: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// E-mail cannot be sent as it is set.
    #[error("[mail] of {} cannot be used: {error}", file.display())]
    Mail {
        /// Settings file that names the relay.
        file: PathBuf,
        /// What is wrong.
        error: io::Error,
    },
    /// The key of tickets cannot be made or read.
    #[error("the key that signs tickets cannot be made or read")]
    TicketKey,
}

/// What a hub has in its directory, but for the database.
#[derive(Debug)]
pub struct Opened {
    /// What a person has set.
    pub settings: Settings,
    /// Authority that signs certificates of agents.
    pub authority: Authority,
    /// The hub's own certificate.
    pub identity: Identity,
    /// The key that signs tickets.
    pub ticket_key: TicketKey,
    /// The provider by which people sign in beside local accounts.
    pub openid: Option<Provider>,
    /// What sends e-mail, where a relay is set.
    pub mailer: Option<Mailer>,
}

impl Directory {
    /// The directory at `path`.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Makes a hub: its authority, its keys, its settings. Hubs that share a database have one authority and one key of tickets,
    /// which are those of the `other` that was made before.
    ///
    /// # Errors
    /// See [`DirectoryError`]; a hub that is there stays as it is.
    pub fn init(&self, settings: &Settings, other: Option<&Self>) -> Result<(), DirectoryError> {
        if self.settings_file().exists() {
            return Err(DirectoryError::Taken(self.0.clone()));
        }
        secret::directory(&self.0)?;
        let authority = other.map_or_else(|| Ok(Authority::create()?), Self::authority)?;
        let key = authority::new_key()?;
        let certificate = authority.certify_hub(&key, settings.names.clone())?;
        let ticket_key = match other {
            Some(other) => secret::read(&other.file(TICKET_KEY))?,
            None => TicketKey::new_document().map_err(|_| DirectoryError::TicketKey)?,
        };
        secret::write(&self.file(AUTHORITY_KEY), &authority.key())?;
        secret::write(&self.file(AUTHORITY), authority.certificate())?;
        secret::write(&self.file(AUTHORITY_TEXT), roots::pem("CERTIFICATE", authority.certificate()).as_bytes())?;
        secret::write(&self.file(HUB_KEY), &key.serialize_der())?;
        secret::write(&self.file(HUB), &certificate)?;
        secret::write(&self.file(TICKET_KEY), &ticket_key)?;
        // Last: a directory with settings is whole.
        let text = toml::to_string(settings).map_err(|error| self.wrong(&error))?;
        secret::write(&self.settings_file(), text.as_bytes())?;
        Ok(())
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// See [`DirectoryError`].
    pub fn open(&self) -> Result<Opened, DirectoryError> {
        let settings = self.settings()?;
        let authority = self.authority()?;
        let identity = Identity {
            certificate: CertificateDer::from(secret::read(&self.file(HUB))?),
            key: secret::read(&self.file(HUB_KEY))?,
        };
        let document = secret::read(&self.file(TICKET_KEY))?;
        let ticket_key = TicketKey::open(&document).map_err(|_| DirectoryError::TicketKey)?;
        let provider = settings.openid.clone().map(|openid| Provider::new(openid, &self.0)).transpose();
        let openid = provider.map_err(|error| DirectoryError::OpenId { file: self.settings_file(), error })?;
        let mailer = settings.mail.as_ref().map(|mail| Mailer::new(mail, &self.0)).transpose();
        let mailer = mailer.map_err(|error| DirectoryError::Mail { file: self.settings_file(), error })?;
        Ok(Opened { settings, authority, identity, ticket_key, openid, mailer })
    }

    /// Reads the settings.
    ///
    /// # Errors
    /// See [`DirectoryError`].
    pub fn settings(&self) -> Result<Settings, DirectoryError> {
        let text = fs::read_to_string(self.settings_file()).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot read {}: {error}", self.settings_file().display()))
        })?;
        let settings: Settings = toml::from_str(&text).map_err(|error| self.wrong(&error))?;
        mail::check(&settings.notify, settings.mail.as_ref()).map_err(|error| self.wrong(&error))?;
        Ok(settings)
    }

    /// Reads the authority.
    ///
    /// # Errors
    /// See [`DirectoryError`].
    pub fn authority(&self) -> Result<Authority, DirectoryError> {
        let certificate = secret::read(&self.file(AUTHORITY))?;
        Ok(Authority::open(&secret::read(&self.file(AUTHORITY_KEY))?, certificate)?)
    }

    /// Where the database is.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.file("hub.db")
    }

    /// A file of the directory.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Whether a hub was made here.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.settings_file().is_file()
    }

    fn settings_file(&self) -> PathBuf {
        self.file("hub.toml")
    }

    fn wrong(&self, error: &dyn std::fmt::Display) -> DirectoryError {
        DirectoryError::Settings { file: self.settings_file(), error: error.to_string() }
    }
}

const AUTHORITY_KEY: &str = "authority.key";
const AUTHORITY: &str = "authority.der";
/// The name of the authority's certificate for `curl --cacert`.
pub const AUTHORITY_TEXT: &str = "authority.pem";
const HUB_KEY: &str = "hub.key";
const HUB: &str = "hub.der";
const TICKET_KEY: &str = "ticket.key";
