//! Where a PostgreSQL is, and who asks, as users of PostgreSQL say it: an address that `psql` takes as well, a password in
//! `PGPASSWORD` or in a password file.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use postgres::{Client, Config, NoTls};

use super::error::PostgresError;
use super::tls::{Tls, Verification};
use crate::store::StoreError;

/// A database, and how it is entered.
#[derive(Clone)]
pub struct Address {
    config: Config,
    shown: String,
    verification: Verification,
}

/// What the environment of a process says of passwords, as `libpq` reads it.
#[derive(Debug, Clone, Default)]
pub struct PasswordSources {
    /// `PGPASSWORD`.
    pub password: Option<String>,
    /// `PGPASSFILE`.
    pub file: Option<PathBuf>,
    /// `HOME`, where `.pgpass` may be.
    pub home: Option<PathBuf>,
}

/// An address that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It is none of a PostgreSQL.
    #[error("the address of a database begins with postgres://")]
    Scheme,
    /// It is not understood.
    #[error("the address of the database is not understood: {0}")]
    Wrong(String),
    /// A file with passwords cannot be read, or others can.
    #[error("the password file {}: {reason}", file.display())]
    PasswordFile {
        /// Lines of host, port, database, user and password.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl PasswordSources {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let path = |name| std::env::var_os(name).map(PathBuf::from);
        Self { password: std::env::var("PGPASSWORD").ok(), file: path("PGPASSFILE"), home: path("HOME") }
    }

    /// The password for an address that has none.
    fn password(&self, entry: &PasswordEntry<'_>) -> Result<Option<String>, AddressError> {
        if self.password.is_some() {
            return Ok(self.password.clone());
        }
        let usual = self.home.as_ref().map(|home| home.join(".pgpass"));
        let Some(file) = self.file.clone().or(usual.filter(|file| file.exists())) else { return Ok(None) };
        let wrong = |reason: String| AddressError::PasswordFile { file: file.clone(), reason };
        let text = private(&file).map_err(|error| wrong(error.to_string()))?;
        Ok(text.lines().find_map(|line| entry.matches(line)))
    }
}

impl Address {
    /// Reads `postgres://USER@HOST:PORT/DATABASE`, and looks for the password where it has none.
    ///
    /// # Errors
    /// See [`AddressError`]; none of them has the password in it.
    pub fn parse(text: &str, sources: &PasswordSources) -> Result<Self, AddressError> {
        if !is_postgres(text) {
            return Err(AddressError::Scheme);
        }
        let (text, verification) = Verification::taken_from(text).map_err(AddressError::Wrong)?;
        let mut config = Config::from_str(&text).map_err(|error| AddressError::Wrong(without_password(&error)))?;
        let user = config.get_user().unwrap_or_default().to_owned();
        let database = config.get_dbname().unwrap_or(&user).to_owned();
        let (host, port) = (host(&config), config.get_ports().first().copied().unwrap_or(5432));
        if config.get_password().is_none() {
            let entry = PasswordEntry { host: &host, port, database: &database, user: &user };
            if let Some(password) = sources.password(&entry)? {
                config.password(password);
            }
        }
        let shown = format!("postgres://{user}@{host}:{port}/{database}");
        let options = format!("{} {OPTIONS}", config.get_options().unwrap_or_default());
        config
            .options(options.trim())
            .application_name("linerate hub")
            .keepalives_idle(UNHEARD)
            .tcp_user_timeout(UNHEARD);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(TO_CONNECT);
        }
        Ok(Self { config, shown, verification })
    }

    /// Connects.
    pub(super) fn connect(&self) -> Result<Client, StoreError> {
        let connected = match self.config.get_ssl_mode() {
            SslMode::Disable => self.config.connect(NoTls),
            _ => self.config.connect(Tls::new(&self.verification).map_err(PostgresError::Tls)?),
        };
        Ok(connected.map_err(|source| self.refusal(source))?)
    }

    fn refusal(&self, source: postgres::Error) -> PostgresError {
        let address = self.shown.clone();
        let user = self.config.get_user().unwrap_or_default().to_owned();
        let cause = std::error::Error::source(&source).map(ToString::to_string).unwrap_or_default();
        match source.code() {
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                PostgresError::Password { address, user, source }
            }
            Some(&SqlState::INVALID_CATALOG_NAME) => PostgresError::NoDatabase { address, source },
            // The server asks for one, and there is none.
            None if self.config.get_password().is_none() && cause.contains("password") => {
                PostgresError::Password { address, user, source }
            }
            _ => PostgresError::Unreachable { address, source },
        }
    }
}

impl std::fmt::Display for Address {
    /// Without a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Address({})", self.shown)
    }
}

/// Whether a text is the address of a PostgreSQL.
#[must_use]
pub fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// A file that only its owner reads.
///
/// # Errors
/// Where it cannot be read, or others can read it.
pub fn private(file: &Path) -> io::Result<String> {
    if fs::metadata(file)?.permissions().mode() & 0o077 != 0 {
        let why = format!("others may read it: chmod 600 {}", file.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    fs::read_to_string(file)
}

/// What an error says of an address; a part of the address may be in its cause.
fn without_password(error: &postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let is_quoting = cause.contains('`') || cause.contains('"');
    if is_quoting || cause.is_empty() { error.to_string() } else { format!("{error}: {cause}") }
}

fn host(config: &Config) -> String {
    match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    }
}

/// Whose password a line of a password file may have.
struct PasswordEntry<'a> {
    host: &'a str,
    port: u16,
    database: &'a str,
    user: &'a str,
}

impl PasswordEntry<'_> {
    /// The password of a line `host:port:database:user:password`, each but the last may be `*`; `\` stands before a `:` or `\`.
    fn matches(&self, line: &str) -> Option<String> {
        if line.starts_with('#') {
            return None;
        }
        let mut fields = vec![String::new()];
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => fields.last_mut()?.extend(letters.next()),
                ':' if fields.len() < 5 => fields.push(String::new()),
                _ => fields.last_mut()?.push(letter),
            }
        }
        let [host, port, database, user, password] = <[String; 5]>::try_from(fields).ok()?;
        let is = |field: &str, own: &str| field == "*" || field == own;
        let is_host = is(&host, self.host) || (self.host.starts_with('/') && host == "localhost");
        let is_own =
            is_host && is(&port, &self.port.to_string()) && is(&database, self.database) && is(&user, self.user);
        is_own.then_some(password)
    }
}

/// A schema of its own; nobody waits for ever for a hub that hangs in its turn.
const OPTIONS: &str = "-c search_path=linerate -c lock_timeout=15s -c statement_timeout=60s \
                       -c idle_in_transaction_session_timeout=10s -c client_min_messages=warning";
const TO_CONNECT: Duration = Duration::from_secs(5);
/// A server that is gone without a word is noticed after this.
const UNHEARD: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Address, AddressError> {
        Address::parse(text, &PasswordSources::default())
    }

    fn password_in(file: &str, mode: u32) -> Result<Option<String>, AddressError> {
        let place = tempfile::TempDir::new().unwrap();
        let path = place.path().join("pgpass");
        fs::write(&path, file).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let sources = PasswordSources { file: Some(path), ..PasswordSources::default() };
        let address = Address::parse("postgres://hub@db.example.net/mesh", &sources)?;
        Ok(address.config.get_password().map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    #[test]
    fn password_of_an_address_is_shown_nowhere() {
        let address = parsed("postgres://hub:s3cret@db.example.net:5433/mesh?connect_timeout=3").unwrap();
        assert_eq!(address.to_string(), "postgres://hub@db.example.net:5433/mesh");
        assert!(!format!("{address:?}").contains("s3cret"));
        for wrong in
            ["postgres://hub:s3cret@db:port/mesh", "postgres://hub:s3cret@db/mesh?s3cret=1", "mysql://hub:s3cret@db/x"]
        {
            let error = parsed(wrong).unwrap_err();
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn password_file_is_read_as_libpq_reads_it() {
        let file = "# of the mesh\nother:*:*:*:no\n*:5433:*:*:no\ndb.example.net:5432:mesh:hub:a\\:b:c\n*:*:*:*:no";
        assert_eq!(password_in(file, 0o600).unwrap().as_deref(), Some("a:b:c"));
        assert_eq!(password_in("*:*:*:*:any\\\\", 0o600).unwrap().as_deref(), Some("any\\"));
        assert_eq!(password_in("elsewhere:*:*:*:no", 0o600).unwrap(), None);
        assert!(matches!(password_in(file, 0o644), Err(AddressError::PasswordFile { .. })));
    }

    #[test]
    fn password_of_the_environment_stands_where_the_address_has_none() {
        let sources = PasswordSources { password: Some("e".to_owned()), ..PasswordSources::default() };
        let of = |text| Address::parse(text, &sources).unwrap().config.get_password().map(<[u8]>::to_vec);
        assert_eq!(of("postgres://hub@db/mesh"), Some(b"e".to_vec()));
        assert_eq!(of("postgres://hub:own@db/mesh"), Some(b"own".to_vec()));
    }
}
