//! A hub's directory as its commands use it.

use std::path::Path;

use anyhow::Context;
use hub::server::directory::{Directory, DirectoryError};
use hub::store::Store;
use hub::store::rows::TokenRow;
use hub::store::sqlite::Sqlite;
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
pub(super) fn open(directory: &Directory) -> anyhow::Result<Sqlite> {
    directory.settings().map_err(|error| complain(error, &directory.file("")))?;
    Sqlite::open(&directory.database()).context(no_database(directory))
}

pub(super) fn no_database(directory: &Directory) -> Complaint {
    Complaint::new(Exit::Local, format!("the hub's database {} cannot be used", directory.database().display()))
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
