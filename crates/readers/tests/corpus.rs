//! Whatever a fuzzer has found once is read again by every test run.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use readers::ALL;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names(folder: &str) -> io::Result<BTreeSet<String>> {
    let stem = |entry: fs::DirEntry| entry.path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(fs::read_dir(fuzz().join(folder))?.collect::<Result<Vec<_>, _>>()?.into_iter().filter_map(stem).collect())
}

#[test]
fn every_reader_reads_its_corpus() -> io::Result<()> {
    for reader in ALL {
        let mut files = 0;
        for entry in fs::read_dir(fuzz().join("corpus").join(reader.name))? {
            (reader.read)(&fs::read(entry?.path())?);
            files += 1;
        }
        assert!(files > 0, "fuzz/corpus/{} holds nothing to start from", reader.name);
    }
    Ok(())
}

#[test]
fn every_reader_has_a_corpus_and_every_corpus_a_reader() -> io::Result<()> {
    let readers: BTreeSet<String> = ALL.iter().map(|reader| reader.name.to_owned()).collect();
    assert_eq!(names("corpus")?, readers);
    Ok(())
}
