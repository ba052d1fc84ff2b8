//! What is valid with one number changed to an extreme: whatever a host, a peer or a file says, nothing panics.

#![allow(clippy::unwrap_used)] // A place that is not there fails the test.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::Duration;

use linux::clock::thread_cpu_time;
use readers::{ALL, Reader, extreme};

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
            let down = changed.iter().find(|changed| catch_unwind(|| (reader.read)(changed)).is_err());
            wrong.extend(down.map(|changed| format!("{}: {}", path.display(), String::from_utf8_lossy(changed))));
        }
        assert!(changes > 0, "{} has no number in its corpus", reader.name);
    }
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}

/// Several numbers at once, as the seed chooses. `LINERATE_SECONDS=600` goes on with each reader until it has used so much CPU
/// time, and `LINERATE_READER=plan,scenario` tries these alone.
#[test]
fn no_few_extreme_numbers_at_once_bring_a_reader_down() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let most = Duration::from_secs(number("LINERATE_SECONDS").unwrap_or_default().into());
    let first = number("LINERATE_SEED").unwrap_or(1).wrapping_mul(1_000_003);
    for reader in chosen() {
        let begun = thread_cpu_time();
        let files = corpus(reader);
        let mut inputs = 0;
        while inputs < AT_LEAST || thread_cpu_time() - begun < most {
            let file = &files[inputs as usize % files.len()];
            let changed = extreme::with_extremes(file, first.wrapping_add(inputs));
            let read = catch_unwind(|| (reader.read)(&changed));
            assert!(read.is_ok(), "{}: {}", reader.name, String::from_utf8_lossy(&changed));
            inputs += 1;
        }
        println!("{}: {inputs} inputs in {:.0} CPU s", reader.name, (thread_cpu_time() - begun).as_secs_f64());
    }
}

fn chosen() -> Vec<Reader> {
    let Ok(names) = std::env::var("LINERATE_READER") else { return ALL.to_vec() };
    let chosen: Vec<Reader> =
        ALL.into_iter().filter(|reader| names.split(',').any(|name| name == reader.name)).collect();
    assert_eq!(chosen.len(), names.split(',').count(), "not all of {names} are readers");
    chosen
}

/// Inputs of each reader where no time is given.
const AT_LEAST: u32 = 40;

fn corpus(reader: Reader) -> Vec<Vec<u8>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(reader.name);
    let mut files: Vec<_> = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    files.iter().map(|path| fs::read(path).unwrap()).filter(|bytes| bytes.len() < MOST_BYTES).collect()
}
