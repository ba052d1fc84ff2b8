//! What an agent delivers: results, changes of its host, facts, rates of transfers.
//!
//! A record is named by the agent and is stored once, however often it comes. Its content is compressed JSON, whose SHA-256
//! goes with it from the agent's disk to the hub's.

use std::cell::RefCell;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use model::played::Finding;
use serde::{Deserialize, Serialize};
use units::WallTime;
use zstd::bulk::Decompressor;
use zstd::zstd_safe::get_frame_content_size;

use super::order::LeaseName;
use crate::trust::digest::Fingerprint;

/// A record as it is spooled and sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// What it is called, unique for the agent.
    pub name: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: RecordKind,
    /// The SHA-256 of the content before compression, with the samples behind it.
    pub digest: Fingerprint,
    /// The content, JSON compressed by zstd, in base64.
    pub content: String,
    /// Packed samples of a run, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<String>,
}

/// What a record is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RecordKind {
    /// What came of a run: [`RunResult`].
    Result {
        /// Of which.
        lease: LeaseName,
    },
    /// An entry of the host's change log.
    Change,
    /// All facts of the host.
    Snapshot,
    /// What its transfers reached with each peer: `TransferRates`.
    Transfers,
}

/// What came of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunResult {
    /// When it began.
    #[serde(rename = "began_unix_ns")]
    pub began: WallTime,
    /// What was found.
    pub finding: Finding,
}

/// A record unpacked, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// JSON.
    pub content: Vec<u8>,
    /// The same compressed, as it came.
    pub compressed: Vec<u8>,
    /// Packed samples.
    pub samples: Option<Vec<u8>>,
}

/// Records that are sent together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delivery {
    /// In the order in which they were made.
    pub records: Vec<Record>,
}

/// What the hub says to them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// A verdict for each record, in their order. All but [`Verdict::Refused`] are on the hub's disk.
    pub verdicts: Vec<Verdict>,
}

/// What has become of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// It is stored.
    Stored,
    /// It was stored before.
    Duplicate,
    /// The run was given to nobody, or to another attempt: it is not wanted.
    Unwanted,
    /// It cannot be read. The agent puts it aside.
    Refused {
        /// Why.
        reason: String,
    },
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is no base64.
    #[error("the record is no base64")]
    Encoding(#[from] base64::DecodeError),
    /// It cannot be decompressed, or is larger than [`LARGEST_CONTENT`].
    #[error("the record cannot be decompressed, or is larger than {LARGEST_CONTENT} bytes")]
    Compression(#[from] io::Error),
    /// Its name, or that of its run, is none that a database has.
    #[error("the record's name or that of its run is longer than {LONGEST_NAME} bytes, or has a control character")]
    Name,
    /// It is another than was written.
    #[error("the record's checksum is not that of its content")]
    Checksum,
}

impl Record {
    /// Packs what is to be delivered.
    ///
    /// # Errors
    /// Where it cannot be compressed.
    pub fn pack(name: String, kind: RecordKind, content: &[u8], samples: Option<&[u8]>) -> io::Result<Self> {
        let compressed = zstd::bulk::compress(content, LEVEL)?;
        Ok(Self {
            name,
            kind,
            digest: digest(content, samples),
            content: BASE64.encode(compressed),
            samples: samples.map(|samples| BASE64.encode(samples)),
        })
    }

    /// Reads it, within its limits.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub fn unpack(&self) -> Result<Unpacked, RecordError> {
        let run = match &self.kind {
            RecordKind::Result { lease } => lease.run.as_str(),
            RecordKind::Change | RecordKind::Snapshot | RecordKind::Transfers => "",
        };
        // One that the database refuses would have all of the same transaction refused.
        if [self.name.as_str(), run].iter().any(|name| name.len() > LONGEST_NAME || name.contains(char::is_control)) {
            return Err(RecordError::Name);
        }
        let compressed = BASE64.decode(&self.content)?;
        let content = unpacked(&compressed)?;
        let samples = self.samples.as_ref().map(|text| BASE64.decode(text)).transpose()?;
        if digest(&content, samples.as_deref()) != self.digest {
            return Err(RecordError::Checksum);
        }
        Ok(Unpacked { content, compressed, samples })
    }
}

/// The content of a record, as text.
///
/// # Errors
/// Where it is damaged, or larger than [`LARGEST_CONTENT`].
pub fn unpacked(compressed: &[u8]) -> Result<Vec<u8>, RecordError> {
    // A frame that does not say its size is none that `pack` has made.
    let size = get_frame_content_size(compressed).ok().flatten().filter(|size| *size <= LARGEST_CONTENT);
    let size = size.and_then(|size| usize::try_from(size).ok());
    let size = size.ok_or_else(|| io::Error::other("no frame of zstd, or too large"))?;
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(kept) => kept,
            None => kept.insert(Decompressor::new()?),
        };
        Ok(decompressor.decompress(compressed, size)?)
    })
}

thread_local! {
    /// It is made once a thread: with its tables it is larger than most records, and a hub reads thousands a second.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The content of a stored record.
///
/// # Errors
/// Where it is not of this form.
pub fn content<T: serde::de::DeserializeOwned>(compressed: &[u8]) -> Result<T, RecordError> {
    Ok(serde_json::from_slice(&unpacked(compressed)?).map_err(io::Error::other)?)
}

fn digest(content: &[u8], samples: Option<&[u8]>) -> Fingerprint {
    Fingerprint::of(&[content, samples.unwrap_or_default()].concat())
}

/// What a record decompresses to at most: all facts of a host are a few megabytes.
pub const LARGEST_CONTENT: u64 = 32 << 20;
/// Names of runs have those of a test, a group and two hosts.
pub const LONGEST_NAME: usize = 1024;
/// How results of tests from browsers are called that no agent was asked for, before the name of the run; and who has
/// delivered them, before the account.
pub const BROWSER: &str = "browser/";
/// Most records that are sent together.
pub const MOST_RECORDS: usize = 256;
/// As the archive compresses runs.
const LEVEL: i32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record::pack("r1".to_owned(), RecordKind::Change, b"{\"a\":1}", Some(b"samples")).unwrap()
    }

    #[test]
    fn what_was_packed_is_what_comes_out() {
        let unpacked = record().unpack().unwrap();
        assert_eq!(
            (unpacked.content.as_slice(), unpacked.samples.as_deref()),
            (&b"{\"a\":1}"[..], Some(&b"samples"[..]))
        );
    }

    #[test]
    fn another_content_is_refused() {
        let mut record = record();
        record.samples = Some(BASE64.encode(b"sampler"));
        assert!(matches!(record.unpack(), Err(RecordError::Checksum)));
        record.content = "?".to_owned();
        assert!(matches!(record.unpack(), Err(RecordError::Encoding(_))));
    }

    #[test]
    fn name_that_no_database_has_is_refused() {
        for name in ["a\0b".to_owned(), "a".repeat(LONGEST_NAME + 1)] {
            let named = Record { name: name.clone(), ..record() };
            assert!(matches!(named.unpack(), Err(RecordError::Name)));
            let kind = RecordKind::Result { lease: LeaseName { run: name, attempt: 1 } };
            assert!(matches!(Record { kind, ..record() }.unpack(), Err(RecordError::Name)));
        }
    }

    #[test]
    fn small_content_that_decompresses_to_much_is_refused() {
        let bomb = vec![0; usize::try_from(LARGEST_CONTENT).unwrap() + 10];
        let record = Record::pack("bomb".to_owned(), RecordKind::Snapshot, &bomb, None).unwrap();
        assert!(record.content.len() < 1 << 20);
        assert!(matches!(record.unpack(), Err(RecordError::Compression(_))));
    }
}
