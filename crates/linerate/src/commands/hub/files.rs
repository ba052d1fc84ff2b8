//! A hub's directory as its commands use it.

use std::path::Path;

use anyhow::Context;
use hub::segments::error::TargetError;
use hub::server::directory::{Directory, DirectoryError, Settings};
use hub::store::open::{self, OpenError};
use hub::store::postgres::address::AddressError;
use hub::store::postgres::error::PostgresError;
use hub::store::rows::TokenRow;
use hub::store::{Store, StoreError};
use hub::trust::secret;
use hub::trust::token::{Purpose, Secret, Token};
use linux::clock;
use units::{WallTime, duration};

use crate::exit::{Complaint, Exit};

/// A token that counts from now on.
pub(super) fn new_token(directory: &Directory, purpose: Purpose, valid: std::time::Duration) -> anyhow::Result<Token> {
    let authority = directory.authority().map_err(|error| complain(error, &directory.file("")))?.fingerprint();
    let secret = Secret::new(secret::random().context("no random bytes")?);
    let until = clock::wall_now().unix_nanos().saturating_add(duration::nanos(valid));
    let row = TokenRow { hash: secret.hash(), purpose, expires: WallTime::from_unix_nanos(until) };
    open(directory)?.add_token(row).context(no_database(directory))?;
    Ok(Token { purpose, secret, authority })
}

/// The database of a hub.
pub(super) fn open(directory: &Directory) -> anyhow::Result<Box<dyn Store>> {
    let settings = directory.settings().map_err(|error| complain(error, &directory.file("")))?;
    open_of(directory, &settings)
}

/// The database of a hub with these settings.
pub(super) fn open_of(directory: &Directory, settings: &Settings) -> anyhow::Result<Box<dyn Store>> {
    open::open(directory, settings).map_err(|error| {
        let complaint = refused(&error).unwrap_or_else(|| {
            // SQLite calls a full disk an input or output error where it cannot map the index of its log.
            let is_of_disk =
                matches!(&error, OpenError::Store(StoreError::Sqlite(cause)) if cause.to_string().contains("disk"));
            let complaint = no_database(directory);
            if is_of_disk {
                complaint.hint(format!("`df {}` says whether its disk is full", directory.file("").display()))
            } else {
                complaint
            }
        });
        anyhow::Error::new(error).context(complaint)
    })
}

/// Why a database that several hubs share is not opened, and the way out.
fn refused(error: &OpenError) -> Option<Complaint> {
    let cannot = |exit| Complaint::new(exit, "the hub's database cannot be used");
    Some(match error {
        OpenError::Address(AddressError::PasswordFile { .. }) | OpenError::File { .. } => cannot(Exit::Usage),
        OpenError::Address(_) => {
            cannot(Exit::Usage).hint("an address is postgres://USER@HOST:PORT/DATABASE, as `psql` takes it")
        }
        OpenError::Store(StoreError::Postgres(error)) => match error {
            PostgresError::Password { .. } => cannot(Exit::Refused).hint(
                "the password is read from PGPASSWORD, PGPASSFILE or ~/.pgpass (chmod 600), or stands in the address",
            ),
            PostgresError::NoDatabase { .. } => {
                cannot(Exit::NotFound).hint("`createdb` of PostgreSQL makes a database; the hub makes its tables")
            }
            PostgresError::Unreachable { .. } => cannot(Exit::Unreachable)
                .hint("`psql` with the same address says whether PostgreSQL runs there and lets this host in"),
            PostgresError::Tls(_) => cannot(Exit::Local).hint("`sslrootcert=FILE` names the authorities to trust"),
            PostgresError::Refused(_) | PostgresError::Busy(_) => cannot(Exit::Local),
        },
        OpenError::Store(_) => return None,
    })
}

pub(super) fn no_database(directory: &Directory) -> Complaint {
    let shared = directory.settings().ok().and_then(|settings| open::address(directory, &settings).ok().flatten());
    let shown = shared.map_or_else(|| directory.database().display().to_string(), |address| address.to_string());
    Complaint::new(Exit::Local, format!("the hub's database {shown} cannot be used"))
}

/// Segments have no place that this program can use, and the way out.
pub(super) fn no_segments(error: TargetError) -> anyhow::Error {
    let complaint = Complaint::new(Exit::Usage, "samples cannot go to segments there");
    let hint = match &error {
        TargetError::Settings { .. } => {
            "region, endpoint and credentials are those of the environment: AWS_REGION, AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, ..."
        }
        _ => "a directory that hubs share, or s3://BUCKET/PREFIX",
    };
    anyhow::Error::new(error).context(complaint.hint(hint))
}

pub(super) fn complain(error: DirectoryError, directory: &Path) -> anyhow::Error {
    let shown = directory.display();
    let complaint = match &error {
        DirectoryError::Taken(_) => {
            Complaint::new(Exit::Usage, "a hub is not made twice").hint(format!("`linerate hub run {shown}` runs it"))
        }
        DirectoryError::File(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            Complaint::new(Exit::NotFound, format!("there is no hub in {shown}"))
                .hint(format!("`linerate hub init {shown} --name HOST` makes one"))
        }
        _ => Complaint::new(Exit::Local, format!("the hub in {shown} cannot be used")),
    };
    anyhow::Error::new(error).context(complaint)
}
