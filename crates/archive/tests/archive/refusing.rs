//! What is no archive is refused with a reason, and left as it was.

use std::error::Error;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use archive::Archive;
use archive::fault::Fault;
use archive::schema::{APPLICATION_ID, OpenError, VERSION};
use archive::store::ReadError;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::runs;

/// A file with these bytes, and where it is.
fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("archive.db");
    fs::write(&path, bytes).unwrap();
    (directory, path)
}

/// The error of opening what must not change by that.
fn refused(path: &Path) -> OpenError {
    let before = fs::read(path).unwrap();
    let error = Archive::open(path).unwrap_err();
    assert!(fs::read(path).unwrap() == before, "{} was changed", path.display());
    error
}

#[test]
fn a_file_of_something_else_is_refused() {
    let (_directory, path) = file(&b"rate,rtt\n9410,50\n".repeat(100));
    let error = refused(&path);
    assert!(matches!(error, OpenError::Database { source: Fault::NotSqlite(_), .. }), "{error:?}");
    assert_eq!(error.to_string(), format!("cannot open the archive {}", path.display()));
    assert_eq!(error.source().unwrap().to_string(), "it is no SQLite database");
}

#[test]
fn a_database_of_something_else_is_refused() {
    let (_directory, path) = file(b"");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    let error = refused(&path);
    assert!(matches!(error, OpenError::Foreign { .. }), "{error:?}");
}

#[test]
fn an_archive_of_a_newer_version_is_refused() {
    let (_directory, path) = file(b"");
    drop(Archive::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", VERSION + 1).unwrap();
    let error = refused(&path);
    assert!(matches!(error, OpenError::Newer { found, .. } if found == VERSION + 1), "{error:?}");
    assert!(error.to_string().ends_with("use a newer linerate"), "{error}");
}

#[test]
fn a_new_archive_is_marked_as_one() {
    let (_directory, path) = file(b"");
    drop(Archive::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    let ask = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0)).unwrap();
    assert_eq!((ask("application_id"), ask("user_version")), (APPLICATION_ID, VERSION));
}

#[test]
fn an_archive_cut_short_is_refused() {
    let (_directory, path) = file(b"");
    let mut archive = Archive::open(&path).unwrap();
    for seconds in 0..20 {
        archive.store(&runs::at(seconds), &runs::samples(seconds)).unwrap();
    }
    drop(archive);
    fs::write(&path, &fs::read(&path).unwrap()[..5000]).unwrap();
    let error = refused(&path);
    assert!(matches!(error, OpenError::Database { source: Fault::Damaged(_), .. }), "{error:?}");
}

#[test]
fn damaged_runs_are_told_apart_from_missing_ones() {
    let (_directory, path) = file(b"");
    let mut archive = Archive::open(&path).unwrap();
    let id = runs::at(1).id;
    archive.store(&runs::at(1), &runs::samples(1)).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "UPDATE runs SET digest = NULL, run = x'00'; UPDATE samples SET digest = NULL, packed = x'4c525350'",
        )
        .unwrap();
    let (run, samples) = (archive.run(&id).unwrap_err(), archive.samples(&id).unwrap_err());
    assert!(matches!(run, ReadError::Decompress { .. }), "{run:?}");
    assert!(matches!(samples, ReadError::Unpack { .. }), "{samples:?}");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let (_directory, path) = file(b"");
    let below_a_file = path.join("archive.db");
    let error = Archive::open(&below_a_file).unwrap_err();
    assert!(matches!(error, OpenError::Create { .. }), "{error:?}");
    assert_eq!(error.to_string(), format!("cannot create the archive {}", below_a_file.display()));
}

#[test]
fn the_mode_of_an_archive_that_exists_is_kept() {
    let (_directory, path) = file(b"");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    drop(Archive::open(&path).unwrap());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
}
