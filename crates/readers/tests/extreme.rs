//! What is valid with one number changed to an extreme: whatever a host, a peer or a file says, nothing panics.

#![allow(clippy::unwrap_used)] // A place that is not there fails the test.

use std::fs;
use std::path::Path;

use readers::{ALL, extreme};

/// Numbers of one file that are changed, evenly over all of it; fewer of a large one, which takes longer to read.
const MOST_PLACES: usize = 24;
const MOST_BYTES: usize = 300_000;

#[test]
fn no_extreme_number_in_what_is_valid_brings_a_reader_down() {
    let mut wrong = Vec::new();
    for reader in ALL {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(reader.name);
        let mut changes = 0;
        for entry in fs::read_dir(corpus).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let most = (MOST_BYTES / bytes.len().max(1)).clamp(12, MOST_PLACES);
            let changed = extreme::each_extreme(&bytes, most);
            changes += changed.len();
            // What brings a reader down is told with its file, and the others are tried all the same.
            let down = changed.iter().find(|changed| std::panic::catch_unwind(|| (reader.read)(changed)).is_err());
            wrong.extend(down.map(|changed| format!("{}: {}", path.display(), String::from_utf8_lossy(changed))));
        }
        assert!(changes > 0, "{} has no number in its corpus", reader.name);
    }
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}
