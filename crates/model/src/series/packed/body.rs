//! The decompressed bytes of a packed form, read one after another with no trust in them.

use std::io::{self, Read};

use super::layout::{MAGIC, VERSION};

/// What a reader is willing to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Rows times columns over all streams, each of eight bytes of memory.
    pub values: u64,
    /// Streams, each end counted.
    pub streams: u64,
    /// Columns over all streams.
    pub columns: u64,
}

impl Limits {
    /// For what comes from another host: 128 MiB, which is 100,000 rows of 80 columns at both ends of a stream.
    pub const RECEIVED: Self = Self { values: 1 << 24, streams: 1 << 10, columns: 1 << 16 };
    /// For what this host has stored: a gibibyte.
    pub const STORED: Self = Self { values: 1 << 27, streams: 1 << 12, columns: 1 << 18 };
}

/// Why bytes are not packed samples. Offsets count the bytes after decompression.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The first bytes are others.
    #[error("these are no packed samples: they do not start with `{}`", MAGIC.escape_ascii())]
    NotPacked,
    /// The version is not known.
    #[error("packed samples of version {found}; this program reads version {VERSION}")]
    Version {
        /// The version found.
        found: u8,
    },
    /// The compressed data is damaged, or ends too early.
    #[error("packed samples are damaged or cut short after byte {offset}")]
    Damaged {
        /// Where reading stopped.
        offset: u64,
        /// What zstd says.
        source: io::Error,
    },
    /// More is promised than this reader holds.
    #[error("packed samples promise {found} {what} at byte {offset}; at most {limit} are read")]
    TooMany {
        /// What is promised.
        what: &'static str,
        /// How many, with all before.
        found: u64,
        /// How many are allowed.
        limit: u64,
        /// Where it is promised.
        offset: u64,
    },
    /// A value has no meaning.
    #[error("packed samples have {found} at byte {offset}, where {expected} is expected")]
    Invalid {
        /// What is there.
        found: u64,
        /// What should be there.
        expected: &'static str,
        /// Where.
        offset: u64,
    },
}

/// A place in the decompressed bytes.
pub(super) struct Body<'a> {
    frame: zstd::stream::read::Decoder<'a, &'a [u8]>,
    offset: u64,
}

impl<'a> Body<'a> {
    /// The start of what `bytes` hold.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, UnpackError> {
        let Some((version, frame)) = bytes.strip_prefix(&MAGIC).and_then(<[u8]>::split_first) else {
            return Err(UnpackError::NotPacked);
        };
        if *version != VERSION {
            return Err(UnpackError::Version { found: *version });
        }
        let damaged = |source| UnpackError::Damaged { offset: 0, source };
        let mut decoder = zstd::stream::read::Decoder::with_buffer(frame).map_err(damaged)?.single_frame();
        decoder.window_log_max(super::layout::WINDOW_LOG).map_err(damaged)?;
        Ok(Self { frame: decoder, offset: 0 })
    }

    /// Where reading is.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], UnpackError> {
        let mut bytes = [0; N];
        self.frame.read_exact(&mut bytes).map_err(|source| UnpackError::Damaged { offset: self.offset, source })?;
        self.offset += N as u64;
        Ok(bytes)
    }

    /// The next byte.
    pub(super) fn u8(&mut self) -> Result<u8, UnpackError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// The next two bytes.
    pub(super) fn u16(&mut self) -> Result<u16, UnpackError> {
        self.array().map(u16::from_le_bytes)
    }

    /// The next four bytes.
    pub(super) fn u32(&mut self) -> Result<u32, UnpackError> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next byte, which must be below `N`, as one of `values`.
    pub(super) fn choice<const N: usize, T>(
        &mut self,
        expected: &'static str,
        values: [T; N],
    ) -> Result<T, UnpackError> {
        let offset = self.offset;
        let found = self.u8()?;
        values.into_iter().nth(usize::from(found)).ok_or(UnpackError::Invalid {
            found: u64::from(found),
            expected,
            offset,
        })
    }

    /// The next `length` bytes. Memory grows with what comes, not with what is promised.
    pub(super) fn bytes(&mut self, length: usize) -> Result<Vec<u8>, UnpackError> {
        let mut bytes = Vec::new();
        let damaged = |source| UnpackError::Damaged { offset: self.offset, source };
        (&mut self.frame).take(length as u64).read_to_end(&mut bytes).map_err(damaged)?;
        if bytes.len() < length {
            return Err(damaged(io::ErrorKind::UnexpectedEof.into()));
        }
        self.offset += length as u64;
        Ok(bytes)
    }

    /// Makes sure that nothing follows. Here zstd checks its sum over all bytes.
    pub(super) fn end(mut self) -> Result<(), UnpackError> {
        let offset = self.offset;
        let mut more = [0];
        let beyond = self.frame.read(&mut more).map_err(|source| UnpackError::Damaged { offset, source })?;
        let rest = self.frame.finish();
        match more.iter().take(beyond).chain(rest).next() {
            None => Ok(()),
            Some(byte) => Err(UnpackError::Invalid { found: u64::from(*byte), expected: "the end", offset }),
        }
    }
}

/// How much of one of the [`Limits`] is used.
pub(super) struct Allowance {
    what: &'static str,
    limit: u64,
    used: u64,
}

impl Allowance {
    /// None used of `limit`.
    pub(super) const fn new(what: &'static str, limit: u64) -> Self {
        Self { what, limit, used: 0 }
    }

    /// Uses `more`, promised at `offset`.
    pub(super) fn take(&mut self, more: u64, offset: u64) -> Result<(), UnpackError> {
        self.used = self.used.saturating_add(more);
        if self.used > self.limit {
            return Err(UnpackError::TooMany { what: self.what, found: self.used, limit: self.limit, offset });
        }
        Ok(())
    }
}
