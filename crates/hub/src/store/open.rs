//! Which database a hub has: the PostgreSQL that its settings name, else a file in its directory.

use std::path::{Path, PathBuf};

use super::Store;
use super::error::StoreError;
use super::postgres::Postgres;
use super::postgres::address::{Address, AddressError, PasswordSources, private};
use super::sqlite::Sqlite;
use crate::server::directory::{Directory, Settings};

/// Why there is no database.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file with the address cannot be read, or others can.
    #[error("the file with the database's address {}: {source}", file.display())]
    File {
        /// File that holds the address alone.
        file: PathBuf,
        /// What reading gave.
        source: std::io::Error,
    },
    /// The address cannot be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Opens it; makes its tables where there are none.
///
/// # Errors
/// See [`OpenError`].
pub fn open(directory: &Directory, settings: &Settings) -> Result<Box<dyn Store>, OpenError> {
    match address(directory, settings)? {
        Some(address) => Ok(Box::new(Postgres::open(address)?)),
        None => Ok(Box::new(Sqlite::open(&directory.database())?)),
    }
}

/// The PostgreSQL that settings name, if they do.
///
/// # Errors
/// Where its address cannot be read or is not understood.
pub fn address(directory: &Directory, settings: &Settings) -> Result<Option<Address>, OpenError> {
    let text = match (&settings.database, &settings.database_file) {
        (Some(url), _) => url.0.clone(),
        (None, Some(file)) => of_file(&directory.file("").join(file))?,
        (None, None) => return Ok(None),
    };
    Ok(Some(Address::parse(text.trim(), &PasswordSources::of_process())?))
}

fn of_file(file: &Path) -> Result<String, OpenError> {
    private(file).map_err(|source| OpenError::File { file: file.to_owned(), source })
}
