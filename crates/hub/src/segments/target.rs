//! Where segments are: in a directory, or in a bucket of S3 or of a store that speaks its language.
//!
//! A segment is there whole or not at all: a file gets its name once its bytes are on disk, and an object store does the same.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hyper::body::Bytes;
use tokio::sync::watch;

use super::bucket::Bucket;
use super::error::TargetError;
use crate::trust::digest::Fingerprint;
use crate::trust::secret;

/// Where segments are.
#[derive(Debug)]
pub enum SegmentTarget {
    /// In a directory, which hubs may share.
    Directory(PathBuf),
    /// In an object store.
    Bucket(Box<Bucket>),
}

impl SegmentTarget {
    /// Understands `s3://BUCKET/PREFIX` or a directory. Credentials of an object store are those of the environment.
    ///
    /// # Errors
    /// Where it is neither.
    pub fn parse(address: &str) -> Result<Self, TargetError> {
        if let Some(rest) = address.strip_prefix(S3) {
            if rest.is_empty() || rest.starts_with('/') {
                return Err(TargetError::Address(address.to_owned()));
            }
            return Ok(Self::Bucket(Box::new(Bucket::open(rest)?)));
        }
        if address.is_empty() || address.contains("://") {
            return Err(TargetError::Address(address.to_owned()));
        }
        Ok(Self::Directory(PathBuf::from(address)))
    }

    /// Whether an address is that of an object store.
    #[must_use]
    pub fn is_remote(address: &str) -> bool {
        address.contains("://")
    }

    /// Writes a segment, over one of the same name. It is whole and stays when this returns.
    ///
    /// # Errors
    /// Where the directory or the object store refuses, or the hub stops meanwhile.
    pub fn put(&self, path: &str, bytes: Vec<u8>, stop: watch::Receiver<bool>) -> Result<(), TargetError> {
        match self {
            Self::Bucket(bucket) => bucket.put(path, bytes, stop),
            Self::Directory(directory) => {
                let file = directory.join(path);
                write(&file, &bytes).map_err(|source| TargetError::File { file, source })
            }
        }
    }

    /// Reads a segment.
    ///
    /// # Errors
    /// Where it is not there, or cannot be had.
    pub fn get(&self, path: &str) -> Result<Bytes, TargetError> {
        match self {
            Self::Bucket(bucket) => bucket.get(path),
            Self::Directory(directory) => {
                let file = directory.join(path);
                fs::read(&file).map(Bytes::from).map_err(|source| TargetError::File { file, source })
            }
        }
    }
}

impl fmt::Display for SegmentTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(directory) => directory.display().fmt(f),
            Self::Bucket(bucket) => bucket.fmt(f),
        }
    }
}

/// Writes a file by way of a draft, which readers of the folder pass over: its name begins with a dot, as that of no data does to
/// Spark, Trino and Hive. Each writer has a draft of its own.
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    remove_old_drafts(folder);
    let own = Fingerprint::from(secret::random::<32>()?).short();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{own}.{DRAFT}"));
    let written = File::create(&draft)
        .and_then(|mut open| open.write_all(bytes).and_then(|()| open.sync_all()))
        .and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        // Whatever room it took is needed.
        let _ = fs::remove_file(&draft);
    }
    written?;
    // Its name, and those of the folders of day and pair.
    folder.ancestors().take(3).try_for_each(|folder| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()
    })
}

/// Drafts of hubs that were killed.
fn remove_old_drafts(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_draft = entry.path().extension().is_some_and(|own| own == DRAFT);
        let modified = entry.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::now());
        if is_draft && modified.elapsed().unwrap_or_default() > ABANDONED_AFTER {
            // Another hub may have removed it.
            let _ = fs::remove_file(entry.path());
        }
    }
}

const S3: &str = "s3://";
const DRAFT: &str = "draft";
/// Writing a segment takes seconds.
const ABANDONED_AFTER: Duration = Duration::from_secs(3_600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_neither_a_directory_nor_a_bucket_is_refused() {
        for address in ["", "s3://", "s3:///prefix", "gs://bucket/prefix", "http://host/x"] {
            assert!(matches!(SegmentTarget::parse(address), Err(TargetError::Address(_))), "{address}");
        }
    }

    #[test]
    fn segment_is_written_over_one_of_its_name_and_leaves_no_draft() {
        let folder = tempfile::TempDir::new().unwrap();
        let target = SegmentTarget::parse(folder.path().to_str().unwrap()).unwrap();
        let (_stop, stopped) = watch::channel(false);
        for bytes in [vec![1; 10], vec![2; 5]] {
            target.put("day=2026-11-26/pair=0/a-1.parquet", bytes.clone(), stopped.clone()).unwrap();
            assert_eq!(target.get("day=2026-11-26/pair=0/a-1.parquet").unwrap(), bytes);
        }
        let files = fs::read_dir(folder.path().join("day=2026-11-26/pair=0")).unwrap();
        assert_eq!(files.count(), 1);
        let missing = target.get("day=2026-11-26/pair=0/a-2.parquet").unwrap_err();
        assert!(missing.to_string().ends_with("a-2.parquet"), "{missing}");
    }
}
