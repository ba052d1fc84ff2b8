//! Capture files: bytes in, packets out, nothing copied.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | which format a file has |
//! | `pcap` | the classic format (µs and ns, both byte orders) |
//! | `pcapng` | sections, interfaces, drop counts |
//! | `record` | what a packet and what damage is |
//! | `field` | integers of either byte order |
//! | `compressed` | gzip and zstd around a file |
//!
//! The caller owns the file and its buffer: it hands over what it has read so far, and keeps what was not used for the
//! next call. So a file, a pipe and a file that still grows are read alike, and compressed ones after decompression.

mod compressed;
pub(crate) mod field;
mod pcap;
mod pcapng;
mod record;

pub use compressed::decompressed;
use pcap::Pcap;
use pcapng::Pcapng;
pub use record::{DropCounts, FileError, MAX_RECORD_BYTES, Packet};
use record::{Position, Step};

use crate::index::Saved;

/// Reads a capture file. See the module.
#[derive(Debug, Default)]
pub struct FileReader {
    format: Format,
    position: Position,
    drops: DropCounts,
    failure: Option<FileError>,
}

#[derive(Debug, Default)]
enum Format {
    #[default]
    Unknown,
    Pcap(Pcap),
    Pcapng(Box<Pcapng>),
}

impl FileReader {
    /// Reads all whole records of `bytes`, which go on where the last call stopped. Returns how many bytes are used up:
    /// the caller keeps the others and puts what follows behind them. A buffer of twice [`MAX_RECORD_BYTES`] suffices.
    ///
    /// # Errors
    /// The place of the damage. Packets before it have been handed over; every later call returns the same error.
    pub fn read<'a>(&mut self, bytes: &'a [u8], mut packet: impl FnMut(&Packet<'a>)) -> Result<usize, FileError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let result = self.records(bytes, &mut packet);
        if let Err(failure) = &result {
            self.failure = Some(failure.clone());
        }
        result
    }

    fn records<'a>(&mut self, bytes: &'a [u8], packet: &mut impl FnMut(&Packet<'a>)) -> Result<usize, FileError> {
        let mut used = 0;
        loop {
            let rest = bytes.get(used..).unwrap_or(&[]);
            if self.position.skip > 0 {
                let passed = self.position.skip.min(rest.len() as u64);
                self.position.skip -= passed;
                self.position.offset += passed;
                used += usize::try_from(passed).unwrap_or(rest.len());
                if self.position.skip > 0 {
                    return Ok(used);
                }
                continue;
            }
            let step = match &mut self.format {
                Format::Unknown => match detect(rest)? {
                    Some((format, length)) => {
                        self.format = format;
                        Step::Other(length)
                    }
                    None => Step::More,
                },
                Format::Pcap(pcap) => pcap.record(rest, &mut self.position)?,
                Format::Pcapng(pcapng) => pcapng.block(rest, &mut self.position, &mut self.drops)?,
            };
            match step {
                Step::More => return Ok(used),
                Step::Packet(length, found) => {
                    packet(&found);
                    used += length;
                    self.position.offset += length as u64;
                }
                Step::Other(length) => {
                    used += length;
                    self.position.offset += length as u64;
                }
            }
        }
    }

    /// What is wrong with a file of which `rest` is left unused at its end: nothing, where it ends with a record.
    pub fn end(&self, rest: &[u8]) -> Option<FileError> {
        if self.failure.is_some() {
            return self.failure.clone();
        }
        (!rest.is_empty() || self.position.skip > 0).then(|| FileError::Cut {
            offset: self.position.offset,
            frame: self.position.frame,
            missing: format!("{} bytes", rest.len()),
        })
    }

    /// Bytes of the file before the next record.
    pub(crate) fn offset(&self) -> u64 {
        self.position.offset
    }

    /// Packets read so far.
    pub fn frames(&self) -> u64 {
        self.position.frame
    }

    /// What the file says was lost while it was written.
    pub fn drops(&self) -> DropCounts {
        self.drops
    }
}

/// The format that a file starts with, and the length of its header; [`None`] where more bytes are needed.
fn detect(bytes: &[u8]) -> Result<Option<(Format, usize)>, FileError> {
    let Some(magic) = bytes.first_chunk::<4>() else { return Ok(None) };
    if *magic == pcapng::SECTION_HEADER {
        return Ok(Some((Format::Pcapng(Box::default()), 0)));
    }
    if *magic == [0x34, 0xcd, 0xb2, 0xa1] || *magic == [0xa1, 0xb2, 0xcd, 0x34] {
        return Err(FileError::UnsupportedFormat { name: "the modified pcap of Linux 2.2" });
    }
    if magic == b"snoo" {
        return Err(FileError::UnsupportedFormat { name: "snoop" });
    }
    match Pcap::header(bytes) {
        Some(Ok(pcap)) => Ok(Some((Format::Pcap(pcap), pcap::HEADER_BYTES))),
        Some(Err(())) => Err(FileError::UnknownFormat { found: *magic }),
        None => Ok(None),
    }
}

saved!(FileReader { format, position } without drops, failure);

impl Saved for Format {
    fn save(&self, out: &mut Vec<u8>) {
        match self {
            Self::Unknown => (None::<Pcap>, None::<Box<Pcapng>>).save(out),
            Self::Pcap(pcap) => (Some(*pcap), None::<Box<Pcapng>>).save(out),
            Self::Pcapng(pcapng) => {
                None::<Pcap>.save(out);
                true.save(out);
                pcapng.save(out);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        match <(Option<Pcap>, Option<Box<Pcapng>>)>::load(from)? {
            (None, None) => Some(Self::Unknown),
            (Some(pcap), None) => Some(Self::Pcap(pcap)),
            (None, Some(pcapng)) => Some(Self::Pcapng(pcapng)),
            (Some(_), Some(_)) => None,
        }
    }
}
