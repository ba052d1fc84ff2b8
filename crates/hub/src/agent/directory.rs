//! What an agent has on disk: key, certificate, settings that a person edits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use rustls::pki_types::CertificateDer;
use serde::{Deserialize, Serialize};
use units::{ByteCount, DataRate};

use super::url::HubUrl;
use crate::trust::pin::Identity;
use crate::trust::secret;
use crate::trust::ticket::TicketSeal;

/// The directory of an agent.
#[derive(Debug, Clone)]
pub struct Directory(PathBuf);

/// What a person may set, in `agent.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Hub that the agent has joined.
    pub hub: HubUrl,
    /// What the agent is called there.
    pub name: String,
    /// What it permits, whatever the hub's tickets say.
    #[serde(default)]
    pub limits: Limits,
}

/// What an agent permits, whatever the hub's tickets say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Highest rate that a flow may ask for, over all its streams. A flow without a rate of its own is refused then.
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub max_rate: Option<DataRate>,
    /// Longest test.
    #[serde(with = "text::span")]
    pub max_time: Duration,
    /// Bytes that tests may move in a day (UTC); further ones are refused until the next.
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub max_bytes_a_day: Option<ByteCount>,
    /// Networks of hosts that it tests with; all where empty.
    pub allow: Vec<IpNet>,
    /// Bytes of results that wait for the hub; beyond it no test is begun.
    #[serde(with = "text::plain")]
    pub max_spool: ByteCount,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_rate: None,
            max_time: Duration::from_secs(600),
            max_bytes_a_day: None,
            allow: Vec::new(),
            max_spool: ByteCount::new(1 << 30),
        }
    }
}

/// Why an agent's directory cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// A file cannot be written or read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// A file is not understood.
    #[error("{}: {error}", file.display())]
    Wrong {
        /// Which.
        file: PathBuf,
        /// What is wrong.
        error: String,
    },
}

/// All that an agent needs to speak to its hub.
#[derive(Debug)]
pub struct Opened {
    /// What a person has set.
    pub settings: Settings,
    /// Its certificate and key.
    pub identity: Identity,
    /// The hub's authority.
    pub authority: CertificateDer<'static>,
    /// The key that its tickets are signed by.
    pub seal: TicketSeal,
}

/// What a hub has given an agent that joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The agent's certificate.
    pub certificate: Vec<u8>,
    /// Certificate of the hub's authority (DER).
    pub authority: Vec<u8>,
    /// The key that tickets are signed by.
    pub seal: TicketSeal,
}

impl Directory {
    /// The directory at `path`.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The agent's key; makes it where there is none yet, so that an interrupted join goes on with the same.
    ///
    /// # Errors
    /// What writing gives, or what is wrong with the key.
    pub fn key(&self) -> Result<Vec<u8>, DirectoryError> {
        secret::directory(&self.0)?;
        let file = self.file(KEY);
        if !file.exists() {
            let key = crate::trust::authority::new_key().map_err(|error| wrong(&file, &error))?;
            secret::write(&file, &key.serialize_der())?;
        }
        Ok(secret::read(&file)?)
    }

    /// Whether the agent has joined.
    #[must_use]
    pub fn has_joined(&self) -> bool {
        self.file(SETTINGS).exists()
    }

    /// Keeps what the hub has given.
    ///
    /// # Errors
    /// What writing gives.
    pub fn joined(&self, settings: &Settings, credentials: &Credentials) -> Result<(), DirectoryError> {
        secret::write(&self.file(CERTIFICATE), &credentials.certificate)?;
        secret::write(&self.file(AUTHORITY), &credentials.authority)?;
        let seal = serde_json::to_vec(&credentials.seal).map_err(|error| wrong(&self.file(SEAL), &error))?;
        secret::write(&self.file(SEAL), &seal)?;
        // Last: an agent with settings has joined.
        let file = self.file(SETTINGS);
        let text = toml::to_string(settings).map_err(|error| wrong(&file, &error))?;
        secret::write(&file, text.as_bytes())?;
        Ok(())
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// See [`DirectoryError`].
    pub fn open(&self) -> Result<Opened, DirectoryError> {
        let file = self.file(SETTINGS);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("cannot read {}: {error}", file.display()));
        let text = fs::read_to_string(&file).map_err(named)?;
        let seal_file = self.file(SEAL);
        Ok(Opened {
            settings: toml::from_str(&text).map_err(|error| wrong(&file, &error))?,
            identity: Identity {
                certificate: CertificateDer::from(secret::read(&self.file(CERTIFICATE))?),
                key: secret::read(&self.file(KEY))?,
            },
            authority: CertificateDer::from(secret::read(&self.file(AUTHORITY))?),
            seal: serde_json::from_slice(&secret::read(&seal_file)?).map_err(|error| wrong(&seal_file, &error))?,
        })
    }

    /// A file or directory of it.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

fn wrong(file: &Path, error: &dyn std::fmt::Display) -> DirectoryError {
    DirectoryError::Wrong { file: file.to_owned(), error: error.to_string() }
}

const KEY: &str = "agent.key";
const CERTIFICATE: &str = "agent.der";
const AUTHORITY: &str = "authority.der";
const SEAL: &str = "ticket-seal.json";
const SETTINGS: &str = "agent.toml";

/// Quantities as people write them: `10Gbit/s`, `1h`.
mod text {
    macro_rules! form {
        ($name:ident, $of:ty, $show:expr, $read:expr) => {
            pub(super) mod $name {
                use serde::{Deserialize, Deserializer, Serializer, de::Error};

                pub(crate) fn serialize<S: Serializer>(value: &$of, out: S) -> Result<S::Ok, S::Error> {
                    out.serialize_str(&$show(value))
                }

                pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<$of, D::Error> {
                    let text = String::deserialize(input)?;
                    $read(&text).map_err(D::Error::custom)
                }
            }
        };
    }
    form!(span, std::time::Duration, |time: &std::time::Duration| units::duration::show(*time), units::duration::parse);
    form!(plain, units::ByteCount, |bytes: &units::ByteCount| bytes.to_string(), |text: &str| text
        .parse::<units::ByteCount>());

    pub(super) mod option {
        use std::fmt::Display;
        use std::str::FromStr;

        use serde::{Deserialize, Deserializer, Serializer, de::Error};

        pub(crate) fn serialize<S: Serializer, T: Display>(value: &Option<T>, out: S) -> Result<S::Ok, S::Error> {
            match value {
                Some(value) => out.serialize_str(&value.to_string()),
                None => out.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
            input: D,
        ) -> Result<Option<T>, D::Error> {
            let text = Option::<String>::deserialize(input)?;
            text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
        }
    }
}
