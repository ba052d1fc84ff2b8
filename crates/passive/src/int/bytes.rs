//! Reading within limits.

/// Why a datagram, or the rest of it, is no report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {what}")]
pub struct Malformed {
    /// Where in the datagram.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// What is left of a datagram.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a> {
    whole: usize,
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { whole: bytes.len(), rest: bytes }
    }

    /// Where in the datagram this is.
    pub(super) fn at(&self) -> usize {
        self.whole - self.rest.len()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next bytes as a part of their own, which ends there.
    pub(super) fn part(&mut self, length: usize, what: &'static str) -> Result<Bytes<'a>, Malformed> {
        let part = self.take(length, what)?;
        Ok(Bytes { whole: self.at(), rest: part })
    }

    pub(super) fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let cut = Malformed { at: self.at(), what };
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(cut)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, Malformed> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        self.array(what).map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, Malformed> {
        self.array(what).map(u64::from_be_bytes)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let cut = Malformed { at: self.at(), what };
        self.take(N, what)?.try_into().map_err(|_| cut)
    }
}
