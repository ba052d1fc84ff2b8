//! Sizes of segments and frames.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A size outside what the protocol or the kernel allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a {what} of {value} bytes is outside {min} to {max}")]
pub struct SizeError {
    what: &'static str,
    value: u32,
    min: u32,
    max: u32,
}

/// The largest TCP payload of one segment, in bytes (RFC 9293 §3.7.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "u32", into = "u32")]
pub struct Mss(u32);

impl Mss {
    /// Linux sends no smaller segments (`TCP_MIN_SND_MSS`, include/net/tcp.h, 6.18).
    pub const MIN: Self = Self(48);
    /// The option's field has 16 bits (RFC 9293 §3.2).
    pub const MAX: Self = Self(65_535);

    /// A segment size of `bytes`.
    ///
    /// # Errors
    /// If `bytes` is outside [`Mss::MIN`] to [`Mss::MAX`].
    pub const fn new(bytes: u32) -> Result<Self, SizeError> {
        if bytes < Self::MIN.0 || bytes > Self::MAX.0 {
            return Err(SizeError { what: "segment size (MSS)", value: bytes, min: Self::MIN.0, max: Self::MAX.0 });
        }
        Ok(Self(bytes))
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// The largest IP packet a link carries, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "u32", into = "u32")]
pub struct Mtu(u32);

impl Mtu {
    /// IPv4's least (RFC 791 §3.2).
    pub const MIN: Self = Self(68);
    /// The largest IPv4 packet; loopback's default is one more.
    pub const MAX: Self = Self(65_536);

    /// A packet size of `bytes`.
    ///
    /// # Errors
    /// If `bytes` is outside [`Mtu::MIN`] to [`Mtu::MAX`].
    pub const fn new(bytes: u32) -> Result<Self, SizeError> {
        if bytes < Self::MIN.0 || bytes > Self::MAX.0 {
            return Err(SizeError { what: "packet size (MTU)", value: bytes, min: Self::MIN.0, max: Self::MAX.0 });
        }
        Ok(Self(bytes))
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for Mss {
    type Error = SizeError;

    fn try_from(bytes: u32) -> Result<Self, SizeError> {
        Self::new(bytes)
    }
}

impl TryFrom<u32> for Mtu {
    type Error = SizeError;

    fn try_from(bytes: u32) -> Result<Self, SizeError> {
        Self::new(bytes)
    }
}

impl From<Mss> for u32 {
    fn from(size: Mss) -> Self {
        size.0
    }
}

impl From<Mtu> for u32 {
    fn from(size: Mtu) -> Self {
        size.0
    }
}

impl fmt::Display for Mss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

impl fmt::Display for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_the_kernel_would_refuse_cannot_be_made() {
        assert!(Mss::new(47).is_err());
        assert!(Mss::new(8948).is_ok());
        assert_eq!(Mtu::new(10).unwrap_err().to_string(), "a packet size (MTU) of 10 bytes is outside 68 to 65536");
    }
}
