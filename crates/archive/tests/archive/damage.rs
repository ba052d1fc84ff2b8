//! Nothing wrong is shown as a result: a flipped bit, a full disk, a disk that takes no writes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use archive::spill::Spill;
use archive::{Archive, Filter};
use model::run::Run;
use tempfile::TempDir;

use crate::runs;

/// An archive with three runs, closed, all of it in one file.
fn three() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("archive.db");
    let mut archive = Archive::open(&path).unwrap();
    for seed in 1..=3 {
        archive.store(&runs::at(seed), &runs::samples(seed)).unwrap();
    }
    drop(archive);
    assert!(fs::metadata(path.with_extension("db-wal")).is_err(), "the log was put in its place on closing");
    (directory, path)
}

/// Everything that a person can see of the runs, where all of it can be read; else the error.
fn seen(path: &Path) -> Result<String, String> {
    let archive = Archive::open_to_read(path).map_err(|error| error.to_string())?;
    let listed = archive.list(&Filter::default()).map_err(|error| error.to_string())?;
    let mut text = format!("{listed:?}");
    for seed in 1..=3 {
        let id = runs::at(seed).id;
        let run: Run = archive.run(&id).map_err(|error| error.to_string())?;
        let samples = archive.samples(&id).map_err(|error| error.to_string())?;
        text.push_str(&format!("{run:?}{samples:?}"));
    }
    Ok(text)
}

#[test]
fn no_flipped_bit_makes_another_run() {
    let (_directory, path) = three();
    let (sound, bytes) = (seen(&path).unwrap(), fs::read(&path).unwrap());
    // A prime stride reaches every page and every kind of column; the bit within the byte goes round too. `make soak` begins elsewhere.
    const STRIDE: usize = 401;
    let first = usize::try_from(runs::seed()).unwrap() % STRIDE;
    let (mut told, mut unharmed) = (0, 0);
    for (turn, at) in (first..bytes.len()).step_by(STRIDE).enumerate() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (turn % 8);
        let copy = path.with_file_name(format!("flipped-{at}.db"));
        fs::write(&copy, damaged).unwrap();
        match seen(&copy) {
            Ok(text) => assert!(text == sound, "the flip of bit {} of byte {at} shows another run", turn % 8),
            Err(_) => told += 1,
        }
        unharmed = turn + 1 - told;
        fs::remove_file(&copy).unwrap();
    }
    println!("{} flips: {told} told, {unharmed} of no consequence, 0 that show another run", told + unharmed);
    assert!(told > 10, "only {told} flips were told: the test reaches nothing that matters");
}

#[test]
fn a_check_names_the_run_that_was_changed() {
    let (_directory, path) = three();
    let clean = Archive::open(&path).unwrap().check().unwrap();
    assert_eq!((clean.sound, clean.unsealed, clean.damaged.len()), (6, 0, 0));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE runs SET goodput_bps = goodput_bps + 1 WHERE key = 2", []).unwrap();
    connection.execute("UPDATE samples SET digest = NULL WHERE run_key = 1", []).unwrap();
    drop(connection);
    let archive = Archive::open(&path).unwrap();
    let checked = archive.check().unwrap();
    assert_eq!((checked.sound, checked.unsealed), (4, 1));
    let named: Vec<_> = checked.damaged.iter().map(|damage| (damage.table, damage.name.clone())).collect();
    assert_eq!(named, [("runs", runs::at(2).id.to_string())]);
    let error = archive.run(&runs::at(2).id).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "row 2 of its table `runs` is not what was stored: its checksum differs");
    assert!(archive.list(&Filter::default()).is_err(), "the list would show the wrong rate");
    assert!(archive.run(&runs::at(1).id).is_ok(), "the others are as sound as before");
}

#[test]
fn an_archive_that_may_only_be_read_is_read() {
    let (directory, path) = three();
    let sound = seen(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(seen(&path).unwrap(), sound);
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_run_that_could_not_be_stored_waits_in_a_file_and_is_stored_later() {
    let (directory, path) = three();
    let spill = Spill::beside(&path, directory.path());
    let file = spill.write(runs::at(9), runs::samples(9)).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let mut archive = Archive::open(&path).unwrap();
    let taken = spill.take_in(&mut archive);
    assert_eq!((taken.len(), &taken[0].failure), (1, &None));
    assert_eq!(archive.run(&runs::at(9).id).unwrap(), runs::at(9));
    assert_eq!(archive.samples(&runs::at(9).id).unwrap(), runs::samples(9));
    assert!(!file.exists() && spill.take_in(&mut archive).is_empty());
    // What is no run stays where it is, and is told.
    fs::write(&file, "{").unwrap();
    assert!(spill.take_in(&mut archive)[0].failure.as_ref().unwrap().contains("not an exported run"));
    assert!(file.exists());
}

#[test]
fn a_place_that_takes_nothing_leaves_the_other_one() {
    let (directory, path) = three();
    let temporary = TempDir::new().unwrap();
    // A file stands where the directory would be.
    fs::write(directory.path().join("archive.db.waiting"), "").unwrap();
    let file = Spill::beside(&path, temporary.path()).write(runs::at(9), runs::samples(9)).unwrap();
    assert!(file.starts_with(temporary.path()), "{}", file.display());
}
